package workspace_test

import (
	"path/filepath"
	"strings"
	"testing"

	"collie/internal/vault/markup"
	"collie/internal/vault/workspace"
)

// BenchmarkAppend appends a paragraph to a document of 100 blocks.
func BenchmarkAppend(b *testing.B) {
	w, err := workspace.Open(b.Context(), filepath.Join(b.TempDir(), "vault.db"), workspace.Options{})
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = w.Close() }()
	var ids []string
	err = w.Update(b.Context(), func(tx *workspace.Tx) error {
		box := tx.CreateNotebook("Notes")
		for range 50 {
			ids = append(ids, tx.AddDocument(box, nil, "Plan", "", tx.Identify(markup.Parse(strings.Repeat("some words 一些文字\n\n", 100)))).ID())
		}
		return nil
	})
	if err != nil {
		b.Fatal(err)
	}
	i := 0
	for b.Loop() {
		i++
		err := w.Update(b.Context(), func(tx *workspace.Tx) error {
			root := tx.Document(ids[i%len(ids)]).Root
			root.Insert(len(root.Children), tx.Identify(markup.Parse("one more paragraph of text, 再来一段"))...)
			root.Stamp()
			return nil
		})
		if err != nil {
			b.Fatal(err)
		}
	}
}
