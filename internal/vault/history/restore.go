package history

import (
	"path"
	"slices"

	"collie/internal/vault/api"
	"collie/internal/vault/markup"
	"collie/internal/vault/tree"
	"collie/internal/vault/workspace"
)

// restoreDocument restores a document, with its times, from a .sy file. If the document exists, its blocks are
// replaced, wherever it is now. Otherwise it is created at a path of a notebook, or at the top of the notebook if the
// document above is gone. Blocks keep their ids, except those that another document has by now.
func restoreDocument(tx *workspace.Tx, boxID, at string, data []byte) api.Reply {
	root, err := markup.ParseSY(data)
	if err != nil {
		return api.Fail(-1, err.Error())
	}
	if path.Base(at) != root.ID+".sy" { // somebody put the file of another document there
		return api.Fail(-1, "the copy at "+at+" is one of "+root.ID)
	}
	d := tx.Document(root.ID)
	if d == nil {
		return recreateDocument(tx, boxID, at, root)
	}
	for _, b := range slices.Clone(d.Root.Children) {
		b.Cut()
	}
	d.Root.Attrs = root.Attrs
	d.Root.Insert(0, blocksOf(tx, root)...)
	return api.Done()
}

// recreateDocument creates a removed document again.
func recreateDocument(tx *workspace.Tx, boxID, at string, root *tree.Block) api.Reply {
	box := tx.OpenNotebook(boxID)
	if box == nil {
		return api.Fail(-1, "notebook not found or not open: "+boxID)
	}
	if tx.DocumentExists(root.ID) {
		return api.Fail(-1, "the document is in a notebook that is closed: "+root.ID)
	}
	parent := tx.Document(path.Base(path.Dir(at)))
	if parent != nil && (parent.Box.ID != boxID || parent.Depth() >= tree.MaxDepth) {
		parent = nil
	}
	d := tx.AddDocument(box, parent, root.Attrs["title"], root.ID, blocksOf(tx, root))
	if d.Root.ID == root.ID {
		d.Root.Attrs = root.Attrs
	}
	return api.Done()
}

// blocksOf returns the blocks of a saved document, ready to be inserted into a tree of tx.
func blocksOf(tx *workspace.Tx, root *tree.Block) []*tree.Block {
	blocks := slices.Clone(root.Children)
	for _, b := range blocks {
		b.Cut()
	}
	if len(blocks) == 0 {
		return []*tree.Block{tx.EmptyParagraph()}
	}
	return tx.Identify(blocks)
}
