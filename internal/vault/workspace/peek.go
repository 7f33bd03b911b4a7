package workspace

import (
	"fmt"

	"collie/internal/vault/tree"
)

// Peek returns the root of the document with an id, in any notebook, with its blocks as the file has them; nil if there
// is none. The tree is for reading only and does not belong to tx, so that many documents can be read one after the
// other without staying in memory. It has changes to trees only after Flush.
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
