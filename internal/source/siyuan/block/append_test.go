package block_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"collie/internal/source/siyuan/access"
	"collie/internal/tool"
)

func TestAppendAndPrepend(t *testing.T) {
	w := newWorkspace(t, "one")
	last := w.Must(t, findAction(t, "append"), args("dataType", "markdown", "data", "two\n\nthree", "parentID", w.doc))
	first := w.Must(t, findAction(t, "prepend"), args("dataType", "markdown", "data", "zero", "parentID", w.doc))
	if diff := cmp.Diff([]string{"zero", "one", "two", "three"}, w.Texts(w.t, w.doc)); diff != "" {
		t.Errorf("document (-want +got):\n%s", diff)
	}
	now := w.Children(w.t, w.doc)
	if first.Get("id").Str != string(now[0]) {
		t.Errorf("prepend: %s", first.Raw)
	}
	if diff := cmp.Diff(now[2:], idsIn(last.Get("createdBlockIDs"))); diff != "" {
		t.Errorf("append (-want +got):\n%s", diff)
	}
}

func TestAppendTakesDOMWithoutIDs(t *testing.T) {
	w := newWorkspace(t, "one")
	got := w.Must(t, findAction(t, "append"), args("dataType", "dom", "data", "no tags", "parentID", w.doc))
	if got.Get("id").Str != string(w.Children(w.t, w.doc)[1]) {
		t.Errorf("result %s, children %s", got.Raw, idList(w.Children(w.t, w.doc)...))
	}
}

func TestAppendRefusesLeavesAndNotebooks(t *testing.T) {
	w := newWorkspace(t, "# head\n\npara")
	for _, name := range []string{"append", "prepend"} {
		a := findAction(t, name)
		w.ResetCalls()
		for _, id := range w.blocks {
			err := asToolError(t, w.Failed(t, a, args("dataType", "markdown", "data", "x", "parentID", id), tool.Invalid))
			if !strings.Contains(err.Hint, `block(action="insert", previousID="`+string(id)+`"`) {
				t.Errorf("%s: the hint says nothing of insert: %s", name, err.Hint)
			}
		}
		w.Refused(w.t, a, args("dataType", "markdown", "data", "x", "parentID", w.nb), tool.Invalid)
		w.Refused(w.t, a, args("dataType", "markdown", "parentID", w.doc), tool.Invalid)
		w.checkGuarded(a, access.Write, w.doc, args("dataType", "markdown", "data", "x", "parentID", w.doc))
	}
}

func TestAppendShowsTheDocumentAgain(t *testing.T) {
	w := newWorkspace(t, "- one")
	w.ResetCalls()
	w.Must(t, findAction(t, "append"), args("dataType", "markdown", "data", "- two", "parentID", w.blocks[0]))
	for _, c := range w.Calls() {
		if c.Path == "/api/ui/reloadProtyle" && c.Get("id").Str == string(w.doc) {
			return
		}
	}
	t.Errorf("no reloadProtyle of %s: %v", w.doc, w.Calls())
}
