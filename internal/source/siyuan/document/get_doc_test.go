package document_test

import (
	"strings"
	"testing"

	"collie/internal/source/siyuan/access"
	"collie/internal/source/siyuan/action/actiontest"
	"collie/internal/source/siyuan/kernel"
	"collie/internal/tool"
)

func TestGetDoc(t *testing.T) {
	t.Parallel()
	k := actiontest.New(t)
	nb := k.Notebook("笔记")
	id := k.Doc(nb, "/P/D", "# 标题\n\nfirst **bold**\n\nsecond")
	blocks, err := k.Client.ChildBlocks(t.Context(), kernel.ID(id))
	if err != nil {
		t.Fatal(err)
	}
	for _, named := range []string{id, string(blocks[1].ID)} {
		got := k.Must(t, findAction(t, "get_doc"), args("id", named))
		if got.Get("id").String() != id || got.Get("hPath").String() != "/P/D" || got.Get("notebookName").String() != "笔记" ||
			got.Get("mode").String() != "markdown" || got.Get("totalBlocks").Int() != 3 || got.Get("truncated").Bool() {
			t.Errorf("read %s", got.Raw)
		}
		if text := got.Get("content").String(); !strings.Contains(text, "first **bold**") || strings.Contains(text, "{:") { // no attributes of blocks
			t.Errorf("the text is %q", text)
		}
	}
	got := k.Must(t, findAction(t, "get_doc"), args("id", id, "blockStart", 1, "blockLimit", 1))
	if got.Get("returnedBlocks").Int() != 1 || got.Get("nextWindow.blockStart").Int() != 2 || strings.Contains(got.Get("content").String(), "标题") {
		t.Errorf("a window: %s", got.Raw)
	}
	got = k.Must(t, findAction(t, "get_doc"), args("id", id, "mode", "html"))
	if got.Get("mode").String() != "html" || !strings.Contains(got.Get("content").String(), `data-node-id="`+string(blocks[0].ID)) || got.Get("blockCount").Int() != 3 {
		t.Errorf("as HTML: %s", got.Raw)
	}
	k.Refused(t, findAction(t, "get_doc"), `{}`, tool.Invalid)
	on, missing := guardedByID("id")
	checkGuarded(t, "get_doc", access.Read, on, missing)
}
