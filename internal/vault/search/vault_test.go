package search_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tidwall/gjson"

	"collie/internal/vault/api"
	"collie/internal/vault/markup"
	"collie/internal/vault/search"
	"collie/internal/vault/tree"
	"collie/internal/vault/workspace"
)

// vault is a workspace in a temporary file with the routes of this package.
type vault struct {
	t         testing.TB
	workspace *workspace.Workspace
	mux       *api.Mux
	box       string
}

func newVault(t testing.TB) *vault {
	t.Helper()
	w, err := workspace.Open(t.Context(), filepath.Join(t.TempDir(), "notes.db"), workspace.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := w.Close(); err != nil {
			t.Error(err)
		}
	})
	v := &vault{t: t, workspace: w, mux: api.New(w, nil)}
	search.Join(v.mux)
	v.update(func(tx *workspace.Tx) { v.box = tx.CreateNotebook("Notes 笔记").ID })
	return v
}

// update changes the workspace behind the API's back.
func (v *vault) update(fn func(*workspace.Tx)) {
	v.t.Helper()
	err := v.workspace.Update(v.t.Context(), func(tx *workspace.Tx) error {
		fn(tx)
		return nil
	})
	if err != nil {
		v.t.Fatal(err)
	}
}

// document makes a document at the top of the notebook and returns its id and those of its blocks.
func (v *vault) document(title, markdown string) (id string, blocks []string) {
	v.t.Helper()
	v.update(func(tx *workspace.Tx) {
		d := tx.AddDocument(tx.Notebook(v.box), nil, title, "", tx.Identify(markup.Parse(markdown)))
		id = d.ID()
		for _, b := range d.Root.Children {
			blocks = append(blocks, b.ID)
		}
	})
	return id, blocks
}

// block reads a block.
func (v *vault) block(id string) (b *tree.Block) {
	v.t.Helper()
	v.update(func(tx *workspace.Tx) {
		if found := tx.Block(id); found != nil {
			b = found.Clone()
		}
	})
	if b == nil {
		v.t.Fatalf("no block %s", id)
	}
	return b
}

type object = map[string]any

// answer asks for path and returns the whole envelope.
func (v *vault) answer(path string, body any) gjson.Result {
	v.t.Helper()
	data, err := json.Marshal(body)
	if err != nil {
		v.t.Fatal(err)
	}
	req := httptest.NewRequestWithContext(v.t.Context(), http.MethodPost, path, strings.NewReader(string(data)))
	rec := httptest.NewRecorder()
	v.mux.ServeHTTP(rec, req)
	if rec.Code != http.StatusOK {
		v.t.Fatalf("%s %s: status %d: %s", path, data, rec.Code, rec.Body)
	}
	return gjson.ParseBytes(rec.Body.Bytes())
}

// ask is the data of an answer of code 0.
func (v *vault) ask(path string, body any) gjson.Result {
	v.t.Helper()
	answer := v.answer(path, body)
	if answer.Get("code").Int() != 0 {
		v.t.Fatalf("%s %v: %s", path, body, answer.Raw)
	}
	return answer.Get("data")
}

// contents are the texts of the hits of a full text search, in their order.
func (v *vault) contents(query string, more object) []string {
	v.t.Helper()
	body := object{"query": query}
	for key, value := range more {
		body[key] = value
	}
	found := v.ask("/api/search/fullTextSearchBlock", body)
	texts := []string{}
	for _, b := range found.Get("blocks").Array() {
		texts = append(texts, b.Get("content").String())
	}
	if n := found.Get("matchedBlockCount").Int(); !found.Get("docMode").Bool() && more == nil && int(n) != len(texts) {
		v.t.Errorf("%s: %d hits are counted, %d are shown", query, n, len(texts))
	}
	return texts
}
