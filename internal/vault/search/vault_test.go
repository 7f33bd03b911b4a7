package search_test

import (
	"maps"
	"testing"

	"collie/internal/vault/search"
	"collie/internal/vault/vaulttest"
	"collie/internal/vault/workspace"
)

// vault is a workspace in a temporary file with the routes of this package, and a notebook.
type vault struct {
	*vaulttest.Vault
	box string
}

// newVault returns a vault with the routes that the tests of searches call, and a notebook.
func newVault(t testing.TB) *vault {
	t.Helper()
	v := &vault{Vault: vaulttest.New(t, search.Register)}
	v.Update(func(tx *workspace.Tx) { v.box = tx.CreateNotebook("Notes 笔记").ID })
	return v
}

// createDocument makes a document at the top of the notebook and returns its id and those of its blocks.
func (v *vault) createDocument(title, markdown string) (id string, blocks []string) {
	v.T.Helper()
	return v.AddDocument(v.box, title, markdown)
}

type object = map[string]any

// searchContents returns the texts of the hits of a full text search, in their order. The members of more are added to the request.
func (v *vault) searchContents(query string, more object) []string {
	v.T.Helper()
	body := object{"query": query}
	maps.Copy(body, more)
	found := v.Ask("/api/search/fullTextSearchBlock", body)
	texts := []string{}
	for _, b := range found.Get("blocks").Array() {
		texts = append(texts, b.Get("content").String())
	}
	if n := found.Get("matchedBlockCount").Int(); !found.Get("docMode").Bool() && more == nil && int(n) != len(texts) {
		v.T.Errorf("%s: %d hits are counted, %d are shown", query, n, len(texts))
	}
	return texts
}
