package workspace_test

import (
	"errors"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"collie/internal/vault/markup"
	"collie/internal/vault/tree"
	"collie/internal/vault/workspace"
	"collie/test/await"
)

// TestAppendToALongDocument checks that an append to a long document takes less than a third of the time to read it.
func TestAppendToALongDocument(t *testing.T) {
	t.Parallel()
	const blocks = 5_000
	path := filepath.Join(t.TempDir(), "vault.db")
	w, err := workspace.Open(t.Context(), path, workspace.Options{}) // without CheckTrees, which reads the document
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = w.Close() })
	id := ""
	update(t, w, func(tx *workspace.Tx) {
		paragraphs := make([]*tree.Block, blocks)
		for i := range paragraphs {
			paragraphs[i] = &tree.Block{Kind: tree.Paragraph, Text: "A line of a long document, 一行"}
		}
		id = tx.AddDocument(tx.CreateNotebook("Notes"), nil, "Long", "", tx.Identify(paragraphs)).ID()
	})
	var appends, reads []time.Duration
	for range 7 {
		begun := time.Now()
		update(t, w, func(tx *workspace.Tx) {
			root := tx.Document(id).Root
			root.Insert(len(root.Children), tx.Identify(markup.Parse("one more"))...)
			root.Stamp()
		})
		appends = append(appends, time.Since(begun))
		other, err := workspace.Open(t.Context(), path, workspace.Options{})
		if err != nil {
			t.Fatal(err)
		}
		begun = time.Now()
		view(t, other, func(tx *workspace.Tx) {
			if n := len(tx.Document(id).Root.Children); n != blocks+len(appends) {
				t.Errorf("it has %d blocks after %d appends", n, len(appends))
			}
		})
		reads = append(reads, time.Since(begun))
		if err := other.Close(); err != nil {
			t.Fatal(err)
		}
	}
	slices.Sort(appends)
	slices.Sort(reads)
	t.Logf("append %v, read %v", appends[3], reads[3])
	if appends[3] > reads[3]/3 && !await.Race {
		t.Errorf("an append takes %v, to read the document %v", appends[3], reads[3])
	}
}

// TestTreesAtRest checks that the trees that a workspace keeps in memory between transactions are equal to those in the file. It
// moves blocks between two long documents through two handles, and undoes some of the changes.
func TestTreesAtRest(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "vault.db")
	w, other := open(t, path), open(t, path)
	var ids [2]string
	update(t, w, func(tx *workspace.Tx) {
		box := tx.CreateNotebook("Notes")
		for i := range ids {
			var paragraphs []*tree.Block
			for range 300 {
				paragraphs = append(paragraphs, &tree.Block{Kind: tree.Paragraph, Text: "text"})
			}
			ids[i] = tx.AddDocument(box, nil, "Long", "", tx.Identify(paragraphs)).ID()
		}
	})
	carry := func(w *workspace.Workspace, from, to int, fails bool) {
		err := w.Update(t.Context(), func(tx *workspace.Tx) error {
			a, b := tx.Document(ids[from]), tx.Document(ids[to])
			for range 4 {
				moved := a.Root.Children[len(a.Root.Children)/2]
				moved.Cut()
				b.Root.Insert(3, moved)
				if tx.Block(moved.ID) != moved {
					t.Error("a block that was moved is not found")
				}
			}
			a.Root.Children[0].Cut()
			b.Root.Insert(0, tx.Identify(markup.Parse("new"))...)
			if fails {
				return errors.New("taken back")
			}
			return nil
		})
		if fails != (err != nil) {
			t.Fatal(err)
		}
	}
	for i := range 8 {
		carry([]*workspace.Workspace{w, other}[i/2%2], i%2, 1-i%2, i%5 == 3)
		fresh := open(t, path)
		for _, w := range []*workspace.Workspace{w, other, w} {
			var got, want []string
			texts := func(list *[]string) func(*workspace.Tx) {
				return func(tx *workspace.Tx) {
					for _, id := range ids {
						d := tx.Document(id)
						*list = append(*list, markup.Kramdown(d.Root))
						for _, b := range d.Root.Children {
							if tx.Block(b.ID) != b || b.Doc != d {
								t.Fatalf("step %d: block %s is another one, or in another document", i, b.ID)
							}
						}
					}
				}
			}
			view(t, w, texts(&got))
			view(t, fresh, texts(&want))
			if !slices.Equal(got, want) {
				t.Fatalf("step %d: what is kept differs from the file", i)
			}
		}
	}
}
