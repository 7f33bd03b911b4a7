package edit

import (
	"collie/internal/vault/api"
	"collie/internal/vault/markup"
	"collie/internal/vault/tree"
	"collie/internal/vault/workspace"
)

// Update replaces b by the first block of data, read as Parse does. It keeps b's id and loses the other attributes
// unless data brings them; blocks below keep the ids that data names. Of a document it replaces all blocks. What it
// returns is the operations that updateBlock answers.
func Update(tx *workspace.Tx, b *tree.Block, dataType, data string) []api.DoOperation {
	KeepBefore(tx, b.Doc)
	if b.Kind == tree.Doc {
		return updateDocument(tx, b, dataType, data)
	}
	parsed := Parse(dataType, data)
	fresh := successor(b, parsed[0])
	if fresh.Attrs == nil {
		fresh.Attrs = map[string]string{}
	}
	fresh.Attrs["id"] = b.ID
	delete(fresh.Attrs, "updated")
	parsed[0] = fresh
	tx.Identify(parsed, idsBelow(b)...)
	op := api.DoOperation{Action: "update", Data: data, ID: b.ID}
	if dataType == markdown {
		op.Data = markup.DOMs(parsed) // with the blocks that are left out, as in SiYuan
	}
	replace(b, fresh)
	return []api.DoOperation{op}
}

// successor is what takes b's place when it is updated with parsed: items stay items, and elsewhere a bare item gets a
// list.
func successor(b, parsed *tree.Block) *tree.Block {
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

// replace gives b the content of fresh, which has its id.
func replace(b, fresh *tree.Block) {
	for len(b.Children) > 0 {
		b.Children[0].Cut()
	}
	b.Kind, b.Text, b.Marker, b.Task, b.Attrs = fresh.Kind, fresh.Text, fresh.Marker, fresh.Task, fresh.Attrs
	b.Insert(0, fresh.Children...)
	b.Stamp()
}

// idsBelow are the ids of b and all below it.
func idsBelow(b *tree.Block) []string {
	var ids []string
	b.Walk(func(c *tree.Block) { ids = append(ids, c.ID) })
	return ids
}

// Copy returns a copy of b, with all below it under new ids, that lies in no document.
func Copy(tx *workspace.Tx, b *tree.Block) *tree.Block {
	c := b.Clone()
	c.Walk(func(c *tree.Block) {
		id := tx.NewID()
		c.ID, c.Attrs["id"], c.Attrs["updated"] = id, id, id[:14]
	})
	return c
}
