package block_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"collie/internal/source/siyuan/access"
	"collie/internal/source/siyuan/action/actiontest"
	"collie/internal/source/siyuan/kernel"
	"collie/internal/tool"
)

func TestInsertPutsContentAtEachAnchor(t *testing.T) {
	w := newWorkspace(t, "one\n\ntwo")
	a := findAction(t, "insert")
	w.Must(t, a, args("dataType", "markdown", "data", "after one", "previousID", w.blocks[0]))
	w.Must(t, a, args("dataType", "markdown", "data", "before one", "nextID", w.blocks[0]))
	got := w.Must(t, a, args("dataType", "markdown", "data", "第一", "parentID", w.doc))
	want := []string{"第一", "before one", "one", "after one", "two"}
	if diff := cmp.Diff(want, w.Texts(w.t, w.doc)); diff != "" {
		t.Errorf("document (-want +got):\n%s", diff)
	}
	if id := got.Get("id").Str; id != string(w.Children(w.t, w.doc)[0]) {
		t.Errorf("id %s is not that of the new block", id)
	}
	if got.Get("parentID").Str != string(w.doc) || !got.Get("success").Bool() {
		t.Errorf("result: %s", got.Raw)
	}
}

func TestInsertReturnsAllBlocksOfOneText(t *testing.T) {
	w := newWorkspace(t, "one")
	got := w.Must(t, findAction(t, "insert"), args("dataType", "markdown", "data", "# H\n\np\n\n- a\n- b", "previousID", w.blocks[0]))
	if diff := cmp.Diff(w.Children(w.t, w.doc)[1:], idsIn(got.Get("createdBlockIDs"))); diff != "" {
		t.Errorf("created (-want +got):\n%s", diff)
	}
}

func TestInsertBatchUsesTheAnchorsBesideIt(t *testing.T) {
	w := newWorkspace(t, "one\n\ntwo")
	got := w.Must(t, findAction(t, "insert"), args("previousID", w.blocks[0], "blocks", []any{
		map[string]any{"dataType": "markdown", "data": "a"},
		map[string]any{"dataType": "markdown", "data": "b", "previousID": w.blocks[1]},
	}))
	if diff := cmp.Diff([]string{"one", "a", "two", "b"}, w.Texts(w.t, w.doc)); diff != "" {
		t.Errorf("document (-want +got):\n%s", diff)
	}
	now := w.Children(w.t, w.doc)
	if diff := cmp.Diff([]kernel.ID{now[1], now[3]}, idsIn(got.Get("createdBlockIDs"))); diff != "" || got.Get("count").Int() != 2 {
		t.Errorf("result %s (-want +got):\n%s", got.Raw, diff)
	}
}

func TestInsertNamesItemsThatWentIntoAList(t *testing.T) {
	w := newWorkspace(t, "- one")
	got := w.Must(t, findAction(t, "append"), args("dataType", "markdown", "data", "- two\n- three", "parentID", w.blocks[0]))
	items := w.Children(w.t, w.blocks[0])
	if diff := cmp.Diff(items[1:], idsIn(got.Get("createdBlockIDs"))); diff != "" {
		t.Errorf("created must be the items, the list that was sent is not a block (-want +got):\n%s", diff)
	}
}

func TestInsertGivesNewIDs(t *testing.T) {
	w := newWorkspace(t, "one\n\ntwo")
	copied := "copy\n{: id=\"" + string(w.blocks[0]) + "\" memo=\"m\"}"
	got := w.Must(t, findAction(t, "insert"), args("dataType", "markdown", "data", copied, "previousID", w.blocks[1]))
	id := kernel.ID(got.Get("id").Str)
	if id == w.blocks[0] || !id.Valid() {
		t.Fatalf("the copy has id %s, that of the original is %s", id, w.blocks[0])
	}
	if w.attrs(id)["memo"] != "m" {
		t.Errorf("the copy lost its attributes: %v", w.attrs(id))
	}
	if diff := cmp.Diff([]string{"one", "two", "copy"}, w.Texts(w.t, w.doc)); diff != "" {
		t.Errorf("document (-want +got):\n%s", diff)
	}
	dom := `<div data-node-id="` + string(w.blocks[0]) + `" data-type="NodeParagraph" class="p"><div contenteditable="true">by DOM</div></div>`
	got = w.Must(t, findAction(t, "insert"), args("dataType", "dom", "data", dom, "previousID", w.blocks[1]))
	if got.Get("id").Str == string(w.blocks[0]) {
		t.Errorf("the DOM kept the id of a block that exists")
	}
}

func TestInsertWritesReferences(t *testing.T) {
	w := newWorkspace(t, "target text\n\ntwo")
	a := findAction(t, "insert")
	got := w.Must(t, a, args("dataType", "markdown", "data", "see (("+string(w.blocks[0])+")) and (("+actiontest.Nowhere+"))", "previousID", w.blocks[1]))
	if text, want := w.Texts(w.t, w.doc)[2], "see (("+string(w.blocks[0])+" 'target text')) and "+actiontest.Nowhere; text != want {
		t.Errorf("got %s, want %s", text, want)
	}
	if got.Get("warning").Str == "" {
		t.Error("no warning of the reference that was not found")
	}
	other := kernel.ID(w.Notebook("Other"))
	hidden := w.Children(w.t, w.addDocument(other, "/O", "secret"))[0]
	w.Levels[other] = access.None
	warning := func(id kernel.ID) string {
		got := w.Must(t, a, args("dataType", "markdown", "data", "see (("+string(id)+" 'x'))", "previousID", w.blocks[1]))
		return strings.ReplaceAll(got.Get("warning").Str, string(id), "ID")
	}
	if missing, hidden := warning(actiontest.Nowhere), warning(hidden); missing == "" || hidden != missing {
		t.Errorf("a missing block: %q, a hidden one: %q", missing, hidden)
	}
	if got := warning(w.blocks[0]); got != "" {
		t.Errorf("a block that is there: %q", got)
	}
}

func TestInsertRefusesWhatTheKernelWouldSwallow(t *testing.T) {
	w := newWorkspace(t, "one")
	a := findAction(t, "insert")
	w.Refused(w.t, a, args("dataType", "markdown", "data", "x"), tool.Conflicting)
	w.Refused(w.t, a, args("dataType", "markdown", "data", "x", "previousID", ""), tool.Conflicting)
	w.Refused(w.t, a, args("blocks", []any{map[string]any{"dataType": "markdown", "data": "x"}}), tool.Conflicting)
	w.Refused(w.t, a, args("dataType", "markdown", "data", "x", "previousID", w.doc), tool.Invalid)
	w.Refused(w.t, a, args("dataType", "markdown", "data", "x", "parentID", w.nb), tool.Invalid)
	w.Refused(w.t, a, args("dataType", "markdown", "previousID", w.blocks[0]), tool.Invalid)
	w.Refused(w.t, a, args("data", "x", "previousID", w.blocks[0]), tool.Invalid)
	w.Refused(w.t, a, args("dataType", "markdown", "data", "x", "previousID", actiontest.Nowhere), tool.NotFound)
}

func TestInsertNeedsWriteOnEveryAnchor(t *testing.T) {
	w := newWorkspace(t, "one")
	a := findAction(t, "insert")
	w.checkGuarded(a, access.Write, w.blocks[0], args("dataType", "markdown", "data", "x", "previousID", w.blocks[0]))
	other := w.Children(w.t, w.addDocument(kernel.ID(w.Notebook("Other")), "/O", "o"))[0]
	w.checkGuarded(a, access.Write, other, args("blocks", []any{
		map[string]any{"dataType": "markdown", "data": "x", "previousID": w.blocks[0]},
		map[string]any{"dataType": "markdown", "data": "y", "nextID": other},
	}))
}

func TestInsertSaysThatNothingWasMade(t *testing.T) {
	w := newWorkspace(t, "one")
	r := w.Request(t, findAction(t, "insert"), args("dataType", "markdown", "data", "x", "previousID", w.blocks[0]))
	if err := r.Check(t.Context()); err != nil {
		t.Fatal(err)
	}
	// The anchor goes away between the check and the write.
	if err := w.Client.Delete(t.Context(), w.blocks[0]); err != nil {
		t.Fatal(err)
	}
	if err := w.Client.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
	_, err := r.Run(t.Context())
	e := asToolError(t, err)
	if e.Kind != kernel.API || e.Facts["reason"] != "empty_transaction_result" {
		t.Errorf("got %v (%s)", err, e.Payload())
	}
}

func TestInsertBatchKeepsTheOrderOfTheCall(t *testing.T) {
	w := newWorkspace(t, "one\n\n- item\n\nlast")
	item := func(data string, anchor ...any) map[string]any {
		out := map[string]any{"dataType": "markdown", "data": data}
		if len(anchor) == 2 {
			out[anchor[0].(string)] = anchor[1]
		}
		return out
	}
	got := w.Must(t, findAction(t, "insert"), args("previousID", w.blocks[0], "blocks", []any{
		item("a"), item("b\n\nc"), item("x", "nextID", w.blocks[2]), item("d"), item("y", "nextID", w.blocks[2]),
		item("1", "parentID", w.blocks[1]), item("2", "parentID", w.blocks[1]), item("first", "parentID", w.doc),
	}))
	want := []string{"first", "one", "a", "b", "c", "d", "- 1\n- 2\n- item", "x", "y", "last"}
	if diff := cmp.Diff(want, w.Texts(w.t, w.doc)); diff != "" {
		t.Errorf("document (-want +got):\n%s", diff)
	}
	now := w.Children(w.t, w.doc)
	items := w.Children(w.t, w.blocks[1])
	if diff := cmp.Diff([]kernel.ID{now[2], now[3], now[4], now[7], now[5], now[8], items[0], items[1], now[0]}, idsIn(got.Get("createdBlockIDs"))); diff != "" {
		t.Errorf("created (-want +got):\n%s", diff)
	}
}
