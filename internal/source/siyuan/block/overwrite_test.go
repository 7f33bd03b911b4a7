package block_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"collie/internal/tool"
)

func TestUpdateOfADocumentOverwritesIt(t *testing.T) {
	w := newWorkspace(t, "one\n\ntwo")
	w.setAttrs(w.doc, map[string]string{"custom-d": "1"})
	got := w.Must(t, findAction(t, "update"), args("id", w.doc, "dataType", "markdown", "data", "# 新\n\nbody"))
	if diff := cmp.Diff([]string{"# 新", "body"}, w.Texts(w.t, w.doc)); diff != "" {
		t.Errorf("document (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(w.Children(w.t, w.doc), idsIn(got.Get("createdBlockIDs"))); diff != "" || w.attrs(w.doc)["custom-d"] != "1" {
		t.Errorf("result %s (-want +got):\n%s", got.Raw, diff)
	}
}

func TestUpdateOfADocumentProtectsWhatIsMoreThanText(t *testing.T) {
	w := newWorkspace(t, "one\n\ntwo")
	a := findAction(t, "update")
	w.Refused(w.t, a, args("id", w.doc, "dataType", "dom", "data", "<div></div>"), tool.Invalid)
	w.setAttrs(w.blocks[1], map[string]string{"bookmark": "b"})
	w.ResetCalls()
	if _, err := w.Do(t, a, args("id", w.doc, "dataType", "markdown", "data", "new")); err == nil {
		t.Error("a document with a bookmark was overwritten")
	}
	if len(w.Writes()) != 0 {
		t.Errorf("writes: %v", w.Writes())
	}
	if diff := cmp.Diff([]string{"one", "two"}, w.Texts(w.t, w.doc)); diff != "" {
		t.Errorf("document (-want +got):\n%s", diff)
	}
}
