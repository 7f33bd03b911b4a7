package workspace

import (
	"slices"
	"strings"

	"zombiezen.com/go/sqlite"

	"collie/internal/vault/tree"
)

// This file finds blocks by id.

// lastWithID returns the block that last had an id in this transaction, even if it is no longer in a tree; nil if there
// is none.
func (tx *Tx) lastWithID(id string) *tree.Block {
	if b := tx.blocks[id]; b != nil {
		return b
	}
	for _, index := range tx.indexes {
		if b := index[id]; b != nil {
			return b
		}
	}
	return nil
}

// attachedBlock returns the block with an id in a loaded tree, or nil.
func (tx *Tx) attachedBlock(id string) *tree.Block {
	if b := tx.blocks[id]; b != nil && tx.isAttached(b) {
		return b
	}
	for _, index := range tx.indexes {
		if b := index[id]; b != nil && tx.isAttached(b) {
			return b
		}
	}
	return nil
}

// isAttached reports whether b is in the tree of a loaded document.
func (tx *Tx) isAttached(b *tree.Block) bool {
	if b.Doc == nil || storedRow(b.Doc).removed {
		return false
	}
	top := b
	for top.Parent != nil {
		top = top.Parent
	}
	return top == b.Doc.Root
}

// Block returns the block with an id in an open notebook, with its document loaded, or nil.
func (tx *Tx) Block(id string) *tree.Block {
	b := tx.find(id)
	if b == nil || b.Doc == nil || b.Doc.Box.Conf.Closed {
		return nil
	}
	return b
}

// find returns the block with an id in any notebook, with its document loaded, or nil.
func (tx *Tx) find(id string) *tree.Block {
	if b := tx.attachedBlock(id); b != nil && b.Doc.Loaded {
		return b
	}
	for _, d := range tx.docs { // a block with the same id may have replaced it
		if !tx.write || !d.Loaded || storedRow(d).removed {
			continue // in a view nothing replaces another block
		}
		var found *tree.Block
		d.Root.Walk(func(b *tree.Block) {
			if b.ID == id {
				found = b
			}
		})
		if found != nil {
			tx.blocks[id] = found
			return found
		}
	}
	n, found := tx.number("SELECT doc FROM node WHERE id = ?", id)
	if !found {
		return nil
	}
	if d := tx.docs[n]; d != nil && d.Loaded {
		return nil // it was removed in this transaction
	}
	d := tx.docByN(n)
	if d == nil {
		return nil
	}
	tx.Load(d)
	return tx.attachedBlock(id)
}

// Referrers returns the blocks of open notebooks that refer to one of ids, with their documents loaded, oldest first.
func (tx *Tx) Referrers(ids ...string) []*tree.Block {
	tx.Flush()
	idByNumber := map[int64]string{}
	for _, id := range ids {
		tx.query(func(s *sqlite.Stmt) bool {
			idByNumber[s.ColumnInt64(0)] = s.ColumnText(1)
			return true
		}, "SELECT node.n, node.id FROM ref JOIN node ON node.n = ref.node WHERE ref.def = ?", id)
	}
	var found []*tree.Block
	for _, id := range idByNumber {
		if b := tx.Block(id); b != nil {
			found = append(found, b)
		}
	}
	slices.SortFunc(found, func(a, b *tree.Block) int { return strings.Compare(a.ID, b.ID) })
	return found
}
