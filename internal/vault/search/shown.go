package search

import (
	"encoding/json"
	"html"
	"strings"

	"collie/internal/vault/api"
	"collie/internal/vault/tree"
	"collie/internal/vault/workspace"
)

// This file reads the blocks of hits and marks what matches in them.

// foundColumns are the columns of block_row that make up a found block, so that its document need not be loaded.
const foundColumns = `n, id, parent_id, root_id, box, path, CASE WHEN root_id = box THEN '/' ELSE hpath END, name, alias, memo,
	tag, content, fcontent, markdown, type, subtype, ial, sort`

// foundBlock returns the block in a row of foundColumns.
func foundBlock(row workspace.Row) *api.FoundBlock {
	attrs := tree.ParseIAL(row.Text(16))
	return &api.FoundBlock{
		ID: row.Text(1), ParentID: row.Text(2), RootID: row.Text(3), Box: row.Text(4), Path: row.Text(5), HPath: row.Text(6),
		Name: row.Text(7), Alias: row.Text(8), Memo: row.Text(9), Tag: row.Text(10), Content: row.Text(11),
		FContent: row.Text(12), Markdown: row.Text(13), Type: tree.NodeType(row.Text(14)), SubType: row.Text(15),
		IAL: attrs, Folded: attrs["fold"] == "1", Sort: int(row.Int(17)),
	}
}

// foundByID returns blocks of open notebooks by id. Missing blocks are left out.
func foundByID(tx *workspace.Tx, ids []string) map[string]*api.FoundBlock {
	blocks := map[string]*api.FoundBlock{}
	data, _ := json.Marshal(ids)
	tx.Rows(func(row workspace.Row) bool {
		b := foundBlock(row)
		blocks[b.ID] = b
		return true
	}, "SELECT "+foundColumns+" FROM block_row WHERE closed = 0 AND id IN (SELECT value FROM json_each(?))", string(data))
	return blocks
}

// page returns the blocks of hits, in their order.
func page(tx *workspace.Tx, list []hit) []*api.FoundBlock {
	numbers := make([]int64, len(list))
	for i, h := range list {
		numbers[i] = h.n
	}
	data, _ := json.Marshal(numbers)
	blockByNumber := map[int64]*api.FoundBlock{}
	tx.Rows(func(row workspace.Row) bool {
		blockByNumber[row.Int(0)] = foundBlock(row)
		return true
	}, "SELECT "+foundColumns+" FROM block_row WHERE n IN (SELECT value FROM json_each(?))", string(data))
	blocks := make([]*api.FoundBlock, 0, len(list))
	for _, n := range numbers {
		if b := blockByNumber[n]; b != nil {
			blocks = append(blocks, b)
		}
	}
	return blocks
}

// markHit returns a copy of a block as a hit: its texts are HTML with matches marked, and the path of a document is
// that of its parent.
func markHit(b *api.FoundBlock, mark marker) *api.FoundBlock {
	c := *b
	for _, text := range []*string{&c.Content, &c.Name, &c.Alias, &c.Memo, &c.Tag} {
		*text = mark(*text)
	}
	if isDocument(b) {
		c.HPath = parentPath(b)
	}
	c.HPath = html.EscapeString(c.HPath)
	return &c
}

func isDocument(b *api.FoundBlock) bool { return b.ID == b.RootID }

// parentPath returns the path of titles above a document, with a trailing slash.
func parentPath(d *api.FoundBlock) string {
	return strings.TrimSuffix(strings.TrimSuffix(d.HPath, d.IAL["title"]), "/") + "/"
}

// documentsOf returns the documents of blocks, each once.
func documentsOf(tx *workspace.Tx, list []*api.FoundBlock) []*api.FoundBlock {
	var ids []string
	seen := map[string]bool{}
	for _, b := range list {
		if !seen[b.RootID] {
			seen[b.RootID] = true
			ids = append(ids, b.RootID)
		}
	}
	blockByID := foundByID(tx, ids)
	var roots []*api.FoundBlock
	for _, id := range ids {
		if root := blockByID[id]; root != nil {
			roots = append(roots, root)
		}
	}
	return roots
}
