package document_test

import (
	"testing"

	"collie/internal/source/siyuan/access"
	"collie/internal/source/siyuan/action/actiontest"
	"collie/internal/source/siyuan/kernel"
	"collie/internal/tool"
)

func TestDuplicate(t *testing.T) {
	t.Parallel()
	k := actiontest.New(t)
	nb := k.Notebook("A")
	id := k.Doc(nb, "/P/D", "正文")
	got := k.Must(t, findAction(t, "duplicate"), args("id", id))
	copied := got.Get("id").String()
	if got.Get("sourceID").String() != id || copied == id || got.Get("hPath").String() != hpathOf(t, k, copied) || got.Get("notebook").String() != nb {
		t.Errorf("copied: %s", got.Raw)
	}
	blocks, err := k.Client.ChildBlocks(t.Context(), kernel.ID(copied))
	if err != nil || blocks[0].Markdown != "正文" {
		t.Errorf("the copy has %+v, %v", blocks, err)
	}
	k.Refused(t, findAction(t, "duplicate"), args("id", blocks[0].ID), tool.Invalid)
	on, missing := guardedByID("id")
	checkGuarded(t, "duplicate", access.Write, on, missing)
}
