package history_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/tidwall/gjson"

	"collie/internal/vault/edit"
	"collie/internal/vault/tree"
	"collie/internal/vault/workspace"
)

// rich is Markdown with every construct that a .sy file must not lose.
const rich = "# Title 标题\n\na **bold** [link](https://a.example) `code` ((20990101000000-zzzzzzz 'ref'))\n\n" +
	"- one\n  - two\n- three\n\n1. first\n2. second\n\n- [ ] open\n- [x] done\n\n> quote\n\n```go\nfunc f() {}\n```\n\n" +
	"| a | b |\n| - | - |\n| 1 | 2 |\n\n$$\nx^2\n$$\n\n---\n\nlast 最后"

// historyPaths returns the paths of the copies of a document in the history, the newest first.
func (w *fixture) historyPaths(doc string) (paths []string) {
	w.T.Helper()
	q := fmt.Sprintf(`"query":%q,"type":3,"op":"all","notebook":"%%"`, doc)
	for _, at := range w.mustAsk("history/searchHistory", "{%s}", q).Get("histories").Array() {
		for _, item := range w.mustAsk("history/getHistoryItems", `{%s,"created":%q}`, q, at.Str).Get("items").Array() {
			paths = append(paths, item.Get("path").Str)
		}
	}
	return paths
}

// rollback restores a copy of a document and returns the answer.
func (w *fixture) rollback(path string) gjson.Result {
	return w.ask("history/rollbackDocHistory", `{"notebook":%q,"historyPath":%q}`, w.nb, path)
}

func TestRollbackRestoresBytes(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	doc := w.createDoc("", "Versioned", rich)
	before := w.readSY(doc)
	w.mustAsk("history/createDocHistory", `{"id":%q}`, doc)
	paths := w.historyPaths(doc)
	if len(paths) != 1 || !strings.HasSuffix(paths[0], "-update/"+w.nb+"/"+doc+".sy") {
		t.Fatalf("%v", paths)
	}
	w.Update(func(tx *workspace.Tx) {
		root := tx.Document(doc).Root
		root.Attrs["title"], root.Attrs["memo"] = "Renamed", "x"
		root.Children[1].Cut()
		root.Children[0].Text = "changed"
		moved := root.Children[3]
		moved.Cut()
		root.Insert(0, moved)
		root.Stamp()
	})
	if w.readSY(doc) == before {
		t.Fatal("nothing was changed")
	}
	if got := w.rollback(paths[0]); got.Get("code").Int() != 0 {
		t.Fatal(got.Raw)
	}
	if after := w.readSY(doc); after != before {
		t.Errorf("brought back\n%s\nwant\n%s", after, before)
	}
	// A second rollback to the same copy changes nothing.
	if got := w.rollback(paths[0]); got.Get("code").Int() != 0 || w.readSY(doc) != before {
		t.Errorf("%s\n%s", got.Raw, w.readSY(doc))
	}
}

func TestRollbackRevivesRemovedDocuments(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	top := w.createDoc("", "Top", "a")
	below := w.createDoc(top, "Below", "b\n\nc")
	before, beforeTop := w.readSY(below), w.readSY(top)
	w.Update(func(tx *workspace.Tx) { edit.Remove(tx, tx.Document(top)) })
	if w.readSY(below) != "" {
		t.Fatal("it is still there")
	}
	removed := w.mustAsk("history/searchHistory", `{"op":"delete","notebook":%q,"query":""}`, w.nb)
	if removed.Get("totalCount").Int() < 1 {
		t.Fatalf("%s", removed.Raw)
	}
	for _, tt := range []struct{ doc, want string }{{top, beforeTop}, {below, before}} {
		if got := w.rollback(w.historyPaths(tt.doc)[0]); got.Get("code").Int() != 0 {
			t.Fatal(got.Raw)
		}
		if got := w.readSY(tt.doc); got != tt.want {
			t.Errorf("brought back\n%s\nwant\n%s", got, tt.want)
		}
	}
	w.Update(func(tx *workspace.Tx) {
		if d := tx.Document(below); d.Path() != "/"+top+"/"+below+".sy" {
			t.Errorf("it lies at %s", d.Path())
		}
	})
}

func TestRollbackRefuses(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	doc, other := w.createDoc("", "D", "a"), w.createDoc("", "Other", "b")
	w.mustAsk("history/createDocHistory", `{"id":%q}`, doc)
	path := w.historyPaths(doc)[0]
	before := w.readSY(other)
	forged := strings.ReplaceAll(path, doc, other)
	w.Update(func(tx *workspace.Tx) {
		tx.WriteFile(forged, tx.ReadFile(path), time.Time{})
		tx.WriteFile("/data/secret.sy", tx.ReadFile(path), time.Time{})
		tx.WriteFile(strings.ReplaceAll(path, doc, nowhere), []byte("no document"), time.Time{})
	})
	for _, p := range []string{
		"/etc/passwd", "/data/secret.sy", "/history/../data/secret.sy", path + "/", strings.TrimPrefix(path, "/"), forged, "/history/none/x.sy",
		strings.ReplaceAll(path, doc, nowhere),
	} {
		if got := w.rollback(p); got.Get("code").Int() != -1 {
			t.Errorf("%s: %s", p, got.Raw)
		}
	}
	if w.readSY(other) != before {
		t.Error("another document was overwritten")
	}
	for _, p := range []string{"/etc/passwd", "/data/secret.sy", strings.ReplaceAll(path, doc, nowhere)} {
		if got := w.mustAsk("history/getDocHistoryContent", `{"historyPath":%q}`, p); got.Get("content").Str+got.Get("rootID").Str != "" {
			t.Errorf("%s: %s", p, got.Raw)
		}
	}
	// A document cannot be brought back into a notebook that does not exist.
	w.Update(func(tx *workspace.Tx) { edit.Remove(tx, tx.Document(doc)) })
	if got := w.ask("history/rollbackDocHistory", `{"notebook":%q,"historyPath":%q}`, nowhere, path); got.Get("code").Int() != -1 {
		t.Errorf("%s", got.Raw)
	}
}

// TestRollbackOfABlockThatMovedAway rolls a document back to a copy with a block that is in another document since. The block
// gets a new id, because no block may be in two documents.
func TestRollbackOfABlockThatMovedAway(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	doc, other := w.createDoc("", "D", "a\n\nb"), w.createDoc("", "Other", "c")
	w.mustAsk("history/createDocHistory", `{"id":%q}`, doc)
	moved := ""
	w.Update(func(tx *workspace.Tx) {
		b := tx.Document(doc).Root.Children[0]
		moved = b.ID
		b.Cut()
		tx.Document(other).Root.Insert(0, b)
	})
	if got := w.rollback(w.historyPaths(doc)[0]); got.Get("code").Int() != 0 {
		t.Fatal(got.Raw)
	}
	w.Update(func(tx *workspace.Tx) {
		back := tx.Document(doc).Root.Children
		if len(back) != 2 || back[0].Text != "a" || back[0].ID == moved || !tree.ValidID(back[0].ID) || tx.Block(moved).Doc.ID() != other {
			t.Errorf("%d blocks, the first %+v", len(back), back[0])
		}
	})
}

func TestSearchHistory(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	doc := w.createDoc("", "Plan 计划", "apples 苹果")
	w.createDoc("", "Never kept", "apples")
	for range 3 {
		w.mustAsk("history/createDocHistory", `{"id":%q}`, doc)
	}
	for query, want := range map[string]int64{
		`"query":"苹果"`: 3, `"query":"PLAN"`: 3, `"query":"pears"`: 0, `"op":"delete"`: 0, `"notebook":"` + nowhere + `"`: 0, `"query":"` + doc + `"`: 0,
		`"query":"` + doc + `","type":3`: 3, `"query":"` + nowhere + `","type":3`: 0, `"query":"%","type":3`: 0,
	} {
		if got := w.mustAsk("history/searchHistory", "{%s}", query).Get("totalCount").Int(); got != want {
			t.Errorf("%s: %d, want %d", query, got, want)
		}
	}
	shown := w.mustAsk("history/getDocHistoryContent", `{"historyPath":%q,"k":"APPLES","highlight":true}`, w.historyPaths(doc)[0])
	if dom := shown.Get("content").Str; !strings.Contains(dom, `<span data-type="search-mark">apples</span> 苹果`) || strings.Contains(dom, `contenteditable="true"`) {
		t.Errorf("%s", dom)
	}
}

// TestDocumentsKeepTheirPast checks that a change saves a copy of the state before, at most every ten minutes, and removes old
// copies.
func TestDocumentsKeepTheirPast(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	doc := ""
	const longAgo = "20240801000000-abcdefg"
	w.Update(func(tx *workspace.Tx) {
		doc = tx.AddDocument(tx.Notebook(w.nb), nil, "Old", longAgo, nil).ID()
		tx.WriteFile("/history/2020-01-01-000000-update/"+w.nb+"/"+longAgo+".sy", []byte("{}"), time.Time{})
	})
	appendTo := func(id, text string) {
		w.Update(func(tx *workspace.Tx) { edit.Place(tx, "markdown", text, tx.Document(id).Root, true) })
	}
	before := w.readSY(doc)
	appendTo(doc, "one")
	appendTo(doc, "two")
	paths := w.historyPaths(doc)
	if len(paths) != 1 || strings.Contains(paths[0], "/2020-") {
		t.Fatalf("%v", paths)
	}
	w.Update(func(tx *workspace.Tx) {
		if got := string(tx.ReadFile(paths[0])); got != before {
			t.Errorf("kept\n%s\nwant\n%s", got, before)
		}
		if tx.Stat("/history/2020-01-01-000000-update") != nil {
			t.Error("the folder of an old copy is left")
		}
	})
	young := w.createDoc("", "Young", "a")
	appendTo(young, "b")
	if got := w.historyPaths(young); len(got) != 0 {
		t.Errorf("a document made just now: %v", got)
	}
}
