package document

import (
	"fmt"

	"collie/internal/vault/api"
	"collie/internal/vault/tree"
	"collie/internal/vault/workspace"
)

// moveDocsByID moves documents, with all documents below them, under a document or to the top of a notebook.
func moveDocsByID(tx *workspace.Tx, req api.Request) api.Reply {
	from, to := req.Strs("fromIDs"), req.ID("toID")
	var docs []*tree.Document
	for _, id := range from {
		d := tx.Document(id)
		if d == nil {
			return api.Notice(treeNotFound, longError)
		}
		docs = append(docs, d)
	}
	box, parent := tx.OpenNotebook(to), (*tree.Document)(nil)
	if box == nil {
		if parent = tx.Document(to); parent == nil {
			return api.Notice(fmt.Sprintf("can't found box or tree by id [%s]", to), longError)
		}
		box = parent.Box
	}
	for _, d := range docs {
		if rep := move(tx, d, box, parent); rep.Code != 0 {
			return rep
		}
	}
	return api.Done()
}

// move moves d under parent. If parent is inside d, it does nothing, without an error.
func move(tx *workspace.Tx, d *tree.Document, box *tree.Notebook, parent *tree.Document) api.Reply {
	switch {
	case d.Hidden():
		return api.Notice(pageIsFixed, longError)
	case parent != nil && parent.Inside(d):
		return api.Done()
	case !fitsDepth(parent, levels(tx, d)):
		return api.Notice(treeTooDeep, longError)
	}
	tx.MoveDocument(d, box, parent)
	return api.Done()
}

// levels returns the number of levels of documents in d, including d itself.
func levels(tx *workspace.Tx, d *tree.Document) int {
	deepest := d.Depth()
	for _, doc := range tx.Below(d) {
		deepest = max(deepest, doc.Depth())
	}
	return deepest - d.Depth() + 1
}
