package history

import (
	"path"
	"slices"

	"collie/internal/vault/api"
	"collie/internal/vault/markup"
	"collie/internal/vault/tree"
	"collie/internal/vault/workspace"
)

// restore restores the document of a .sy file, including its times. If the document exists, its blocks are replaced,
// wherever it is now. Otherwise it is created at a path of a notebook, or at the top if the document above is gone.
// Blocks keep their ids, except ids that are in another document now.
func restoreDocument(tx *workspace.Tx, boxID, at string, data []byte) api.Reply {
	kept, err := markup.ParseSY(data)
	if err != nil {
		return api.Fail(-1, err.Error())
	}
	if path.Base(at) != kept.ID+".sy" { // somebody put the file of another document there
		return api.Fail(-1, "the copy at "+at+" is one of "+kept.ID)
	}
	d := tx.Document(kept.ID)
	if d == nil {
		return recreateDocument(tx, boxID, at, kept)
	}
	for _, b := range slices.Clone(d.Root.Children) {
		b.Cut()
	}
	d.Root.Attrs = kept.Attrs
	d.Root.Insert(0, blocksOf(tx, kept)...)
	return api.Done()
}

// revive creates a removed document again.
func recreateDocument(tx *workspace.Tx, boxID, at string, kept *tree.Block) api.Reply {
	box := tx.OpenNotebook(boxID)
	if box == nil {
		return api.Fail(-1, "notebook not found or not open: "+boxID)
	}
	if tx.DocumentTaken(kept.ID) {
		return api.Fail(-1, "the document is in a notebook that is closed: "+kept.ID)
	}
	parent := tx.Document(path.Base(path.Dir(at)))
	if parent != nil && (parent.Box.ID != boxID || parent.Depth() >= tree.MaxDepth) {
		parent = nil
	}
	d := tx.AddDocument(box, parent, kept.Attrs["title"], kept.ID, blocksOf(tx, kept))
	if d.Root.ID == kept.ID {
		d.Root.Attrs = kept.Attrs
	}
	return api.Done()
}

// blocksOf returns the blocks of a saved document, ready to be inserted into a tree of tx.
func blocksOf(tx *workspace.Tx, kept *tree.Block) []*tree.Block {
	blocks := slices.Clone(kept.Children)
	for _, b := range blocks {
		b.Cut()
	}
	if len(blocks) == 0 {
		return []*tree.Block{tx.EmptyParagraph()}
	}
	return tx.Identify(blocks)
}
