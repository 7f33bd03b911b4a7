package edit

import (
	"collie/internal/vault/api"
	"collie/internal/vault/markup"
	"collie/internal/vault/tree"
	"collie/internal/vault/workspace"
)

// Update replaces b by the first block of data, which is parsed as by Parse. b keeps its id but no other attributes,
// unless data has them; inner blocks have the ids in data. For a document all blocks are replaced. It returns the
// operations for the answer of updateBlock.
func Update(tx *workspace.Tx, b *tree.Block, dataType, data string) []api.DoOperation {
	SaveBefore(tx, b.Doc)
	if b.Kind == tree.Doc {
		return updateDocument(tx, b, dataType, data)
	}
	parsed := Parse(dataType, data)
	replacement := replacementFor(b, parsed[0])
	if replacement.Attrs == nil {
		replacement.Attrs = map[string]string{}
	}
	replacement.Attrs["id"] = b.ID
	delete(replacement.Attrs, "updated")
	parsed[0] = replacement
	tx.Identify(parsed, idsBelow(b)...)
	op := api.DoOperation{Action: "update", Data: data, ID: b.ID}
	if dataType == markdown {
		op.Data = markup.DOMs(parsed) // including the blocks that are dropped, as in SiYuan
	}
	replace(b, replacement)
	return []api.DoOperation{op}
}

// replacementFor returns the block that replaces b: an item remains an item, and elsewhere a bare item gets a list.
func replacementFor(b, parsed *tree.Block) *tree.Block {
	switch {
	case b.Kind != tree.Item && parsed.Kind == tree.Item:
		list := &tree.Block{Kind: tree.List}
		list.Insert(0, parsed)
		return list
	case b.Kind != tree.Item || parsed.Kind == tree.Item:
		return parsed
	case parsed.Kind == tree.List && len(parsed.Children) > 0:
		item := parsed.Children[0]
		item.Parent = nil
		return item
	}
	item := &tree.Block{Kind: tree.Item, Marker: b.Marker, Task: b.Task}
	item.Insert(0, parsed)
	return item
}

// updateDocument replaces the blocks of a document.
func updateDocument(tx *workspace.Tx, root *tree.Block, dataType, data string) []api.DoOperation {
	var ops []api.DoOperation
	for len(root.Children) > 0 {
		child := root.Children[0]
		ops = append(ops, api.DoOperation{
			Action: "delete", Data: map[string]any{"createEmptyParagraph": false}, ID: child.ID,
		})
		child.Cut()
	}
	blocks := tx.Identify(Parse(dataType, data))
	Put(tx, root, 0, blocks)
	return append(ops, api.DoOperation{
		Action: "insert", Data: Echo(dataType, data, blocks), ID: blocks[0].ID, ParentID: root.ID,
	})
}

// replace moves the content of replacement, which has b's id, into b.
func replace(b, replacement *tree.Block) {
	for len(b.Children) > 0 {
		b.Children[0].Cut()
	}
	b.Kind, b.Text, b.Marker, b.Task, b.Attrs = replacement.Kind, replacement.Text, replacement.Marker, replacement.Task, replacement.Attrs
	b.Insert(0, replacement.Children...)
	b.Stamp()
}

// idsBelow returns the ids of b and of all blocks below it.
func idsBelow(b *tree.Block) []string {
	var ids []string
	b.Walk(func(c *tree.Block) { ids = append(ids, c.ID) })
	return ids
}

// Copy returns a copy of b and all blocks below it with new ids. It belongs to no document.
func Copy(tx *workspace.Tx, b *tree.Block) *tree.Block {
	c := b.Clone()
	c.Walk(func(c *tree.Block) {
		id := tx.NewID()
		c.ID, c.Attrs["id"], c.Attrs["updated"] = id, id, id[:14]
	})
	return c
}
