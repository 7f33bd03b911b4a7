package history_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/tidwall/gjson"

	"collie/internal/vault/workspace"
)

// makeSnapshot makes a snapshot and returns the id of the newest.
func (w *fixture) makeSnapshot(memo string) string {
	w.T.Helper()
	w.mustAsk("repo/createSnapshot", `{"memo":%q}`, memo)
	return w.mustAsk("repo/getRepoSnapshots", `{"page":1}`).Get("snapshots.0.id").Str
}

// diffSnapshots returns the comparison of two snapshots, given by id.
func (w *fixture) diffSnapshots(left, right string) gjson.Result {
	w.T.Helper()
	return w.mustAsk("repo/diffRepoSnapshots", `{"left":%q,"right":%q}`, left, right)
}

// changedTitles returns the titles of the documents and files in a list of a comparison. It leaves out sort.json, which changes with the
// documents.
func changedTitles(list gjson.Result) []string {
	found := []string{}
	for _, f := range list.Array() {
		if title := f.Get("title").Str; title != "sort.json" {
			found = append(found, title)
		}
	}
	return found
}

func TestSnapshotsNeedAKey(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	for endpoint, body := range map[string]string{"createSnapshot": `{"memo":"x"}`, "getRepoSnapshots": `{"page":1}`, "getRepoTagSnapshots": `{}`} {
		if got := w.ask("repo/"+endpoint, "%s", body); got.Get("code").Int() != -1 || !strings.Contains(got.Get("msg").Str, "Please initialize the data repo key") {
			t.Errorf("%s: %s", endpoint, got.Raw)
		}
	}
	w.mustAsk("repo/initRepoKey", `{}`)
	w.mustAsk("repo/initRepoKey", `{}`)
	if got := w.mustAsk("repo/getRepoSnapshots", `{"page":1}`); got.Get("totalCount").Int() != 1 {
		t.Errorf("%s", got.Raw)
	}
	if got := w.ask("repo/createSnapshot", `{"memo":" "}`); got.Get("code").Int() != -1 {
		t.Errorf("without a memo: %s", got.Raw)
	}
}

// TestSnapshotStoresWhatChanged checks that a snapshot of an unchanged workspace stores nothing, and that otherwise only changed
// files are stored.
func TestSnapshotStoresWhatChanged(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	var docs []string
	for i := range 20 {
		docs = append(docs, w.createDoc("", fmt.Sprintf("Doc %d", i), rich))
	}
	w.Update(func(tx *workspace.Tx) {
		tx.WriteFile("/data/assets/a.png", []byte("picture"), time.Time{})
		tx.WriteFile("/data/assets/b.png", []byte("picture"), time.Time{})
	})
	w.mustAsk("repo/initRepoKey", `{}`)
	kinds := func() map[string]int64 {
		counts := map[string]int64{}
		for _, kind := range []string{"snapshot", "snapshot-list", "snapshot-file", "snapshot-object"} {
			counts[kind] = w.countRows("record WHERE kind = ?", kind)
		}
		return counts
	}
	// 20 documents, the page of the notebook, its two files and two pictures with the same bytes.
	if diff := cmp.Diff(map[string]int64{"snapshot": 1, "snapshot-list": 1, "snapshot-file": 25, "snapshot-object": 24}, kinds()); diff != "" {
		t.Errorf("the first snapshot:\n%s", diff)
	}
	first := w.makeSnapshot("again")
	if diff := cmp.Diff(map[string]int64{"snapshot": 1, "snapshot-list": 1, "snapshot-file": 25, "snapshot-object": 24}, kinds()); diff != "" {
		t.Errorf("nothing has changed:\n%s", diff)
	}
	w.replaceText(docs[3], "changed")
	second := w.makeSnapshot("one document")
	if diff := cmp.Diff(map[string]int64{"snapshot": 2, "snapshot-list": 2, "snapshot-file": 26, "snapshot-object": 25}, kinds()); diff != "" {
		t.Errorf("one document has changed:\n%s", diff)
	}
	d := w.diffSnapshots(second, first)
	if diff := cmp.Diff([]string{"Doc 3"}, changedTitles(d.Get("updatesRight"))); diff != "" || first == second {
		t.Errorf("%s\n%s", diff, d.Raw)
	}
	list := w.mustAsk("repo/getRepoSnapshots", `{"page":1}`)
	if s := list.Get("snapshots.0"); s.Get("count").Int() != 25 || s.Get("size").Int() < 20*500 || s.Get("typesCount.0").Raw != `{"type":".sy","count":21}` ||
		s.Get("created").Int() <= list.Get("snapshots.1.created").Int() {
		t.Errorf("%s", s.Raw)
	}
	for _, page := range []string{"2", "4611686018427387904"} {
		if got := w.mustAsk("repo/getRepoSnapshots", `{"page":%s}`, page); got.Get("snapshots").Raw != "[]" || got.Get("pageCount").Int() != 1 {
			t.Errorf("page %s: %s", page, got.Raw)
		}
	}
}

func TestSnapshotBringsBack(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	changed, gone := w.createDoc("", "Changed", rich), w.createDoc("", "Gone", "b")
	w.Update(func(tx *workspace.Tx) { tx.WriteFile("/data/assets/a.txt", []byte("old"), time.Time{}) })
	w.mustAsk("repo/initRepoKey", `{}`)
	old := w.makeSnapshot("old 旧")
	before := map[string]string{changed: w.readSY(changed), gone: w.readSY(gone)}
	w.replaceText(changed, "# changed")
	young := w.createDoc("", "Young", "c")
	w.Update(func(tx *workspace.Tx) {
		tx.RemoveDocument(tx.Document(gone))
		tx.WriteFile("/data/assets/a.txt", []byte("new"), time.Time{})
	})
	now := w.makeSnapshot("new")
	d := w.diffSnapshots(now, old)
	for list, want := range map[string][]string{
		"removesRight": {"Young"}, "addsLeft": {"Gone"}, "updatesLeft": {"Changed", "a.txt"}, "updatesRight": {"Changed", "a.txt"},
	} {
		if diff := cmp.Diff(want, changedTitles(d.Get(list))); diff != "" {
			t.Errorf("%s:\n%s", list, diff)
		}
	}
	for _, f := range append(d.Get("updatesRight").Array(), d.Get("addsLeft").Array()...) {
		if f.Get("title").Str == "sort.json" {
			if got := w.ask("repo/rollbackRepoSnapshotFile", `{"id":%q}`, f.Get("fileID").Str); got.Get("code").Int() != -1 {
				t.Errorf("%s", got.Raw)
			}
			continue
		}
		id := f.Get("fileID").Str
		if got := w.mustAsk("repo/openRepoSnapshotFile", `{"id":%q}`, id); got.Get("title").Str != f.Get("title").Str {
			t.Errorf("%s", got.Raw)
		}
		w.mustAsk("repo/rollbackRepoSnapshotFile", `{"id":%q}`, id)
	}
	for doc, want := range before {
		if got := w.readSY(doc); got != want {
			t.Errorf("brought back\n%s\nwant\n%s", got, want)
		}
	}
	w.Update(func(tx *workspace.Tx) {
		if got := string(tx.ReadFile("/data/assets/a.txt")); got != "old" || tx.Document(young) == nil {
			t.Errorf("the file holds %q", got)
		}
	})
	if d := w.diffSnapshots(w.makeSnapshot("back"), old); len(changedTitles(d.Get("updatesLeft")))+len(changedTitles(d.Get("addsLeft"))) != 0 {
		t.Errorf("%s", d.Raw)
	}
	const none = "0000000000000000000000000000000000000000"
	for endpoint, body := range map[string]string{
		"openRepoSnapshotFile": `{"id":"` + none + `"}`, "rollbackRepoSnapshotFile": `{"id":"x"}`, "diffRepoSnapshots": `{"left":"` + old + `","right":"` + none + `"}`,
	} {
		if got := w.ask("repo/"+endpoint, "%s", body); got.Get("code").Int() != -1 {
			t.Errorf("%s: %s", endpoint, got.Raw)
		}
	}
}

func TestTags(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	doc := w.createDoc("", "D", "a")
	w.mustAsk("repo/initRepoKey", `{}`)
	first := w.makeSnapshot("first")
	w.replaceText(doc, "b")
	second := w.makeSnapshot("second")
	w.mustAsk("repo/tagSnapshot", `{"id":%q,"name":"v1 一"}`, first)
	w.mustAsk("repo/tagSnapshot", `{"id":%q,"name":"v1 一"}`, second)
	w.mustAsk("repo/tagSnapshot", `{"id":%q,"name":"a"}`, first)
	list := w.mustAsk("repo/getRepoTagSnapshots", `{}`).Get("snapshots")
	if list.Get("#").Int() != 2 || list.Get("0.tag").Str != "a" || list.Get("1.tag").Str != "v1 一" || list.Get("1.id").Str != second || list.Get("1.hTagUpdated").Str == "" {
		t.Errorf("%s", list.Raw)
	}
	for _, body := range []string{`{"id":"` + first + `","name":"a/b"}`, `{"id":"` + first + `","name":" "}`, `{"id":"x","name":"v"}`} {
		if got := w.ask("repo/tagSnapshot", "%s", body); got.Get("code").Int() != -1 {
			t.Errorf("%s: %s", body, got.Raw)
		}
	}
}
