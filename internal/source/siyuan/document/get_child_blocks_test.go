package document_test

import (
	"strings"
	"testing"

	"collie/internal/source/siyuan/access"
	"collie/internal/source/siyuan/action/actiontest"
	"collie/internal/tool"
)

func TestGetChildBlocks(t *testing.T) {
	t.Parallel()
	k := actiontest.New(t)
	nb := k.Notebook("A")
	id := k.Doc(nb, "/D", "# 标题\n\none\u200b\n\n- item")
	got := k.Must(t, findAction(t, "get_child_blocks"), args("id", id))
	if got.Get("total").Int() != 3 || got.Get("data.0.subType").String() != "h1" || got.Get("data.2.type").String() != "l" || got.Get("id").String() != id {
		t.Errorf("the blocks are %s", got.Raw)
	}
	if md := got.Get("data.1.markdown").String(); md != "one" {
		t.Errorf("what nobody sees is returned: %q", md)
	}
	id = k.Doc(nb, "/Long", strings.Repeat("p\n\n", 120))
	got = k.Must(t, findAction(t, "get_child_blocks"), args("id", id, "page", 3))
	if got.Get("total").Int() != 120 || got.Get("pageCount").Int() != 3 || len(got.Get("data").Array()) != 20 {
		t.Errorf("page 3 of 120 blocks: %d, %s", len(got.Get("data").Array()), got.Get("total"))
	}
	k.Refused(t, findAction(t, "get_child_blocks"), `{}`, tool.Invalid)
	on, missing := guardedByID("id")
	checkGuarded(t, "get_child_blocks", access.Read, on, missing)
}
