package edit

import (
	"collie/internal/vault/tree"
	"collie/internal/vault/workspace"
)

// Detach removes blocks, each with everything below it, from their documents. A container that becomes empty is removed
// too; a document that becomes empty gets an empty paragraph. Documents and blocks without a parent are skipped.
func Detach(tx *workspace.Tx, blocks ...*tree.Block) {
	remaining := make([]*tree.Block, 0, len(blocks))
	for _, b := range blocks {
		if parent := b.Parent; parent != nil {
			SaveBefore(tx, b.Doc)
			b.Cut()
			remaining = append(remaining, parent)
		}
	}
	for _, parent := range remaining {
		repairContainer(tx, parent)
	}
}

// repairContainer removes or fills a container from which blocks were removed, if it is empty.
func repairContainer(tx *workspace.Tx, b *tree.Block) {
	for len(b.Children) == 0 && b.Kind != tree.Doc && b.Parent != nil {
		parent := b.Parent
		b.Cut()
		b = parent
	}
	if len(b.Children) == 0 && b.Kind == tree.Doc {
		b.Insert(0, tx.EmptyParagraph())
	}
	b.Stamp()
}

// Move moves b after target or, if after is false, to the start of target, which must be a container. It does nothing
// if b would end up inside itself or after a document.
func Move(tx *workspace.Tx, b, target *tree.Block, after bool) {
	if b.Parent == nil || target.Inside(b) || after && target.Parent == nil {
		return
	}
	SaveBefore(tx, b.Doc)
	SaveBefore(tx, target.Doc)
	oldParent := b.Parent
	b.Cut()
	into, at := target, 0
	if after {
		into, at = target.Parent, target.Index()+1
	}
	inserted := b
	if into.Kind == tree.List && b.Kind == tree.List {
		inserted = asItem(tx, into, b) // Put would insert the items of b
	}
	Put(tx, into, at, []*tree.Block{inserted})
	b.Stamp()
	// Not earlier: without b, target itself may have been empty, and would have been removed.
	repairContainer(tx, oldParent)
}
