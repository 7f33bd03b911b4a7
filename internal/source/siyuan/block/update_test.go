package block_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"collie/internal/source/siyuan/access"
	"collie/internal/source/siyuan/action/actiontest"
	"collie/internal/source/siyuan/kernel"
	"collie/internal/source/siyuan/kernel/kerneltest"
	"collie/internal/tool"
)

func TestUpdateKeepsIDAndAttributes(t *testing.T) {
	w := newWorkspace(t, "one\n\ntwo")
	id := w.blocks[0]
	w.setAttrs(id, map[string]string{"custom-k": "值", "memo": "m", "bookmark": "b"})
	got := w.Must(t, findAction(t, "update"), args("id", id, "dataType", "markdown", "data", "## 新"))
	if diff := cmp.Diff([]string{"## 新", "two"}, w.Texts(w.t, w.doc)); diff != "" {
		t.Errorf("document (-want +got):\n%s", diff)
	}
	attrs := w.attrs(id)
	if attrs["custom-k"] != "值" || attrs["memo"] != "m" || attrs["bookmark"] != "b" {
		t.Errorf("attributes were lost: %v", attrs)
	}
	if !got.Get("attributesPreserved").Bool() || got.Get("preservedAttributeCount").Int() != 3 || got.Get("id").Str != string(id) {
		t.Errorf("result: %s", got.Raw)
	}
	if got.Get("markdown").Str != "## 新" || len(got.Get("updated").Str) != 14 || got.Get("warning").Exists() {
		t.Errorf("result: %s", got.Raw)
	}
}

func TestUpdateLetsTheContentSetAttributes(t *testing.T) {
	w := newWorkspace(t, "one")
	w.setAttrs(w.blocks[0], map[string]string{"memo": "old", "name": "n"})
	w.Must(t, findAction(t, "update"), args("id", w.blocks[0], "dataType", "markdown", "data", "new\n{: memo=\"new\"}"))
	if got := w.attrs(w.blocks[0]); got["memo"] != "new" || got["name"] != "n" {
		t.Errorf("attributes: %v", got)
	}
}

func TestUpdateLosesNoBlockOfTheContent(t *testing.T) {
	w := newWorkspace(t, "one\n\nlast")
	w.setAttrs(w.blocks[0], map[string]string{"memo": "m"})
	got := w.Must(t, findAction(t, "update"), args("id", w.blocks[0], "dataType", "markdown", "data", "a\n\n- b\n- c\n\nd"))
	if diff := cmp.Diff([]string{"a", "- b\n- c", "d", "last"}, w.Texts(w.t, w.doc)); diff != "" {
		t.Errorf("document (-want +got):\n%s", diff)
	}
	now := w.Children(w.t, w.doc)
	if diff := cmp.Diff(now[1:3], idsIn(got.Get("createdBlockIDs"))); diff != "" || now[0] != w.blocks[0] {
		t.Errorf("result %s (-want +got):\n%s", got.Raw, diff)
	}
	if !strings.Contains(got.Get("warning").Str, "3 blocks") {
		t.Errorf("no warning: %s", got.Raw)
	}
	if w.attrs(w.blocks[0])["memo"] != "m" {
		t.Error("the attribute is gone")
	}
}

func TestUpdateReportsWhatItCouldNotWrite(t *testing.T) {
	w := newWorkspace(t, "one")
	w.Fail("/api/block/insertBlock", 1, kerneltest.FailMessage("no"))
	err := asToolError(t, w.Failed(t, findAction(t, "update"), args("id", w.blocks[0], "dataType", "markdown", "data", "a\n\nb text"), kernel.API))
	if rest, _ := err.Facts["notWritten"].(string); !strings.Contains(rest, "b text") {
		t.Errorf("the error does not carry the rest: %s", err.Payload())
	}
	if diff := cmp.Diff([]string{"a"}, w.Texts(w.t, w.doc)); diff != "" {
		t.Errorf("document (-want +got):\n%s", diff)
	}
}

func TestUpdateReportsAttributesItCouldNotRestore(t *testing.T) {
	w := newWorkspace(t, "one")
	w.setAttrs(w.blocks[0], map[string]string{"memo": "mine"})
	w.Fail("/api/attr/setBlockAttrs", 1, kerneltest.FailMessage("no"))
	err := asToolError(t, w.Failed(t, findAction(t, "update"), args("id", w.blocks[0], "dataType", "markdown", "data", "new"), kernel.Mismatch))
	if !strings.Contains(string(err.Payload()), `"memo":"mine"`) {
		t.Errorf("the error does not carry the attributes: %s", err.Payload())
	}
}

func TestUpdateItems(t *testing.T) {
	w := newWorkspace(t, "one\n\ntwo\n\nthree")
	w.setAttrs(w.blocks[0], map[string]string{"memo": "a"})
	w.setAttrs(w.blocks[2], map[string]string{"memo": "c"})
	got := w.Must(t, findAction(t, "update"), args("items", []any{
		map[string]any{"id": w.blocks[0], "dataType": "markdown", "data": "1"},
		map[string]any{"id": w.blocks[2], "dataType": "markdown", "data": "3\n\n4"},
	}))
	if diff := cmp.Diff([]string{"1", "two", "3", "4"}, w.Texts(w.t, w.doc)); diff != "" {
		t.Errorf("document (-want +got):\n%s", diff)
	}
	if w.attrs(w.blocks[0])["memo"] != "a" || w.attrs(w.blocks[2])["memo"] != "c" {
		t.Error("attributes were lost")
	}
	if got.Get("count").Int() != 2 || got.Get("items.1.createdBlockIDs.#").Int() != 1 || got.Get("items.0.warning").Exists() {
		t.Errorf("result: %s", got.Raw)
	}
}

func TestUpdateKeepsBlocksInAContainer(t *testing.T) {
	w := newWorkspace(t, "- a\n- b")
	list := w.blocks[0]
	items := w.Children(w.t, list)
	w.setAttrs(items[1], map[string]string{"custom-x": "1"})
	text, err := w.Client.Kramdown(t.Context(), list)
	if err != nil {
		t.Fatal(err)
	}
	got := w.Must(t, findAction(t, "update"), args("id", list, "dataType", "markdown", "data", strings.Replace(text, "}a", "}A", 1)))
	if diff := cmp.Diff(items, w.Children(w.t, list)); diff != "" || w.attrs(items[1])["custom-x"] != "1" {
		t.Errorf("items got other ids or lost attributes %v (-want +got):\n%s", w.attrs(items[1]), diff)
	}
	if diff := cmp.Diff([]string{"- A\n- b"}, w.Texts(w.t, w.doc)); diff != "" || got.Get("warning").Exists() {
		t.Errorf("warning %q, document (-want +got):\n%s", got.Get("warning").Str, diff)
	}
	got = w.Must(t, findAction(t, "update"), args("id", list, "dataType", "markdown", "data", "- c"))
	if !strings.Contains(got.Get("warning").Str, "attributes are gone") {
		t.Errorf("no warning of the attributes inside: %s", got.Raw)
	}
}

func TestUpdateRefuses(t *testing.T) {
	w := newWorkspace(t, "- a\n- b\n\npara")
	a := findAction(t, "update")
	item := w.Children(w.t, w.blocks[0])[0]
	w.Refused(w.t, a, args("id", item, "dataType", "markdown", "data", "- x\n- y"), tool.Invalid)
	w.Must(t, a, args("id", item, "dataType", "markdown", "data", "- x\n  - y"))
	p := w.blocks[1]
	w.Refused(w.t, a, args("id", p, "dataType", "markdown"), tool.Invalid)
	w.Refused(w.t, a, args("id", p, "data", "x"), tool.Invalid)
	w.Refused(w.t, a, args("dataType", "markdown", "data", "x"), tool.Invalid)
	one := map[string]any{"id": p, "dataType": "markdown", "data": "x"}
	w.Refused(w.t, a, args("id", p, "items", []any{one}), tool.Conflicting)
	w.Refused(w.t, a, args("items", []any{one, one}), tool.Invalid)
	w.Refused(w.t, a, args("items", []any{one, map[string]any{"id": w.doc, "dataType": "markdown", "data": "x"}}), tool.Invalid)
	w.Refused(w.t, a, args("id", w.nb, "dataType", "markdown", "data", "x"), tool.Invalid)
	w.Refused(w.t, a, args("id", actiontest.Nowhere, "dataType", "markdown", "data", "x"), tool.NotFound)
	w.checkGuarded(a, access.Write, p, args("id", p, "dataType", "markdown", "data", "x"))
	w.checkGuarded(a, access.Write, p, args("items", []any{one}))
}

func TestUpdateTellsOfADatabase(t *testing.T) {
	w := newWorkspace(t, "one")
	dom := `<div data-node-id="20240801120000-avblk01" data-type="NodeAttributeView" data-av-id="20240801120000-avmain1" ` +
		`data-av-type="table" class="av"></div>`
	done, err := w.Client.Append(t.Context(), w.doc, "dom", dom)
	if err != nil {
		t.Fatal(err)
	}
	got := w.Must(t, findAction(t, "update"), args("id", kernel.CreatedIDs(done)[0], "dataType", "markdown", "data", "text"))
	if got.Get("databaseBlock.avID").Str != "20240801120000-avmain1" || !strings.Contains(got.Get("databaseBlock.hint").Str, "av(action=") {
		t.Errorf("result: %s", got.Raw)
	}
}

// A text that was read and is written again has the time of the last change in it, which the kernel would keep.
func TestUpdateIsAChangeOfNow(t *testing.T) {
	w := newWorkspace(t, "one\n\ntwo\n\nthree")
	const old = "20240101000000"
	for _, id := range w.blocks {
		w.setAttrs(id, map[string]string{"updated": old, "memo": "m"})
		if w.attrs(id)["updated"] != old {
			t.Fatalf("attributes: %v", w.attrs(id))
		}
	}
	text := w.Must(t, findAction(t, "get_kramdown"), args("id", w.blocks[0])).Get("kramdown").Str
	dom := w.Must(t, findAction(t, "dom"), args("id", w.blocks[1])).Get("dom").Str
	a := findAction(t, "update")
	got := w.Must(t, a, args("id", w.blocks[0], "dataType", "markdown", "data", strings.Replace(text, "one", "eins", 1)))
	w.Must(t, a, args("id", w.blocks[1], "dataType", "dom", "data", strings.Replace(dom, "two", "zwei", 1)))
	w.Must(t, findAction(t, "replace"), args("id", w.blocks[2], "edit", map[string]any{"old": "three", "new": "drei"}))
	if diff := cmp.Diff([]string{"eins", "zwei", "drei"}, w.Texts(w.t, w.doc)); diff != "" {
		t.Errorf("document (-want +got):\n%s", diff)
	}
	for _, id := range w.blocks {
		if attrs := w.attrs(id); attrs["updated"] <= old || attrs["memo"] != "m" {
			t.Errorf("attributes: %v", attrs)
		}
	}
	if got.Get("updated").Str <= old {
		t.Errorf("result: %s", got.Raw)
	}
}
