// Package vaulttest provides the tests of the vault's endpoints with a workspace in a temporary file, and with ways to
// call it.
//
// Entry points: [New], [Log].
package vaulttest

import (
	"bytes"
	"encoding/json"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tidwall/gjson"

	"collie/internal/vault/api"
	"collie/internal/vault/markup"
	"collie/internal/vault/tree"
	"collie/internal/vault/workspace"
)

// Vault is a workspace with routes. Its methods fail the test at an unexpected error.
type Vault struct {
	T         testing.TB
	Workspace *workspace.Workspace
	Mux       *api.Mux
}

// New creates an empty workspace with the routes of some families. It is closed when the test ends.
func New(t testing.TB, families ...func(*api.Mux)) *Vault {
	t.Helper()
	w, err := workspace.Open(t.Context(), filepath.Join(t.TempDir(), "notes.db"), workspace.Options{CheckTrees: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := w.Close(); err != nil {
			t.Error(err)
		}
	})
	return Over(t, w, families...)
}

// Over adds the routes of some families to a workspace, which the caller closes.
func Over(t testing.TB, w *workspace.Workspace, families ...func(*api.Mux)) *Vault {
	v := &Vault{T: t, Workspace: w, Mux: api.New(w, Log(t))}
	for _, join := range families {
		join(v.Mux)
	}
	return v
}

// Log returns a log for a vault under test: a panic in a request fails the test, even if its client retries.
func Log(t testing.TB) *slog.Logger {
	return slog.New(slog.NewTextHandler(panics{t}, &slog.HandlerOptions{Level: slog.LevelError}))
}

// panics is a log that fails a test at the stack of a panic.
type panics struct{ t testing.TB }

func (p panics) Write(line []byte) (int, error) {
	if bytes.Contains(line, []byte(" stack=")) {
		p.t.Errorf("a request panicked: %s", bytes.ReplaceAll(line, []byte(`\n`), []byte("\n")))
	}
	return len(line), nil
}

// Update changes the workspace directly, without the API.
func (v *Vault) Update(change func(*workspace.Tx)) {
	v.T.Helper()
	err := v.Workspace.Update(v.T.Context(), func(tx *workspace.Tx) error {
		change(tx)
		return nil
	})
	if err != nil {
		v.T.Fatal(err)
	}
}

// View reads the workspace directly, without the API.
func (v *Vault) View(look func(*workspace.Tx)) {
	v.T.Helper()
	err := v.Workspace.View(v.T.Context(), func(tx *workspace.Tx) error {
		look(tx)
		return nil
	})
	if err != nil {
		v.T.Fatal(err)
	}
}

// AddDocument creates a document at the top of a notebook, without the API, and returns its id and the ids of its top-level
// blocks.
func (v *Vault) AddDocument(box, title, markdown string) (id string, blocks []string) {
	v.T.Helper()
	v.Update(func(tx *workspace.Tx) {
		d := tx.AddDocument(tx.Notebook(box), nil, title, "", tx.Identify(markup.Parse(markdown)))
		id = d.ID()
		for _, b := range d.Root.Children {
			blocks = append(blocks, b.ID)
		}
	})
	return id, blocks
}

// Block returns a copy of a block.
func (v *Vault) Block(id string) (b *tree.Block) {
	v.T.Helper()
	v.View(func(tx *workspace.Tx) {
		if found := tx.Block(id); found != nil {
			b = found.Clone()
		}
	})
	if b == nil {
		v.T.Fatalf("no block %s", id)
	}
	return b
}

// Text returns a document as Markdown without attribute lists; "(none)" if there is no such document.
func (v *Vault) Text(id string) string {
	v.T.Helper()
	text := "(none)"
	v.View(func(tx *workspace.Tx) {
		if d := tx.Document(id); d != nil {
			text = markup.Export(d.Root)
		}
	})
	return text
}

// Answer calls a path, which may leave out /api/, and returns the whole envelope. A body is sent as JSON.
func (v *Vault) Answer(path string, body any) gjson.Result {
	v.T.Helper()
	data, err := json.Marshal(body)
	if err != nil {
		v.T.Fatal(err)
	}
	path = "/api/" + strings.TrimPrefix(path, "/api/")
	req := httptest.NewRequestWithContext(v.T.Context(), http.MethodPost, path, strings.NewReader(string(data)))
	rec := httptest.NewRecorder()
	v.Mux.ServeHTTP(rec, req)
	if rec.Code != http.StatusOK {
		v.T.Fatalf("%s %s: status %d: %s", path, data, rec.Code, rec.Body)
	}
	return gjson.ParseBytes(rec.Body.Bytes())
}

// Ask is like Answer for a call that must succeed. It returns the data.
func (v *Vault) Ask(path string, body any) gjson.Result {
	v.T.Helper()
	answer := v.Answer(path, body)
	if answer.Get("code").Int() != 0 {
		v.T.Fatalf("%s %v: %s", path, body, answer.Raw)
	}
	return answer.Get("data")
}

// Refused is like Answer for a call that must fail. It returns the message.
func (v *Vault) Refused(path string, body any) (msg string) {
	v.T.Helper()
	answer := v.Answer(path, body)
	if answer.Get("code").Int() == 0 {
		v.T.Fatalf("%s %v was not refused: %s", path, body, answer.Raw)
	}
	return answer.Get("msg").String()
}
