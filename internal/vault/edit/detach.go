package edit

import (
	"collie/internal/vault/tree"
	"collie/internal/vault/workspace"
)

// Detach takes blocks out of their documents, each with all below it. A container that is left empty goes too, and a
// document that is left empty gets an empty paragraph. Documents and blocks without a parent are left alone.
func Detach(tx *workspace.Tx, blocks ...*tree.Block) {
	left := make([]*tree.Block, 0, len(blocks))
	for _, b := range blocks {
		if parent := b.Parent; parent != nil {
			KeepBefore(tx, b.Doc)
			b.Cut()
			left = append(left, parent)
		}
	}
	for _, parent := range left {
		mend(tx, parent)
	}
}

// mend puts right what blocks were taken out of.
func mend(tx *workspace.Tx, b *tree.Block) {
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

// Move puts b behind target or, without after, first into target, which must be a container. Into itself, below itself
// and behind a document it does not move.
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
	// Only now: target may be what b leaves empty.
	mend(tx, from)
}
