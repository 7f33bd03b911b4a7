package edit

import (
	"collie/internal/vault/tree"
	"collie/internal/vault/workspace"
)

// Detach removes blocks, each with all below it, from their documents. A container left empty is removed too, and a
// document left empty gets an empty paragraph. Documents and blocks without a parent are skipped.
func Detach(tx *workspace.Tx, blocks ...*tree.Block) {
	remaining := make([]*tree.Block, 0, len(blocks))
	for _, b := range blocks {
		if parent := b.Parent; parent != nil {
			KeepBefore(tx, b.Doc)
			b.Cut()
			remaining = append(remaining, parent)
		}
	}
	for _, parent := range remaining {
		repairContainer(tx, parent)
	}
}

// repairContainer repairs the container from which blocks were removed.
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

// Move puts b after target or, if after is false, first into target, which must be a container. It does nothing if
// that is b itself, below b, or after a document.
func Move(tx *workspace.Tx, b, target *tree.Block, after bool) {
	if b.Parent == nil || target.Inside(b) || after && target.Parent == nil {
		return
	}
	KeepBefore(tx, b.Doc)
	KeepBefore(tx, target.Doc)
	from := b.Parent
	b.Cut()
	into, at := target, 0
	if after {
		into, at = target.Parent, target.Index()+1
	}
	whole := b
	if into.Kind == tree.List && b.Kind == tree.List {
		whole = asItem(tx, into, b) // Put would take b apart
	}
	Put(tx, into, at, []*tree.Block{whole})
	b.Stamp()
	// Only now, since b may leave target empty.
	repairContainer(tx, from)
}
