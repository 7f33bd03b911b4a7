package document_test

import (
	"testing"

	"collie/internal/source/siyuan/access"
	"collie/internal/source/siyuan/action/actiontest"
	"collie/internal/tool"
)

func TestDocToHeading(t *testing.T) {
	t.Parallel()
	k := actiontest.New(t)
	nb, other := k.Notebook("A"), k.Notebook("B")
	src, to := k.Doc(nb, "/Src", "正文"), k.Doc(other, "/To", "one\n\ntwo")
	got := k.Must(t, findAction(t, "doc_to_heading"), args("srcID", src, "targetID", children(t, k, to)[0], "after", true))
	if got.Get("srcTreeBox").String() != nb || got.Get("srcTreePath").String() != storagePathOf(src) || got.Get("id").String() != src || got.Get("rootID").String() != to {
		t.Errorf("merged: %s", got.Raw)
	}
	blocks := children(t, k, to)
	if len(blocks) != 4 || blocks[1] != src {
		t.Errorf("the blocks are %v", blocks)
	}
}

// For a document as the target, the kernel answers code 0 and destroys that document.
func TestDocToHeadingRefused(t *testing.T) {
	t.Parallel()
	k := actiontest.New(t)
	nb := k.Notebook("A")
	src, to := k.Doc(nb, "/Src", "x"), k.Doc(nb, "/To", "x")
	parent := k.Doc(nb, "/Parent", "x")
	k.Doc(nb, "/Parent/child", "")
	block := children(t, k, to)[0]
	for _, c := range []struct {
		kind tool.ErrorKind
		call string
	}{
		{tool.Invalid, args("srcID", src, "targetID", to)},
		{tool.Invalid, args("srcID", src, "targetID", nb)}, // the page of a notebook is a document too
		{tool.Invalid, args("srcID", block, "targetID", children(t, k, src)[0])},
		{tool.Invalid, args("srcID", nb, "targetID", block)},
		{tool.Invalid, args("targetID", block)},
		{tool.Conflicting, args("srcID", src, "targetID", children(t, k, src)[0])},
		{tool.Conflicting, args("srcID", parent, "targetID", block)},
		{tool.NotFound, args("srcID", actiontest.Nowhere, "targetID", block)},
	} {
		k.Refused(t, findAction(t, "doc_to_heading"), c.call, c.kind)
	}
	if w := k.Writes(); len(w) > 0 {
		t.Errorf("what was refused wrote: %v", w)
	}
}

func TestDocToHeadingGuarded(t *testing.T) {
	t.Parallel()
	open := func(k *actiontest.Kit) (doc, block string) {
		doc = k.Doc(k.Notebook("Open"), "/O", "x")
		return doc, children(t, k, doc)[0]
	}
	checkGuarded(t, "doc_to_heading", access.Delete, func(k *actiontest.Kit, nb string) (string, []string) { // the document is removed
		_, block := open(k)
		id := k.Doc(nb, "/D", "")
		return args("srcID", id, "targetID", block), []string{id}
	}, func(k *actiontest.Kit) string {
		_, block := open(k)
		return args("srcID", actiontest.Nowhere, "targetID", block)
	})
	checkGuarded(t, "doc_to_heading", access.Write, func(k *actiontest.Kit, nb string) (string, []string) {
		doc, _ := open(k)
		block := children(t, k, k.Doc(nb, "/D", "x"))[0]
		return args("srcID", doc, "targetID", block), []string{block}
	}, func(k *actiontest.Kit) string {
		doc, _ := open(k)
		return args("srcID", doc, "targetID", actiontest.Nowhere)
	})
}
