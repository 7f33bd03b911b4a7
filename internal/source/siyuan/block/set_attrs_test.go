package block_test

import (
	"strings"
	"testing"

	"collie/internal/source/siyuan/access"
	"collie/internal/tool"
)

func TestSetAttrsMergesAndRemoves(t *testing.T) {
	w := newWorkspace(t, "one")
	id := w.blocks[0]
	w.setAttrs(id, map[string]string{"memo": "old", "name": "kept"})
	got := w.Must(t, findAction(t, "set_attrs"), args("id", id, "attrs", map[string]string{"custom-Status": "进行中", "memo": ""}))
	attrs := w.attrs(id)
	if _, there := attrs["memo"]; there || attrs["custom-status"] != "进行中" || attrs["name"] != "kept" {
		t.Errorf("attributes: %v", attrs)
	}
	if got.Get("attrs.custom-status").Str != "进行中" || got.Get("attrs.memo").Str != "" || !got.Get("success").Bool() {
		t.Errorf("result: %s", got.Raw)
	}
}

func TestSetAttrsRefusesNames(t *testing.T) {
	w := newWorkspace(t, "one")
	a := findAction(t, "set_attrs")
	for _, key := range []string{
		"id", "ID", "updated", "data-node-id", "type", "foo", "fold", "custom-", "custom-a_b", "custom-状态", "", "custom a",
		"custom-avs", "custom-riff-decks", "Custom-AVS",
	} {
		e := w.Refused(w.t, a, args("id", w.blocks[0], "attrs", map[string]string{"memo": "x", key: "y"}), tool.Invalid)
		if len(e.Fields) != 1 || !strings.HasPrefix(e.Fields[0].Path, "/attrs/") {
			t.Errorf("%q: the error names no field: %s", key, e.Payload())
		}
	}
	w.Refused(w.t, a, args("id", w.blocks[0], "attrs", map[string]string{}), tool.Invalid)
	w.Refused(w.t, a, args("id", w.blocks[0], "attrs", map[string]string{"title": "x"}), tool.Invalid)
	w.Refused(w.t, a, args("id", w.doc, "attrs", map[string]string{"title": " "}), tool.Invalid)
	for _, title := range []string{"a/b", "a\nb", "\t", strings.Repeat("名", 513)} {
		w.Refused(w.t, a, args("id", w.doc, "attrs", map[string]string{"title": title}), tool.Invalid)
	}
	w.Refused(w.t, a, args("id", w.nb, "attrs", map[string]string{"title": "x"}), tool.Invalid)
	w.checkGuarded(a, access.Write, w.blocks[0], args("id", w.blocks[0], "attrs", map[string]string{"memo": "x"}))
}

func TestSetAttrsLeavesSystemAttributesToAPerson(t *testing.T) {
	w := newWorkspace(t, "one")
	a := findAction(t, "set_attrs")
	call := args("id", w.blocks[0], "attrs", map[string]string{"custom-avs": "20240801120000-avmain1"}, "allowSystemAttrs", true)
	w.Refused(w.t, a, call, tool.Unconfirmed)
	w.Origin = tool.Direct
	w.Must(t, a, call)
}

func TestSetAttrsRenamesADocument(t *testing.T) {
	w := newWorkspace(t, "one")
	w.ResetCalls()
	w.Must(t, findAction(t, "set_attrs"), args("id", w.doc, "attrs", map[string]string{"title": "New 新", "icon": "1f600"}))
	if hpath, err := w.Client.HPathByID(t.Context(), w.doc); err != nil || hpath != "/New 新" {
		t.Errorf("path %q, %v", hpath, err)
	}
	seen := map[string]bool{}
	for _, c := range w.Calls() {
		seen[c.Path] = true
	}
	for _, path := range []string{"/api/ui/reloadFiletree", "/api/ui/reloadIcon", "/api/ui/reloadProtyle"} {
		if !seen[path] {
			t.Errorf("no %s", path)
		}
	}
}
