package document_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tidwall/gjson"

	"collie/internal/vault/api"
	"collie/internal/vault/document"
	"collie/internal/vault/markup"
	"collie/internal/vault/tree"
	"collie/internal/vault/workspace"
)

type object = map[string]any

// vault is a workspace in a temporary file with the routes of this package.
type vault struct {
	t         testing.TB
	workspace *workspace.Workspace
	mux       *api.Mux
}

func newVault(t testing.TB) *vault {
	t.Helper()
	w, err := workspace.Open(t.Context(), filepath.Join(t.TempDir(), "notes.db"), workspace.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = w.Close() })
	v := &vault{t: t, workspace: w, mux: api.New(w, nil)}
	document.Join(v.mux)
	return v
}

// answer asks for path and returns the whole envelope.
func (v *vault) answer(path string, body any) gjson.Result {
	v.t.Helper()
	data, err := json.Marshal(body)
	if err != nil {
		v.t.Fatal(err)
	}
	req := httptest.NewRequestWithContext(v.t.Context(), http.MethodPost, "/api/"+path, strings.NewReader(string(data)))
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

// refused asks for what must be refused, with a message that holds part.
func (v *vault) refused(path string, body any, part string) {
	v.t.Helper()
	answer := v.answer(path, body)
	if answer.Get("code").Int() == 0 || !strings.Contains(answer.Get("msg").Str, part) {
		v.t.Errorf("%s %v: %s, want an error with %q", path, body, answer.Raw, part)
	}
}

func (v *vault) notebook(name string) string {
	v.t.Helper()
	return v.ask("notebook/createNotebook", object{"name": name}).Get("notebook.id").Str
}

func (v *vault) document(box, path, markdown string) string {
	v.t.Helper()
	return v.ask("filetree/createDocWithMd", object{"notebook": box, "path": path, "markdown": markdown}).Str
}

func (v *vault) view(look func(*workspace.Tx)) {
	v.t.Helper()
	err := v.workspace.View(v.t.Context(), func(tx *workspace.Tx) error {
		look(tx)
		return nil
	})
	if err != nil {
		v.t.Fatal(err)
	}
}

func (v *vault) update(change func(*workspace.Tx)) {
	v.t.Helper()
	err := v.workspace.Update(v.t.Context(), func(tx *workspace.Tx) error {
		change(tx)
		return nil
	})
	if err != nil {
		v.t.Fatal(err)
	}
}

// text is a document as Markdown without attribute lists; "(none)" when there is no such document.
func (v *vault) text(id string) string {
	v.t.Helper()
	text := "(none)"
	v.view(func(tx *workspace.Tx) {
		if d := tx.Document(id); d != nil {
			text = markup.Export(d.Root)
		}
	})
	return text
}

// find is the id of the block of a document with a text.
func (v *vault) find(doc, content string) (id string) {
	v.t.Helper()
	v.view(func(tx *workspace.Tx) {
		tx.Document(doc).Root.Walk(func(b *tree.Block) {
			if id == "" && b.Kind != tree.Doc && strings.TrimSpace(markup.Content(b)) == content {
				id = b.ID
			}
		})
	})
	if id == "" {
		v.t.Fatalf("no block of %s says %q", doc, content)
	}
	return id
}

// history are the paths of what the history keeps, without its times.
func (v *vault) history() (paths []string) {
	v.t.Helper()
	v.view(func(tx *workspace.Tx) {
		for _, f := range tx.FilesBelow("/history") {
			if !f.Dir {
				paths = append(paths, f.Path[len("/history/2006-01-02-150405-"):])
			}
		}
	})
	return paths
}
