package history_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/tidwall/gjson"

	"collie/internal/vault/history"
	"collie/internal/vault/markup"
	"collie/internal/vault/tree"
	"collie/internal/vault/vaulttest"
	"collie/internal/vault/workspace"
)

// nowhere is an id that no document or notebook has.
const nowhere = "20990101000000-zzzzzzz"

// fixture is a workspace with one notebook and the routes of this package only.
type fixture struct {
	*vaulttest.Vault
	nb string
}

// newFixture returns a workspace with one notebook and the routes of the history.
func newFixture(t testing.TB) *fixture {
	t.Helper()
	w := &fixture{Vault: vaulttest.New(t, history.Register)}
	w.Update(func(tx *workspace.Tx) { w.nb = tx.CreateNotebook("History 历史").ID })
	return w
}

// createDoc makes a document below another one, or at the top where that is "".
func (w *fixture) createDoc(parent, title, markdown string) (id string) {
	w.T.Helper()
	w.Update(func(tx *workspace.Tx) {
		var above *tree.Document
		if parent != "" {
			above = tx.Document(parent)
		}
		id = tx.AddDocument(tx.Notebook(w.nb), above, title, "", tx.Identify(markup.Parse(markdown))).ID()
	})
	return id
}

// replaceText replaces the text of the first block of a document.
func (w *fixture) replaceText(doc, text string) {
	w.T.Helper()
	w.Update(func(tx *workspace.Tx) {
		b := tx.Document(doc).Root.Children[0]
		b.Text = text
		b.Stamp()
	})
}

// readSY returns a document as a .sy file, or "" if it does not exist.
func (w *fixture) readSY(doc string) (data string) {
	w.T.Helper()
	w.Update(func(tx *workspace.Tx) {
		if d := tx.Document(doc); d != nil {
			data = string(markup.SY(d))
		}
	})
	return data
}

// ask calls an endpoint and returns the whole answer.
func (w *fixture) ask(endpoint, format string, args ...any) gjson.Result {
	w.T.Helper()
	rec := httptest.NewRecorder()
	body := strings.NewReader(fmt.Sprintf(format, args...))
	w.Mux.ServeHTTP(rec, httptest.NewRequestWithContext(w.T.Context(), http.MethodPost, "/api/"+endpoint, body))
	if !gjson.ValidBytes(rec.Body.Bytes()) {
		w.T.Fatalf("%s: %s", endpoint, rec.Body)
	}
	return gjson.ParseBytes(rec.Body.Bytes())
}

// mustAsk calls an endpoint, whose answer must have code 0, and returns the data.
func (w *fixture) mustAsk(endpoint, format string, args ...any) gjson.Result {
	w.T.Helper()
	got := w.ask(endpoint, format, args...)
	if got.Get("code").Int() != 0 {
		w.T.Fatalf("%s: %s", endpoint, got.Raw)
	}
	return got.Get("data")
}

// countRows returns the number of rows in from, which is a table with or without a condition.
func (w *fixture) countRows(from string, args ...any) (n int64) {
	w.T.Helper()
	w.Update(func(tx *workspace.Tx) {
		tx.Rows(func(row workspace.Row) bool { n = row.Int(0); return false }, "SELECT count(*) FROM "+from, args...)
	})
	return n
}
