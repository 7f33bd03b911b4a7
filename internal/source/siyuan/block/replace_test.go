package block_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"collie/internal/source/siyuan/access"
	"collie/internal/tool"
)

func TestReplaceEditsOneBlock(t *testing.T) {
	w := newWorkspace(t, "teh 文字 teh\n\nteh end\n\n- teh item\n- b")
	a := findAction(t, "replace")
	w.setAttrs(w.blocks[0], map[string]string{"memo": "m"})
	got := w.Must(t, a, args("id", w.blocks[0], "edit", map[string]any{"old": "teh", "new": "the", "replace_all": true}))
	if diff := cmp.Diff([]string{"the 文字 the", "teh end", "- teh item\n- b"}, w.Texts(w.t, w.doc)); diff != "" {
		t.Errorf("document (-want +got):\n%s", diff)
	}
	if w.attrs(w.blocks[0])["memo"] != "m" || !got.Get("attributesPreserved").Bool() || got.Get("replacements.0.replaced").Int() != 2 {
		t.Errorf("attributes %v, result %s", w.attrs(w.blocks[0]), got.Raw)
	}
	items := w.Children(w.t, w.blocks[2])
	w.Must(t, a, `{"id":"`+string(w.blocks[2])+`","old":"teh","new":"the"}`)
	if diff := cmp.Diff(items, w.Children(w.t, w.blocks[2])); diff != "" {
		t.Errorf("the items of the list got other ids (-want +got):\n%s", diff)
	}
	w.Must(t, a, args("id", w.doc, "edit", []any{map[string]any{"old": "teh end", "new": "the end"}}))
	if diff := cmp.Diff([]string{"the 文字 the", "the end", "- the item\n- b"}, w.Texts(w.t, w.doc)); diff != "" {
		t.Errorf("document (-want +got):\n%s", diff)
	}
	same := w.Must(t, a, args("id", w.doc, "edit", map[string]any{"old": "the end", "new": "the end"}))
	if same.Get("changed").Bool() {
		t.Errorf("nothing changed: %s", same.Raw)
	}
}

func TestReplaceRefuses(t *testing.T) {
	w := newWorkspace(t, "a a")
	a := findAction(t, "replace")
	edit := map[string]any{"old": "a", "new": "b"}
	w.Refused(w.t, a, args("id", w.blocks[0], "edit", edit), tool.Conflicting)
	w.Refused(w.t, a, args("id", w.blocks[0], "edit", map[string]any{"old": "z", "new": "b"}), tool.NotFound)
	w.Refused(w.t, a, args("id", w.nb, "edit", edit), tool.Invalid)
	w.checkGuarded(a, access.Write, w.blocks[0], args("id", w.blocks[0], "edit", edit))
}
