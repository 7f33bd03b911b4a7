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

func newVault(t *testing.T) *vault {
	t.Helper()
	v := &vault{Vault: vaulttest.New(t, block.Register)}
	v.Update(func(tx *workspace.Tx) { v.box = tx.CreateNotebook("Notes 笔记").ID })
	return v
}

type object = map[string]any

// over returns the routes of v over w, another opening of its file.
func (v *vault) over(w *workspace.Workspace) *vault {
	return &vault{vaulttest.Over(v.T, w, block.Register), v.box}
}

// document makes a document at the top of the notebook and returns its id and those of its blocks.
func (v *vault) document(title, markdown string) (id string, blocks []string) {
	v.T.Helper()
	return v.AddDocument(v.box, title, markdown)
}

func (v *vault) kramdown(id string) string {
	v.T.Helper()
	return v.Ask("/api/block/getBlockKramdown", object{"id": id}).Get("kramdown").String()
}

func (v *vault) children(id string) (ids []string) {
	v.T.Helper()
	for _, c := range v.Ask("/api/block/getChildBlocks", object{"id": id}).Array() {
		ids = append(ids, c.Get("id").String())
	}
	return ids
}

// sound fails unless the tree of a document is one that can be written and read back.
func (v *vault) sound(id string) {
	v.T.Helper()
	err := v.Workspace.View(v.T.Context(), func(tx *workspace.Tx) error {
		d := tx.Document(id)
		if d == nil {
			v.T.Errorf("document %s is gone", id)
			return nil
		}
		for _, wrong := range faults(d) {
			v.T.Error(wrong)
		}
		return nil
	})
	if err != nil {
		v.T.Fatal(err)
	}
}
