package history_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tidwall/gjson"

	"collie/internal/vault/api"
	"collie/internal/vault/history"
	"collie/internal/vault/markup"
	"collie/internal/vault/tree"
	"collie/internal/vault/workspace"
)

const nowhere = "20990101000000-zzzzzzz"

// world is a workspace with one notebook that only the endpoints of the history reach.
type world struct {
	t   testing.TB
	ws  *workspace.Workspace
	mux *api.Mux
	nb  string
}

func newWorld(t testing.TB) *world {
	t.Helper()
	ws, err := workspace.Open(t.Context(), filepath.Join(t.TempDir(), "notes.db"), workspace.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = ws.Close() })
	w := &world{t: t, ws: ws, mux: api.New(ws, nil)}
	history.Join(w.mux)
	w.update(func(tx *workspace.Tx) { w.nb = tx.CreateNotebook("History 历史").ID })
	return w
}

func (w *world) update(fn func(*workspace.Tx)) {
	w.t.Helper()
	if err := w.ws.Update(w.t.Context(), func(tx *workspace.Tx) error { fn(tx); return nil }); err != nil {
		w.t.Fatal(err)
	}
}

// doc makes a document below another one, or at the top where that is "".
func (w *world) doc(parent, title, markdown string) (id string) {
	w.t.Helper()
	w.update(func(tx *workspace.Tx) {
		var above *tree.Document
		if parent != "" {
			above = tx.Document(parent)
		}
		id = tx.AddDocument(tx.Notebook(w.nb), above, title, "", tx.Identify(markup.Parse(markdown))).ID()
	})
	return id
}

// write replaces the text of the first block of a document.
func (w *world) write(doc, text string) {
	w.t.Helper()
	w.update(func(tx *workspace.Tx) {
		b := tx.Document(doc).Root.Children[0]
		b.Text = text
		b.Stamp()
	})
}

// sy is a document as the file it would be, "" without one.
func (w *world) sy(doc string) (data string) {
	w.t.Helper()
	w.update(func(tx *workspace.Tx) {
		if d := tx.Document(doc); d != nil {
			data = string(markup.SY(d))
		}
	})
	return data
}

// ask calls an endpoint and returns the whole answer.
func (w *world) ask(endpoint, format string, args ...any) gjson.Result {
	w.t.Helper()
	rec := httptest.NewRecorder()
	body := strings.NewReader(fmt.Sprintf(format, args...))
	w.mux.ServeHTTP(rec, httptest.NewRequestWithContext(w.t.Context(), http.MethodPost, "/api/"+endpoint, body))
	if !gjson.ValidBytes(rec.Body.Bytes()) {
		w.t.Fatalf("%s: %s", endpoint, rec.Body)
	}
	return gjson.ParseBytes(rec.Body.Bytes())
}

// must is the data of an answer of code 0.
func (w *world) must(endpoint, format string, args ...any) gjson.Result {
	w.t.Helper()
	got := w.ask(endpoint, format, args...)
	if got.Get("code").Int() != 0 {
		w.t.Fatalf("%s: %s", endpoint, got.Raw)
	}
	return got.Get("data")
}

// count is how many rows a query of ours answers.
func (w *world) count(from string, args ...any) (n int64) {
	w.t.Helper()
	w.update(func(tx *workspace.Tx) {
		tx.Rows(func(row workspace.Row) bool { n = row.Int(0); return false }, "SELECT count(*) FROM "+from, args...)
	})
	return n
}
