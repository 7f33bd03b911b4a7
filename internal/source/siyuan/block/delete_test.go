package block_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"collie/internal/source/siyuan/access"
	"collie/internal/tool"
)

func TestDeleteIsDoneWhenItReturns(t *testing.T) {
	w := newWorkspace(t, "one\n\ntwo")
	got := w.Must(t, findAction(t, "delete"), args("id", w.blocks[0]))
	if diff := cmp.Diff([]string{"two"}, w.Texts(w.t, w.doc)); diff != "" || got.Get("id").Str != string(w.blocks[0]) {
		t.Errorf("result %s, document (-want +got):\n%s", got.Raw, diff)
	}
	w.Refused(w.t, findAction(t, "delete"), args("id", w.blocks[0]), tool.NotFound)
}

func TestDeleteLeavesDocumentsToTheDocumentTool(t *testing.T) {
	w := newWorkspace(t, "one")
	e := w.Refused(w.t, findAction(t, "delete"), args("id", w.doc), tool.Invalid)
	if !strings.Contains(e.Hint, `document(action="remove", id="`+string(w.doc)+`")`) {
		t.Errorf("hint: %s", e.Hint)
	}
	w.Refused(w.t, findAction(t, "delete"), args("id", w.nb), tool.Invalid)
	w.checkGuarded(findAction(t, "delete"), access.Delete, w.blocks[0], args("id", w.blocks[0]))
}
