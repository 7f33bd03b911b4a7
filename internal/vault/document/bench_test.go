package document_test

import (
	"fmt"
	"testing"

	"collie/internal/vault/tree"
	"collie/internal/vault/vaulttest"
	"collie/internal/vault/workspace"
)

// BenchmarkLevels lists 1,000 documents on three levels in a request for each document that has some below it, as the
// file tree of a program does.
func BenchmarkLevels(b *testing.B) {
	v := newVault(b)
	box := v.createNotebook("Library")
	for range 10 {
		v.Update(func(tx *workspace.Tx) {
			top := tx.AddDocument(tx.Notebook(box), nil, "top", "", nil)
			for i := range 9 {
				middle := tx.AddDocument(tx.Notebook(box), top, fmt.Sprintf("middle %d", i), "", nil)
				for k := range 10 {
					text := []*tree.Block{{Kind: tree.Paragraph, Text: "some words"}, {Kind: tree.Paragraph, Text: "more words"}}
					tx.AddDocument(tx.Notebook(box), middle, fmt.Sprintf("leaf %d", k), "", tx.Identify(text))
				}
			}
		})
	}
	for b.Loop() {
		if n := listAllBelow(v.Vault, box, "/"); n != 1000 {
			b.Fatalf("%d documents", n)
		}
	}
}

// listAllBelow lists everything below a path and returns the number of documents.
func listAllBelow(v *vaulttest.Vault, box, path string) (n int) {
	for _, f := range v.Ask("filetree/listDocsByPath", object{"notebook": box, "path": path, "maxListCount": 0}).Get("files").Array() {
		n++
		if f.Get("subFileCount").Int() > 0 {
			n += listAllBelow(v, box, f.Get("path").Str)
		}
	}
	return n
}
