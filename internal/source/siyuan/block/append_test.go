package block_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"collie/internal/source/siyuan/access"
	"collie/internal/tool"
)

func TestAppendAndPrepend(t *testing.T) {
	w := newWorld(t, "one")
	last := w.Must(t, act(t, "append"), args("dataType", "markdown", "data", "two\n\nthree", "parentID", w.doc))
	first := w.Must(t, act(t, "prepend"), args("dataType", "markdown", "data", "zero", "parentID", w.doc))
	if diff := cmp.Diff([]string{"zero", "one", "two", "three"}, w.texts(w.doc)); diff != "" {
		t.Errorf("document (-want +got):\n%s", diff)
	}
	now := w.children(w.doc)
	if first.Get("id").Str != string(now[0]) {
		t.Errorf("prepend: %s", first.Raw)
	}
	if diff := cmp.Diff(now[2:], ids(last.Get("createdBlockIDs"))); diff != "" {
		t.Errorf("append (-want +got):\n%s", diff)
	}
}

func TestAppendTakesDOMWithoutIDs(t *testing.T) {
	w := newWorld(t, "one")
	got := w.Must(t, act(t, "append"), args("dataType", "dom", "data", "no tags", "parentID", w.doc))
	if got.Get("id").Str != string(w.children(w.doc)[1]) {
		t.Errorf("result %s, children %s", got.Raw, idList(w.children(w.doc)...))
	}
}

func TestAppendRefusesLeavesAndNotebooks(t *testing.T) {
	w := newWorld(t, "# head\n\npara")
	for _, name := range []string{"append", "prepend"} {
		a := act(t, name)
		w.ResetCalls()
		for _, id := range w.blocks {
			err := toolError(t, w.Refused(t, a, args("dataType", "markdown", "data", "x", "parentID", id), tool.Invalid))
			if !strings.Contains(err.Hint, `block(action="insert", previousID="`+string(id)+`"`) {
				t.Errorf("%s: the hint says nothing of insert: %s", name, err.Hint)
			}
		}
		w.refused(a, args("dataType", "markdown", "data", "x", "parentID", w.nb), tool.Invalid)
		w.refused(a, args("dataType", "markdown", "parentID", w.doc), tool.Invalid)
		w.guarded(a, access.Write, w.doc, args("dataType", "markdown", "data", "x", "parentID", w.doc))
	}
}

func TestAppendShowsTheDocumentAgain(t *testing.T) {
	w := newWorld(t, "- one")
	w.ResetCalls()
	w.Must(t, act(t, "append"), args("dataType", "markdown", "data", "- two", "parentID", w.blocks[0]))
	for _, c := range w.Calls() {
		if c.Path == "/api/ui/reloadProtyle" && c.Get("id").Str == string(w.doc) {
			return
		}
	}
	t.Errorf("no reloadProtyle of %s: %v", w.doc, w.Calls())
}
