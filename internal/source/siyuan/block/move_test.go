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

func TestMoveKeepsTheOrderOfTheCall(t *testing.T) {
	w := newWorkspace(t, "a\n\nb\n\nc\n\nd")
	a := findAction(t, "move")
	b := w.blocks
	got := w.Must(t, a, args("ids", []kernel.ID{b[2], b[0]}, "previousID", b[3]))
	if diff := cmp.Diff([]string{"b", "d", "c", "a"}, w.Texts(w.t, w.doc)); diff != "" {
		t.Errorf("after d (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]kernel.ID{b[2], b[0]}, idsIn(got.Get("finalOrder"))); diff != "" || got.Get("count").Int() != 2 {
		t.Errorf("finalOrder of %s (-want +got):\n%s", got.Raw, diff)
	}
	if diff := cmp.Diff([]kernel.ID{b[0], b[2]}, idsIn(got.Get("apiCallOrder"))); diff != "" {
		t.Errorf("apiCallOrder (-want +got):\n%s", diff)
	}
	w.Must(t, a, args("ids", []kernel.ID{b[0], b[3]}, "parentID", w.doc))
	if diff := cmp.Diff([]string{"a", "d", "b", "c"}, w.Texts(w.t, w.doc)); diff != "" {
		t.Errorf("first in the document (-want +got):\n%s", diff)
	}
	w.Must(t, a, args("id", b[3], "previousID", b[2], "parentID", w.doc)) // previousID counts
	if diff := cmp.Diff([]string{"a", "b", "c", "d"}, w.Texts(w.t, w.doc)); diff != "" {
		t.Errorf("with both anchors (-want +got):\n%s", diff)
	}
}

func TestMoveIntoAnotherNotebookNeedsDeleteAtTheSource(t *testing.T) {
	w := newWorkspace(t, "a\n\nb")
	a := findAction(t, "move")
	other := kernel.ID(w.Notebook("Other"))
	doc := w.addDocument(other, "/O", "o")
	call := args("id", w.blocks[0], "parentID", doc)
	w.Levels[w.nb], w.Levels[other] = access.Write, access.Write
	e := w.Refused(w.t, a, call, tool.Denied)
	if e.Facts["required_permission"] != "delete" || e.Facts["notebook"] != w.nb {
		t.Errorf("error: %s", e.Payload())
	}
	w.Must(t, a, args("id", w.blocks[0], "previousID", w.blocks[1])) // within the notebook w is enough
	w.Levels[w.nb] = access.Delete
	w.Must(t, a, call)
	if diff := cmp.Diff([]string{"a", "o"}, w.Texts(w.t, doc)); diff != "" {
		t.Errorf("other notebook (-want +got):\n%s", diff)
	}
	w.Levels[other] = access.Read
	w.Refused(w.t, a, args("id", w.blocks[1], "parentID", doc), tool.Denied)
	w.Levels[other] = access.None
	w.Refused(w.t, a, args("id", w.blocks[1], "parentID", doc), tool.NotFound)
}

func TestMoveRefuses(t *testing.T) {
	w := newWorkspace(t, "a\n\nb\n\n- list")
	a := findAction(t, "move")
	b := w.blocks
	w.Refused(w.t, a, args("id", b[0]), tool.Conflicting)
	w.Refused(w.t, a, args("previousID", b[0]), tool.Conflicting)
	w.Refused(w.t, a, args("id", b[0], "ids", []kernel.ID{b[1]}, "previousID", b[2]), tool.Conflicting)
	w.Refused(w.t, a, args("ids", []kernel.ID{b[0], b[1]}, "previousID", b[1]), tool.Invalid)
	w.Refused(w.t, a, args("ids", []kernel.ID{b[0], b[0]}, "previousID", b[1]), tool.Invalid)
	w.Refused(w.t, a, args("id", w.doc, "previousID", b[1]), tool.Invalid)
	w.Refused(w.t, a, args("id", b[0], "previousID", w.doc), tool.Invalid)
	w.Refused(w.t, a, args("id", b[0], "parentID", w.nb), tool.Invalid)
	w.Refused(w.t, a, args("id", b[0], "previousID", actiontest.Nowhere), tool.NotFound)
	w.checkGuarded(a, access.Write, b[0], args("id", b[0], "previousID", b[1]))
	w.Failed(t, a, args("id", b[0], "parentID", b[1]), tool.Invalid) // a leaf
}

func TestMoveSeesThatABlockStayed(t *testing.T) {
	w := newWorkspace(t, "a\n\nb\n\nc")
	b := w.blocks
	w.OwnForm(t, "/api/block/moveBlock", `"previousID":"`+string(b[0]), `"previousID":"`+string(b[1]))
	w.Failed(t, findAction(t, "move"), args("id", b[2], "previousID", b[0]), kernel.Mismatch)
}

// A kernel leaves a block that is moved into itself where it is, and has moved the others by then.
func TestMoveRefusesAPlaceInsideTheBlocks(t *testing.T) {
	w := newWorkspace(t, "- a\n- b\n  - c\n    - d\n\n> - q\n\npara")
	a := findAction(t, "move")
	list, quote, para := w.blocks[0], w.blocks[1], w.blocks[2]
	items := w.Children(w.t, list)
	inB := w.Children(w.t, items[1]) // its paragraph and the list below it
	c := w.Children(w.t, inB[1])[0]
	d := w.Children(w.t, w.Children(w.t, c)[1])[0]
	before := w.Texts(w.t, w.doc)
	for _, call := range []string{
		args("id", items[1], "previousID", inB[0]),
		args("id", items[1], "previousID", inB[1]),
		args("id", items[1], "parentID", c),
		args("id", items[1], "parentID", d),
		args("id", items[1], "previousID", d),
		args("ids", []kernel.ID{items[0], items[1]}, "previousID", inB[0]),
		args("ids", []kernel.ID{para, list}, "parentID", d),
		args("id", quote, "parentID", w.Children(w.t, quote)[0]),
	} {
		e := w.Refused(w.t, a, call, tool.Invalid)
		if !strings.Contains(e.Message, "is inside") || len(e.Fields) != 1 || !strings.Contains(call, e.Fields[0].Path[1:]) {
			t.Errorf("%s: %s", call, e.Payload())
		}
	}
	if diff := cmp.Diff(before, w.Texts(w.t, w.doc)); diff != "" {
		t.Errorf("the document changed (-want +got):\n%s", diff)
	}
	w.Must(t, a, args("id", items[0], "previousID", c)) // into its neighbour
	w.ResetCalls()
	w.Must(t, a, args("id", quote, "previousID", para))
	if n := len(w.Asked("/api/block/getBlockTreeInfos")); n != 2 {
		t.Errorf("an anchor right below its document is looked up in %d requests", n)
	}
}

// A kernel that puts a block elsewhere than asked for has moved it: that is a warning.
func TestMoveSaysWhereABlockWentAstray(t *testing.T) {
	w := newWorkspace(t, "a\n\nb\n\nc")
	b := w.blocks
	w.OwnForm(t, "/api/block/moveBlock", `"previousID":"`+string(b[2]), `"previousID":"`+string(b[1]))
	got := w.Must(t, findAction(t, "move"), args("id", b[0], "previousID", b[2]))
	if diff := cmp.Diff([]string{"b", "a", "c"}, w.Texts(w.t, w.doc)); diff != "" || got.Get("warning").String() == "" {
		t.Errorf("result %s (-want +got):\n%s", got.Raw, diff)
	}
}

// A kernel would put an item into a document as it is, and anything into a list.
func TestMoveKeepsListsWhole(t *testing.T) {
	w := newWorkspace(t, "1. a\n2. b\n3. c\n\npara\n\n> quote\n\n- [ ] d")
	a := findAction(t, "move")
	list, para, quote, tasks := w.blocks[0], w.blocks[1], w.blocks[2], w.blocks[3]
	items := w.Children(w.t, list)
	w.setAttrs(items[2], map[string]string{"memo": "m"})
	got := w.Must(t, a, args("ids", []kernel.ID{items[2], items[0]}, "previousID", para))
	if diff := cmp.Diff([]string{"2. b", "para", "3. c\n1. a", "> quote", "- [ ] d"}, w.Texts(w.t, w.doc)); diff != "" {
		t.Errorf("behind a paragraph (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]kernel.ID{items[2], items[0]}, idsIn(got.Get("finalOrder"))); diff != "" || got.Get("warning").Exists() || w.attrs(items[2])["memo"] != "m" {
		t.Errorf("result %s (-want +got):\n%s", got.Raw, diff)
	}
	w.Must(t, a, args("id", w.Children(w.t, tasks)[0], "parentID", quote))
	if diff := cmp.Diff([]string{"lt", "p"}, w.childTypes(quote)); diff != "" {
		t.Errorf("first in a quote (-want +got):\n%s", diff)
	}
	w.Must(t, a, args("id", items[1], "previousID", items[2])) // into the list that was made
	if diff := cmp.Diff([]string{"p", "lo", "b"}, w.childTypes(w.doc)); diff != "" {
		t.Errorf("into a list (-want +got):\n%s", diff)
	}
	w.Must(t, a, args("id", para, "parentID", items[1]))
	w.Refused(w.t, a, args("id", quote, "previousID", items[1]), tool.Invalid)
	w.Refused(w.t, a, args("id", quote, "parentID", w.Children(w.t, w.doc)[0]), tool.Invalid)
	w.Refused(w.t, a, args("ids", []kernel.ID{items[0], para}, "previousID", quote), tool.Invalid)
	w.Refused(w.t, a, args("id", items[0], "parentID", para), tool.Invalid) // a leaf
}
