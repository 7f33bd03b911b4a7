package edit

import (
	"collie/internal/vault/api"
	"collie/internal/vault/tree"
	"collie/internal/vault/workspace"
)

// Put inserts blocks at index at into a container. The blocks come from Tx.Identify or were cut. In a list, items are
// inserted as they are, lists are replaced by their items, and each other block gets an item of its own. Elsewhere, a
// list is made around items without one.
func Put(tx *workspace.Tx, parent *tree.Block, at int, blocks []*tree.Block) {
	SaveBefore(tx, parent.Doc)
	if parent.Kind == tree.List {
		blocks = asItems(tx, parent, blocks)
	} else {
		blocks = asBlocks(tx, blocks)
	}
	parent.Insert(at, blocks...)
	parent.Stamp()
}

// asItems converts blocks to items of a list.
func asItems(tx *workspace.Tx, list *tree.Block, blocks []*tree.Block) []*tree.Block {
	var items []*tree.Block
	for _, b := range blocks {
		switch b.Kind {
		case tree.List:
			items = append(items, b.Children...)
		case tree.Item:
			items = append(items, b)
		default:
			items = append(items, asItem(tx, list, b))
		}
	}
	return items
}

// asItem wraps b in an item of a list, with the marker of the list's first item.
func asItem(tx *workspace.Tx, list, b *tree.Block) *tree.Block {
	item := wrapIn(tx, tree.Item, b)
	item.Marker = "-"
	if len(list.Children) > 0 {
		item.Marker = list.Children[0].Marker
	}
	return item
}

// asBlocks wraps each run of bare items in a list.
func asBlocks(tx *workspace.Tx, blocks []*tree.Block) []*tree.Block {
	converted := make([]*tree.Block, 0, len(blocks))
	var list *tree.Block // list of the items just before b; nil after another block
	for _, b := range blocks {
		switch {
		case b.Kind != tree.Item:
			converted, list = append(converted, b), nil
		case list == nil:
			list = wrapIn(tx, tree.List, b)
			converted = append(converted, list)
		default:
			list.Insert(len(list.Children), b)
		}
	}
	return converted
}

// wrapIn returns a new container around b.
func wrapIn(tx *workspace.Tx, kind string, b *tree.Block) *tree.Block {
	id := tx.NewID()
	c := &tree.Block{ID: id, Kind: kind, Attrs: map[string]string{"id": id, "updated": id[:14]}}
	c.Insert(0, b)
	return c
}

// Place parses data as Parse does and inserts the blocks at the start or end of a container. It returns the operation
// for the answer of appendBlock and prependBlock.
func Place(tx *workspace.Tx, dataType, data string, parent *tree.Block, last bool) api.DoOperation {
	blocks := tx.Identify(Parse(dataType, data))
	op := api.DoOperation{
		Action: "insert", Data: Echo(dataType, data, blocks), ID: blocks[0].ID, ParentID: parent.ID,
	}
	at := 0
	if last {
		at = len(parent.Children)
		if at > 0 {
			op.PreviousID = parent.Children[at-1].ID
		}
	}
	Put(tx, parent, at, blocks)
	if parent.Kind == tree.List {
		// For a list, the answer has the item that contains the block; if items were inserted, it has no parent.
		op.ParentID, op.PreviousID = "", ""
		if item := blocks[0].Parent; item != nil && item.Kind == tree.Item {
			op.ParentID = item.ID
		}
	}
	return op
}
