package document_test

import (
	"testing"

	"collie/internal/source/siyuan/access"
	"collie/internal/source/siyuan/action/actiontest"
	"collie/internal/source/siyuan/kernel"
	"collie/internal/tool"
)

func TestReorder(t *testing.T) {
	t.Parallel()
	k := actiontest.New(t)
	nb := k.Notebook("A")
	up := k.Doc(nb, "/Up", "")
	a, b, c := k.Doc(nb, "/Up/a", ""), k.Doc(nb, "/Up/b", ""), k.Doc(nb, "/Up/c", "")
	got := k.Must(t, findAction(t, "reorder"), args("parentID", up, "orderedIDs", []string{c, a, b}))
	if !got.Get("success").Bool() || !got.Get("orderChanged").Bool() || got.Get("previousOrder.0").String() != a || got.Get("order.0").String() != c {
		t.Errorf("reordered: %s", got.Raw)
	}
	docs, err := k.Client.Documents(t.Context(), kernel.ID(nb), storagePathOf(up))
	if err != nil || string(docs[0].ID) != c || string(docs[2].ID) != b {
		t.Errorf("shown as %+v, %v", docs, err)
	}
	got = k.Must(t, findAction(t, "reorder"), args("parentID", nb, "orderedIDs", []string{up}))
	if got.Get("orderChanged").Bool() || got.Get("parentID").String() != nb {
		t.Errorf("of the notebook: %s", got.Raw)
	}
}

func TestReorderRefused(t *testing.T) {
	t.Parallel()
	k := actiontest.New(t)
	nb := k.Notebook("A")
	id := k.Doc(nb, "/D", "")
	k.Refused(t, findAction(t, "reorder"), args("parentID", nb, "orderedIDs", []string{id, actiontest.Nowhere}), tool.Conflicting)
	k.Refused(t, findAction(t, "reorder"), args("orderedIDs", []string{id}), tool.Invalid)
	if w := k.Writes(); len(w) > 0 {
		t.Errorf("what was refused wrote: %v", w)
	}
	on, missing := guardedByID("parentID", "orderedIDs", []string{actiontest.Nowhere})
	checkGuarded(t, "reorder", access.Write, on, missing)
	on, missing = guardedByNotebook("parentID", "orderedIDs", []string{actiontest.Nowhere})
	checkGuarded(t, "reorder", access.Write, on, missing)
}
