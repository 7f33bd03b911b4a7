package workspace

import (
	"slices"
	"time"

	"collie/internal/vault/tree"
)

// NewID returns an id that no block, document or notebook has. It is random, and the unique index of ids guards against
// a collision with a block that is not loaded.
func (tx *Tx) NewID() string {
	for {
		if id := tree.RandomID(); tx.lastWithID(id) == nil {
			return id // one of 36^7 for each second; the unique index guards the rest
		}
	}
}

// BlockExists reports whether any notebook has a block with this id.
func (tx *Tx) BlockExists(id string) bool {
	if tx.attachedBlock(id) != nil {
		return true
	}
	_, found := tx.number("SELECT 1 FROM node WHERE id = ?", id)
	return found
}

// EmptyParagraph returns a new paragraph without text, for a document without blocks.
func (tx *Tx) EmptyParagraph() *tree.Block {
	id := tx.NewID()
	b := &tree.Block{ID: id, Kind: tree.Paragraph, Attrs: map[string]string{"id": id, "updated": id[:14]}}
	tx.blocks[id] = b
	return b
}

// Identify gives parsed blocks, and all blocks in them, the ids and times that they lack, and returns them. An id from
// the input is kept unless another block has it. keep has the ids of blocks that are to be replaced, as in an update:
// the first new block with such an id keeps it and gets the current time.
func (tx *Tx) Identify(blocks []*tree.Block, keep ...string) []*tree.Block {
	replaced := map[string]bool{}
	for _, b := range blocks {
		b.Walk(func(b *tree.Block) {
			if b.Attrs == nil {
				b.Attrs = map[string]string{}
			}
			id := b.Attrs["id"]
			isReplaced := slices.Contains(keep, id) && !replaced[id]
			if !tree.ValidID(id) || !isReplaced && tx.isTaken(id, b) {
				id = tx.NewID()
			}
			if isReplaced {
				replaced[id] = true
			}
			b.ID, b.Attrs["id"] = id, id
			tx.blocks[id] = b
			switch {
			case isReplaced:
				b.Attrs["updated"] = tree.Stamp(time.Now())
			case b.Attrs["updated"] == "":
				b.Attrs["updated"] = id[:14]
			}
			for _, child := range b.Children {
				child.Parent = b
			}
		})
	}
	return blocks
}

// isTaken reports whether a block other than b has an id, including one that was just given it.
func (tx *Tx) isTaken(id string, b *tree.Block) bool {
	if tx.attachedBlock(id) != nil {
		return true
	}
	if last := tx.lastWithID(id); last != nil && last != b && last.Doc == nil && last.Stored == nil {
		return true // new, and not inserted yet
	}
	doc, found := tx.number("SELECT doc FROM node WHERE id = ?", id)
	if !found {
		return false
	}
	d := tx.docs[doc]
	return d == nil || !d.Loaded // of a loaded document: it was removed, or attachedBlock would have found it
}
