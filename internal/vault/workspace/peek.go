package workspace

import (
	"fmt"

	"collie/internal/vault/tree"
)

// Peek returns the root of a document of any notebook, open or closed, with its blocks as the file holds them; nil when
// there is none. id is the document's. The tree is for reading and does not belong to tx, which does not keep it, so
// that many documents can be gone through one after the other. What was changed in trees is seen after Flush.
func (tx *Tx) Peek(id string) *tree.Block {
	n, found := tx.number("SELECT n FROM document WHERE id = ?", id)
	if !found {
		return nil
	}
	d := &tree.Document{Loaded: true}
	byN := map[int64]*tree.Block{}
	for _, r := range tx.readNodes(n) {
		b := r.block()
		b.Stored, b.Doc = nil, d
		byN[r.n] = b
		if r.parent == 0 {
			d.Root = b
			continue
		}
		up := byN[r.parent]
		if up == nil {
			tx.fail(fmt.Errorf("document %s: block %s lies in none: run collie vault check", id, r.id))
			return nil
		}
		b.Parent = up
		up.Children = append(up.Children, b)
	}
	return d.Root
}
