package workspace_test

import (
	"path/filepath"
	"testing"

	"collie/internal/vault/markup"
	"collie/internal/vault/workspace"
)

// TestCheckSeesTheLatestIndex checks a file through a connection that searched it before others wrote: what that
// connection remembers of the full text index must not be taken for what the file holds.
func TestCheckSeesTheLatestIndex(t *testing.T) {
	t.Parallel()
	w, err := workspace.Open(t.Context(), filepath.Join(t.TempDir(), "vault.db"), workspace.Options{Readers: 1})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = w.Close() })
	var id string
	update := func(fn func(*workspace.Tx)) {
		t.Helper()
		if err := w.Update(t.Context(), func(tx *workspace.Tx) error { fn(tx); return nil }); err != nil {
			t.Fatal(err)
		}
	}
	update(func(tx *workspace.Tx) {
		id = tx.AddDocument(tx.CreateNotebook("Notes"), nil, "Plan", "", tx.Identify(markup.Parse("first"))).ID()
	})
	for range 40 { // so that segments of the index are merged and old ones are removed
		err := w.View(t.Context(), func(tx *workspace.Tx) error {
			tx.Rows(func(workspace.Row) bool { return false }, "SELECT rowid FROM blocks_fts WHERE blocks_fts MATCH 'first'")
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		update(func(tx *workspace.Tx) {
			root := tx.Document(id).Root
			root.Insert(0, tx.Identify(markup.Parse("more words first 再来一段文字"))...)
		})
		if problems, err := w.Check(t.Context(), nil); err != nil || len(problems) > 0 {
			t.Fatalf("problems %v, error %v", problems, err)
		}
	}
}
