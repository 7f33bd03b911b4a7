package workspace_test

import (
	"fmt"
	"path/filepath"
	"sync"
	"testing"

	"collie/internal/vault/markup"
	"collie/internal/vault/tree"
	"collie/internal/vault/workspace"
)

// TestKeysAreThoseOfTheView writes through two handles while views compare the keys that they get with the blocks that they see.
func TestKeysAreThoseOfTheView(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "vault.db")
	w, other := open(t, path), open(t, path)
	var docs []string
	update(t, w, func(tx *workspace.Tx) {
		box := tx.CreateNotebook("Notes")
		for range 5 {
			docs = append(docs, tx.AddDocument(box, nil, "Doc", "", tx.Identify(markup.Parse("# a\n\nb\n\n- c"))).ID())
		}
	})
	var writers, readers sync.WaitGroup
	done := make(chan struct{})
	for n, handle := range []*workspace.Workspace{w, other} {
		writers.Go(func() {
			for i := range 60 {
				err := handle.Update(t.Context(), func(tx *workspace.Tx) error {
					from, to := tx.Document(docs[(i+n)%5]).Root, tx.Document(docs[(i+3)%5]).Root
					if len(from.Children) > 2 {
						b := from.Children[0]
						b.Cut()
						to.Insert(1, b)
					}
					to.Insert(0, tx.Identify([]*tree.Block{{Kind: tree.Paragraph, Text: fmt.Sprint("new ", i)}})...)
					to.Children[0].Attrs["updated"] = fmt.Sprintf("20240101%06d", i)
					return nil
				})
				if err != nil {
					t.Error(err)
				}
			}
		})
	}
	for range 3 {
		readers.Go(func() {
			for {
				select {
				case <-done:
					return
				default:
				}
				err := w.View(t.Context(), func(tx *workspace.Tx) error {
					keys := tx.Keys()
					tx.Rows(func(row workspace.Row) bool {
						key, found := keys.At(row.Int(0))
						if !found || key.Doc != row.Int(1) || keys.Kinds()[key.Kind] != row.Text(2) || key.Sort != int(row.Int(3)) ||
							key.Odd != "" || fmt.Sprintf("%014d", key.Stamp-1) != row.Text(4) {
							t.Errorf("block %d of document %d, %s: the key is %+v, %t", row.Int(0), row.Int(1), row.Text(4), key, found)
							return false
						}
						return true
					}, "SELECT n, doc, type, sort, updated FROM node")
					return nil
				})
				if err != nil {
					t.Error(err)
				}
			}
		})
	}
	writers.Wait()
	close(done)
	readers.Wait()
}
