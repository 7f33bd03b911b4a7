package block_test

import (
	"slices"
	"strings"
	"testing"

	"collie/internal/vault/workspace"
)

// TestRecentBlocks checks that recently updated paragraphs are listed, the latest first.
func TestRecentBlocks(t *testing.T) {
	t.Parallel()
	v := newVault(t)
	_, old := v.createDocument("Old", "one\n\ntwo\n\n# heading\n\n- item")
	_, fresh := v.createDocument("Fresh", "three")
	for i, id := range []string{old[0], fresh[0], old[1]} {
		v.Ask("/api/transactions", transaction(object{"action": "doUpdateUpdated", "id": id, "data": "2099010100000" + string(rune('0'+i))}))
	}
	var got []string
	for _, b := range v.Ask("/api/block/getRecentUpdatedBlocks", object{}).Array() {
		if b.Get("type").String() != "NodeParagraph" || b.Get("content").String() == "" {
			t.Errorf("the recent list shows %s", b.Raw)
		}
		got = append(got, b.Get("id").String())
	}
	if want := []string{old[1], fresh[0], old[0]}; len(got) != 4 || !slices.Equal(got[:3], want) {
		t.Errorf("the recent list is %v, want %v and the item", got, want)
	}
}

func TestWordCount(t *testing.T) {
	t.Parallel()
	v := newVault(t)
	id, blocks := v.createDocument("Title does not count", "two words\n\n中文 and [a link](https://example.com)")
	all := v.Ask("/api/block/getBlocksWordCount", object{"ids": []string{id, unknown}}).Get("stat")
	one := v.Ask("/api/block/getBlocksWordCount", object{"ids": blocks[:1]}).Get("stat")
	if all.Get("blockCount").Int() != 1 || all.Get("linkCount").Int() != 1 {
		t.Errorf("the document counts as %s", all.Raw)
	}
	if one.Get("wordCount").Int() != 2 || one.Get("runeCount").Int() != 8 {
		t.Errorf("two words count as %s", one.Raw)
	}
}

func TestClosedNotebook(t *testing.T) {
	t.Parallel()
	v := newVault(t)
	id, blocks := v.createDocument("Doc", "text")
	v.Update(func(tx *workspace.Tx) { tx.Notebook(v.box).Conf.Closed = true })
	if got := v.kramdown(blocks[0]); got != "" {
		t.Errorf("a block of a closed notebook shows %q", got)
	}
	if got := v.Refused("/api/block/getBlockInfo", object{"id": blocks[0]}); got != "" {
		t.Errorf("its info says %q", got)
	}
	for path, body := range map[string]object{
		"/api/block/appendBlock":  {"parentID": id, "dataType": "markdown", "data": "x"},
		"/api/block/updateBlock":  {"id": blocks[0], "dataType": "markdown", "data": "x"},
		"/api/block/moveBlock":    {"id": blocks[0], "parentID": id},
		"/api/block/foldBlock":    {"id": blocks[0]},
		"/api/block/getDocInfo":   {"id": id},
		"/api/attr/setBlockAttrs": {"id": id, "attrs": object{"memo": "x"}},
	} {
		v.Refused(path, body)
	}
	v.Ask("/api/block/deleteBlock", object{"id": blocks[0]})
	v.Update(func(tx *workspace.Tx) { tx.Notebook(v.box).Conf.Closed = false })
	if got := v.Text(id); got != "text" {
		t.Errorf("the document holds %q after the notebook was opened again", got)
	}
}

// TestBreadcrumb compares breadcrumbs with those of a kernel. Lists and quotes above a block are left out, items show only their
// first block, and the last crumb, that of the block itself, has no name.
func TestBreadcrumb(t *testing.T) {
	t.Parallel()
	v := newVault(t)
	_, blocks := v.createDocument("Doc", "# h\n\n> ## in quote\n>\n> text\n\n- one\n\n  ## hi\n\n  para\n\n  - deep\n"+strings.Repeat("- item\n", 500)+"\n```\ncode\n```")
	quoted, items := v.childIDs(blocks[1]), v.childIDs(blocks[2])
	inItem := v.childIDs(items[0])
	deep := v.childIDs(inItem[3])[0]
	for id, want := range map[string]string{
		blocks[0]: "NodeHeading:", blocks[1]: "NodeHeading:h NodeBlockquote:", quoted[0]: "NodeHeading:h NodeHeading:",
		quoted[1]: "NodeHeading:h NodeHeading:in quote NodeParagraph:", blocks[2]: "NodeHeading:h NodeList:", items[0]: "NodeHeading:h NodeListItem:",
		inItem[2]: "NodeHeading:h NodeListItem:one NodeParagraph:", inItem[3]: "NodeHeading:h NodeListItem:one NodeList:",
		deep: "NodeHeading:h NodeListItem:one NodeListItem:", v.childIDs(deep)[0]: "NodeHeading:h NodeListItem:one NodeListItem:deep NodeParagraph:",
		blocks[3]: "NodeHeading:h NodeCodeBlock:",
	} {
		var way []string
		for _, c := range v.Ask("/api/block/getBlockBreadcrumb", object{"id": id}).Array()[1:] {
			way = append(way, c.Get("type").Str+":"+c.Get("name").Str)
		}
		if got := strings.Join(way, " "); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}
