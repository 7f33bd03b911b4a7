package block_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tidwall/gjson"

	"collie/internal/vault/api"
	"collie/internal/vault/block"
	"collie/internal/vault/markup"
	"collie/internal/vault/workspace"
)

// vault is a workspace in a temporary file with the routes of this package.
type vault struct {
	t         *testing.T
	workspace *workspace.Workspace
	mux       *api.Mux
	box       string
}

func newVault(t *testing.T) *vault {
	t.Helper()
	w, err := workspace.Open(t.Context(), filepath.Join(t.TempDir(), "notes.db"), workspace.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = w.Close() })
	v := (&vault{t: t}).over(w)
	v.update(func(tx *workspace.Tx) { v.box = tx.CreateNotebook("Notes 笔记").ID })
	return v
}

// over is v over another opening of its file.
func (v *vault) over(w *workspace.Workspace) *vault {
	other := &vault{t: v.t, workspace: w, mux: api.New(w, nil), box: v.box}
	block.Join(other.mux)
	return other
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

// refused asks for what must be refused.
func (v *vault) refused(path string, body any) (msg string) {
	v.t.Helper()
	answer := v.answer(path, body)
	if answer.Get("code").Int() == 0 {
		v.t.Fatalf("%s %v was not refused: %s", path, body, answer.Raw)
	}
	return answer.Get("msg").String()
}

type object = map[string]any

// text is a document as Markdown without attribute lists.
func (v *vault) text(id string) string {
	v.t.Helper()
	text := ""
	err := v.workspace.View(v.t.Context(), func(tx *workspace.Tx) error {
		if d := tx.Document(id); d != nil {
			text = markup.Export(d.Root)
		}
		return nil
	})
	if err != nil {
		v.t.Fatal(err)
	}
	return text
}

func (v *vault) kramdown(id string) string {
	v.t.Helper()
	return v.ask("/api/block/getBlockKramdown", object{"id": id}).Get("kramdown").String()
}

func (v *vault) children(id string) (ids []string) {
	v.t.Helper()
	for _, c := range v.ask("/api/block/getChildBlocks", object{"id": id}).Array() {
		ids = append(ids, c.Get("id").String())
	}
	return ids
}

// sound fails unless the tree of a document is one that can be written and read back.
func (v *vault) sound(id string) {
	v.t.Helper()
	err := v.workspace.View(v.t.Context(), func(tx *workspace.Tx) error {
		d := tx.Document(id)
		if d == nil {
			v.t.Errorf("document %s is gone", id)
			return nil
		}
		for _, wrong := range faults(d) {
			v.t.Error(wrong)
		}
		return nil
	})
	if err != nil {
		v.t.Fatal(err)
	}
}
