package block_test

import (
	"testing"

	"collie/internal/vault/block"
	"collie/internal/vault/vaulttest"
	"collie/internal/vault/workspace"
)

// vault is a workspace in a temporary file with the routes of this package, and a notebook.
type vault struct {
	*vaulttest.Vault
	box string
}

// newVault returns a vault with the routes of this package, and a notebook.
func newVault(t *testing.T) *vault {
	t.Helper()
	v := &vault{Vault: vaulttest.New(t, block.Register)}
	v.Update(func(tx *workspace.Tx) { v.box = tx.CreateNotebook("Notes 笔记").ID })
	return v
}

type object = map[string]any

// withWorkspace returns the routes of v over w, another opening of its file.
func (v *vault) withWorkspace(w *workspace.Workspace) *vault {
	return &vault{vaulttest.Over(v.T, w, block.Register), v.box}
}

// createDocument makes a document at the top of the notebook and returns its id and those of its blocks.
func (v *vault) createDocument(title, markdown string) (id string, blocks []string) {
	v.T.Helper()
	return v.AddDocument(v.box, title, markdown)
}

// kramdown returns a block as Markdown with attribute lists.
func (v *vault) kramdown(id string) string {
	v.T.Helper()
	return v.Ask("/api/block/getBlockKramdown", object{"id": id}).Get("kramdown").String()
}

// childIDs returns the ids of the blocks that getChildBlocks lists.
func (v *vault) childIDs(id string) (ids []string) {
	v.T.Helper()
	for _, c := range v.Ask("/api/block/getChildBlocks", object{"id": id}).Array() {
		ids = append(ids, c.Get("id").String())
	}
	return ids
}

// wantSoundTree fails unless the tree of a document is one that can be written and read back.
func (v *vault) wantSoundTree(id string) {
	v.T.Helper()
	err := v.Workspace.View(v.T.Context(), func(tx *workspace.Tx) error {
		d := tx.Document(id)
		if d == nil {
			v.T.Errorf("document %s is gone", id)
			return nil
		}
		for _, wrong := range treeFaults(d) {
			v.T.Error(wrong)
		}
		return nil
	})
	if err != nil {
		v.T.Fatal(err)
	}
}
