package timeline_test

import (
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/tidwall/gjson"

	"collie/internal/source/siyuan/access"
	"collie/internal/source/siyuan/action/actiontest"
	"collie/internal/source/siyuan/kernel"
	"collie/internal/source/siyuan/kernel/kerneltest"
	"collie/internal/source/siyuan/timeline"
	"collie/internal/tool"
)

func TestTool(t *testing.T) {
	t.Parallel()
	if !timeline.Tool().Off {
		t.Error("the tool is on by default")
	}
	actiontest.Tool(t, timeline.Tool(), actiontest.Told{
		Actions:   []string{"list_nodes", "create_node", "compare_recent", "rollback_document"},
		Dangerous: []string{"rollback_document"},
		Off:       []string{"rollback_document"},
	})
	for _, a := range timeline.Tool().Actions {
		if len(a.Needs) == 0 {
			t.Errorf("%s needs no level", a.Name)
		}
	}
}

// joinNames returns the names of listed nodes, joined with |.
func joinNames(got gjson.Result) string {
	var out []string
	for _, n := range got.Get("data").Array() {
		out = append(out, n.Get("name").Str)
	}
	return strings.Join(out, "|")
}

func TestNodes(t *testing.T) {
	w := newWorkspace(t)
	create, list := findAction(t, "create_node"), findAction(t, "list_nodes")
	got := w.Must(t, create, args("name", " before 之前_1 ", "documentId", w.doc))
	tag := got.Get("tag").Str
	if !regexp.MustCompile(`^sisyphustimeline_` + string(w.doc) + `_[0-9]{14}_before 之前_1$`).MatchString(tag) {
		t.Errorf("tag %q", tag)
	}
	if !got.Get("success").Bool() || got.Get("scope").Str != "document" || got.Get("name").Str != "before 之前_1" || len(got.Get("snapshotId").Str) != 40 || got.Get("created").Str == "" {
		t.Errorf("%s", got.Raw)
	}
	got = w.Must(t, create, args("name", "all"))
	if !regexp.MustCompile(`^sisyphustimeline_global_[0-9]{14}_all$`).MatchString(got.Get("tag").Str) || got.Get("documentId").Exists() {
		t.Errorf("%s", got.Raw)
	}
	other := kernel.ID(w.Doc(string(w.notebook), "/Other", "x"))
	w.Must(t, create, args("name", "other", "documentId", w.Children(w.t, other)[0])) // a block means its document
	w.Post(w.t, "/api/repo/tagSnapshot", map[string]any{"id": got.Get("snapshotId").Str, "name": "v1.0"})
	w.Post(w.t, "/api/repo/tagSnapshot", map[string]any{"id": got.Get("snapshotId").Str, "name": "sisyphustimeline_global_99999999999999_broken"})
	for a, want := range map[string]string{
		args("documentId", w.doc): "before 之前_1", args("documentId", other): "other", args(): "all",
		args("scope", "document", "documentId", w.doc): "before 之前_1",
	} {
		if got := w.Must(t, list, a); joinNames(got) != want || got.Get("total").Int() != 1 {
			t.Errorf("%s: %s", a, got.Raw)
		}
	}
	if got := w.Must(t, list, args("scope", "all", "pageSize", 2)); got.Get("total").Int() != 3 || got.Get("data.#").Int() != 2 || !got.Get("hasNextPage").Bool() {
		t.Errorf("%s", got.Raw)
	}
}

func TestNodesAreNewestFirst(t *testing.T) {
	w := newWorkspace(t)
	id := w.Must(t, findAction(t, "create_node"), args("name", "x")).Get("snapshotId").Str
	for _, at := range []string{"20240101000000_old", "20260101000000_new", "20250101000000_mid"} {
		w.Post(w.t, "/api/repo/tagSnapshot", map[string]any{"id": id, "name": "sisyphustimeline_" + string(w.doc) + "_" + at})
	}
	if got := joinNames(w.Must(t, findAction(t, "list_nodes"), args("documentId", w.doc))); got != "new|mid|old" {
		t.Error(got)
	}
}

func TestNodesBadInput(t *testing.T) {
	w := newWorkspace(t)
	create, list := findAction(t, "create_node"), findAction(t, "list_nodes")
	for _, name := range []string{" ", `a/b`, `a\b`, "a:b", "a*b", "a?b", `a"b`, "a'b", "a<b", "a>b", "a|b", "a\nb", "a\u200bb", strings.Repeat("名", 61)} {
		w.Refused(w.t, create, args("name", name), tool.Invalid)
	}
	w.Refused(w.t, create, args("documentId", w.doc), tool.Invalid)
	w.Refused(w.t, create, args("name", "x", "scope", "document"), tool.Invalid)
	w.Refused(w.t, create, args("name", "x", "scope", "global", "documentId", w.doc), tool.Conflicting)
	w.Refused(w.t, create, args("name", "x", "documentId", actiontest.Nowhere), tool.NotFound)
	w.Refused(w.t, list, args("scope", "document"), tool.Invalid)
	w.Refused(w.t, list, args("scope", "all", "documentId", w.doc), tool.Conflicting)
	w.Refused(w.t, list, args("documentId", actiontest.Nowhere), tool.NotFound)
	const longest = 60
	w.Must(t, create, args("name", strings.Repeat("名", longest)))
}

func TestNodesNeedLevels(t *testing.T) {
	w := newWorkspace(t)
	create, list := findAction(t, "create_node"), findAction(t, "list_nodes")
	w.Must(t, create, args("name", "mine", "documentId", w.doc))
	w.Levels[w.notebook] = access.Read
	w.Refused(w.t, create, args("name", "x", "documentId", w.doc), tool.Denied)
	w.Must(t, list, args("documentId", w.doc))
	w.Must(t, list, args())
	w.Must(t, create, args("name", "x")) // a global node needs r everywhere, for it changes no note
	secret := kernel.ID(w.Notebook("Secret 秘密"))
	w.Levels[secret] = access.None
	hidden := kernel.ID(w.Doc(string(secret), "/S", "x"))
	for _, a := range []string{args(), args("scope", "global"), args("scope", "all")} {
		e := w.Refused(w.t, list, a, tool.Denied)
		if strings.Contains(e.Error(), string(secret)) || strings.Contains(e.Error(), "Secret") {
			t.Errorf("a hidden notebook is named: %v", e)
		}
	}
	w.Refused(w.t, create, args("name", "x", "scope", "global"), tool.Denied)
	w.Must(t, list, args("documentId", w.doc)) // a document's own nodes do not depend on other notebooks
	actiontest.SameRefusal(w.t, w.Refused(w.t, list, args("documentId", hidden), tool.NotFound), w.Refused(w.t, list, args("documentId", actiontest.Nowhere), tool.NotFound), string(hidden), actiontest.Nowhere)
	actiontest.SameRefusal(w.t, w.Refused(w.t, create, args("name", "x", "documentId", hidden), tool.NotFound), w.Refused(w.t, create, args("name", "x", "documentId", actiontest.Nowhere), tool.NotFound), string(hidden), actiontest.Nowhere)
}

// TestNoRepoKey: nodes do not work before a person has made a key of the data repository.
func TestNoRepoKey(t *testing.T) {
	w := newWorkspace(t)
	w.NeedsVault("its repository has a key")
	fresh := actiontest.New(t)
	w.Kit = fresh
	w.doc = kernel.ID(w.Doc(w.Notebook("N"), "/D", "x"))
	for _, e := range []*tool.Error{
		w.Refused(w.t, findAction(t, "list_nodes"), args(), kernel.API), w.Refused(w.t, findAction(t, "create_node"), args("name", "x"), kernel.API),
		w.Refused(w.t, findAction(t, "rollback_document"), args("documentId", w.doc, "tag", "sisyphustimeline_global_20260101000000_x"), kernel.API),
	} {
		if e.Code != "repo_key_missing" || !strings.Contains(e.Hint, "Data repo key") {
			t.Errorf("%v (%s): %s", e, e.Code, e.Hint)
		}
	}
}

func TestCreateNodeVerifies(t *testing.T) {
	w := newWorkspace(t)
	w.Fail("/api/repo/tagSnapshot", 1, kerneltest.FailLost)
	w.Failed(t, findAction(t, "create_node"), args("name", "x"), kernel.OutcomeUnknown)
}

// A kernel never notices that a file changed in the same second in which a snapshot of it was taken.
func TestNodesSeeWhatIsWrittenRightBehindOneBefore(t *testing.T) {
	w := newWorkspace(t)
	create, rollback := findAction(t, "create_node"), findAction(t, "rollback_document")
	var tags []string
	for _, text := range []string{"first", "second", "third"} {
		w.updateBlock(w.blocks[0], text)
		tags = append(tags, w.Must(t, create, args("name", text, "documentId", w.doc)).Get("tag").Str)
		made, err := w.Client.Snapshots(t.Context(), 1)
		if err != nil || time.Now().Unix() <= made[0].Created/1000 {
			t.Errorf("the second of the snapshot is not over: %v %v", made, err)
		}
	}
	for _, i := range []int{0, 1, 0} {
		w.Must(t, rollback, args("documentId", w.doc, "tag", tags[i]))
		if want := []string{"first", "second"}[i] + "|two|three"; w.blockTexts() != want {
			t.Errorf("%s, want %s", w.blockTexts(), want)
		}
	}
}
