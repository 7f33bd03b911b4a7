package timeline_test

import (
	"strings"
	"testing"

	"collie/internal/source/siyuan/access"
	"collie/internal/source/siyuan/action/actiontest"
	"collie/internal/source/siyuan/kernel"
	"collie/internal/source/siyuan/kernel/kerneltest"
	"collie/internal/tool"
)

const (
	historyRollback = "/api/history/rollbackDocHistory"
	repoRollback    = "/api/repo/rollbackRepoSnapshotFile"
)

// newestDifferingCopy returns the path of the newest copy that differs from the document.
func (w *workspace) newestDifferingCopy() string {
	w.t.Helper()
	p := w.Must(w.t, findAction(w.t, "compare_recent"), args("documentId", w.doc)).Get("historyPath").Str
	if p == "" {
		w.t.Fatal("no copy differs")
	}
	return p
}

func TestRollbackToACopy(t *testing.T) {
	w := newWorkspace(t)
	rollback := findAction(t, "rollback_document")
	w.makeCopy()
	w.updateBlock(w.blocks[0], "changed")
	w.appendBlock("added")
	p := w.newestDifferingCopy()
	got := w.Must(t, rollback, args("documentId", w.doc, "historyPath", p))
	if w.blockTexts() != "one 一|two|three" {
		t.Errorf("the document has %s", w.blockTexts())
	}
	if !got.Get("success").Bool() || got.Get("historyPath").Str != p || got.Get("undone").Raw != `{"added":1,"changed":1,"moved":0,"removed":0}` {
		t.Errorf("%s", got.Raw)
	}
	reloaded := 0
	for _, c := range w.Calls() {
		if c.Path == "/api/ui/reloadProtyle" && c.Get("id").Str == string(w.doc) {
			reloaded++
		}
	}
	if reloaded != 1 {
		t.Errorf("the document was shown again %d times", reloaded)
	}
	// The state before the rollback is a copy too, so the rollback can be undone.
	w.pollUntil(realKernelLimit, func() bool { return w.countCopies() > 1 })
	w.Must(t, rollback, args("documentId", w.doc, "historyPath", w.newestDifferingCopy()))
	if w.blockTexts() != "changed|two|three|added" {
		t.Errorf("back again: %s", w.blockTexts())
	}
}

func TestRollbackToANode(t *testing.T) {
	w := newWorkspace(t)
	rollback := findAction(t, "rollback_document")
	for _, scope := range []string{"document", "global"} {
		a := args("name", "before")
		if scope == "document" {
			a = args("name", "before", "documentId", w.doc)
		}
		tag := w.Must(t, findAction(t, "create_node"), a).Get("tag").Str
		w.updateBlock(w.blocks[0], "changed since")
		w.ResetCalls()
		got := w.Must(t, rollback, args("documentId", w.doc, "tag", tag))
		if w.blockTexts() != "one 一|two|three" || got.Get("tag").Str != tag || got.Get("undone.changed").Int() != 1 {
			t.Errorf("%s: %s %s", scope, w.blockTexts(), got.Raw)
		}
		if len(w.Asked(repoRollback)) != 1 || len(w.Asked("/api/history/createDocHistory")) != 1 {
			t.Errorf("%s: %v", scope, w.Writes())
		}
	}
}

// TestRollbackToWhatIsThere: the kernel would delete the file of the document and answer code 0. The fake
// fails the test if it is asked to.
func TestRollbackToWhatIsThere(t *testing.T) {
	w := newWorkspace(t)
	rollback := findAction(t, "rollback_document")
	w.makeCopy()
	w.updateBlock(w.blocks[0], "changed")
	p := w.newestDifferingCopy()
	w.updateBlock(w.blocks[0], "one 一")
	if e := w.Refused(w.t, rollback, args("documentId", w.doc, "historyPath", p), tool.Exists); !strings.Contains(e.Error(), "already") {
		t.Errorf("%v", e)
	}
	tag := w.Must(t, findAction(t, "create_node"), args("name", "n", "documentId", w.doc)).Get("tag").Str
	w.Failed(t, rollback, args("documentId", w.doc, "tag", tag), tool.Exists)
	w.updateBlock(w.blocks[0], "changed")
	w.updateBlock(w.blocks[0], "one 一") // the file differs by its times only
	w.Failed(t, rollback, args("documentId", w.doc, "tag", tag), tool.Exists)
	if n := len(w.Asked(historyRollback)) + len(w.Asked(repoRollback)); n != 0 {
		t.Errorf("the kernel was asked %d times", n)
	}
}

func TestRollbackBadInput(t *testing.T) {
	w := newWorkspace(t)
	rollback := findAction(t, "rollback_document")
	w.makeCopy()
	w.updateBlock(w.blocks[0], "changed")
	p := w.newestDifferingCopy()
	w.Refused(w.t, rollback, args("documentId", w.doc), tool.Conflicting)
	w.Refused(w.t, rollback, args("documentId", w.doc, "historyPath", p, "tag", "x"), tool.Conflicting)
	w.Refused(w.t, rollback, args("historyPath", p), tool.Invalid)
	w.Refused(w.t, rollback, args("documentId", w.blocks[0], "historyPath", p), tool.Invalid)
	other := kernel.ID(w.Doc(string(w.notebook), "/Other", "x"))
	dir := strings.SplitAfterN(p, "/", 4)[2]
	for _, wrong := range []string{
		"/etc/passwd", "/data/" + string(w.notebook) + "/" + string(w.doc) + ".sy", "../history" + strings.TrimPrefix(p, "/history"),
		"/history/" + dir + "../" + dir + string(w.notebook) + "/" + string(w.doc) + ".sy", "/workspace" + p, strings.TrimPrefix(p, "/"), p + "/", p + "\x00",
		strings.ReplaceAll(p, string(w.notebook), actiontest.Nowhere), strings.ReplaceAll(p, string(w.doc), actiontest.Nowhere), strings.ReplaceAll(p, ".sy", ".json"),
		"/history/2000-01-01-000000-update/" + string(w.notebook) + "/" + string(w.doc) + ".sy", // of the right form, but does not exist
		"/history/" + dir + string(w.notebook) + "/x/" + string(w.doc) + ".sy",
	} {
		w.Refused(w.t, rollback, args("documentId", w.doc, "historyPath", wrong), tool.NotFound)
	}
	w.Refused(w.t, rollback, args("documentId", other, "historyPath", p), tool.NotFound) // of another document
	tag := w.Must(t, findAction(t, "create_node"), args("name", "n", "documentId", w.doc)).Get("tag").Str
	w.Refused(w.t, rollback, args("documentId", other, "tag", tag), tool.NotFound)
	w.Refused(w.t, rollback, args("documentId", w.doc, "tag", tag+"x"), tool.NotFound)
	w.Refused(w.t, rollback, args("documentId", w.doc, "tag", "v1.0"), tool.NotFound)
}

func TestRollbackToANodeFromBefore(t *testing.T) {
	w := newWorkspace(t)
	tag := w.Must(t, findAction(t, "create_node"), args("name", "n")).Get("tag").Str
	young := kernel.ID(w.Doc(string(w.notebook), "/Young", "x"))
	w.Failed(t, findAction(t, "rollback_document"), args("documentId", young, "tag", tag), tool.Conflicting)
	if n := len(w.Asked(repoRollback)); n != 0 {
		t.Errorf("asked %d times", n)
	}
}

func TestRollbackNeedsDelete(t *testing.T) {
	w := newWorkspace(t)
	rollback := findAction(t, "rollback_document")
	w.makeCopy()
	tag := w.Must(t, findAction(t, "create_node"), args("name", "g")).Get("tag").Str
	w.updateBlock(w.blocks[0], "changed")
	p := w.newestDifferingCopy()
	for _, level := range []access.Level{access.Read, access.Write} {
		w.Levels[w.notebook] = level
		w.Refused(w.t, rollback, args("documentId", w.doc, "historyPath", p), tool.Denied)
		w.Refused(w.t, rollback, args("documentId", w.doc, "tag", tag), tool.Denied)
	}
	w.Levels[w.notebook] = access.None
	hidden := w.Refused(w.t, rollback, args("documentId", w.doc, "historyPath", p), tool.NotFound)
	actiontest.SameRefusal(w.t, hidden, w.Refused(w.t, rollback, args("documentId", actiontest.Nowhere, "historyPath", p), tool.NotFound), string(w.doc), actiontest.Nowhere)
	// A global node covers every notebook, so none may be hidden.
	w.Levels = map[kernel.ID]access.Level{kernel.ID(w.Notebook("Secret")): access.None}
	w.Refused(w.t, rollback, args("documentId", w.doc, "tag", tag), tool.Denied)
	w.Must(t, rollback, args("documentId", w.doc, "historyPath", p))
}

// TestRollbackIsHonest: without a copy of the present state nothing is rolled back, and a lost answer and an error of the
// kernel are reported as such.
func TestRollbackIsHonest(t *testing.T) {
	w := newWorkspace(t)
	rollback := findAction(t, "rollback_document")
	w.makeCopy()
	w.updateBlock(w.blocks[0], "changed")
	p := w.newestDifferingCopy()
	w.Fail("/api/history/createDocHistory", 1, kerneltest.FailMessage("disk is full"))
	w.ResetCalls()
	w.Failed(t, rollback, args("documentId", w.doc, "historyPath", p), kernel.API)
	if len(w.Asked(historyRollback)) != 0 || w.blockTexts() != "changed|two|three" {
		t.Errorf("it was put back without a copy of the present: %s", w.blockTexts())
	}
	w.Fail(historyRollback, 1, kerneltest.FailLost)
	w.Failed(t, rollback, args("documentId", w.doc, "historyPath", p), kernel.OutcomeUnknown)
	w.updateBlock(w.blocks[0], "changed again")
	w.Fail(historyRollback, 1, kerneltest.FailMessage("history path not exist"))
	w.Failed(t, rollback, args("documentId", w.doc, "historyPath", p), kernel.API)
}

// TestRollbackOfEveryKind rolls back a document that has all that a kernel renders differently in a copy: a folded
// heading, code, attributes, references whose anchors follow.
func TestRollbackOfEveryKind(t *testing.T) {
	w := newWorkspace(t)
	w.appendBlock("```go\nfirst()\n```\n\n# 折叠\n\nin fold\n\nsee ((" + string(w.blocks[2]) + " 'three'))")
	blocks := w.Children(w.t, w.doc)
	code, head := blocks[3], blocks[4]
	if err := w.Client.SetAttrs(t.Context(), w.blocks[1], map[string]string{"memo": "m", "custom-a": "1", "name": "n"}); err != nil {
		t.Fatal(err)
	}
	if err := w.Client.Fold(t.Context(), head, true); err != nil {
		t.Fatal(err)
	}
	w.makeCopy()
	compare, rollback := findAction(t, "compare_recent"), findAction(t, "rollback_document")
	if got := w.Must(t, compare, args("documentId", w.doc)); got.Get("found").Bool() || got.Get("checkpoints").Int() == 0 {
		t.Errorf("nothing has changed: %s", got.Raw)
	}
	tag := w.Must(t, findAction(t, "create_node"), args("name", "n", "documentId", w.doc)).Get("tag").Str
	before := w.blockTexts()
	for _, a := range []func() string{
		func() string { return args("documentId", w.doc, "historyPath", w.newestDifferingCopy()) },
		func() string { return args("documentId", w.doc, "tag", tag) },
	} {
		w.updateBlock(code, "```go\nother()\n```")
		got := w.Must(t, rollback, a())
		if w.blockTexts() != before || got.Get("undone").Raw != `{"added":0,"changed":1,"moved":0,"removed":0}` {
			t.Errorf("%s\n%s, want %s", got.Raw, w.blockTexts(), before)
		}
	}
}
