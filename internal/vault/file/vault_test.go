package file_test

import (
	"bytes"
	"encoding/json"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"testing"

	"github.com/tidwall/gjson"

	"collie/internal/vault"
	"collie/internal/vault/workspace"
)

type object = map[string]any

// fixture is a vault in a temporary file.
type fixture struct {
	t testing.TB
	*vault.Vault
}

// newFixture returns an empty vault, which is closed when the test ends.
func newFixture(t testing.TB) *fixture {
	t.Helper()
	v := vault.New(filepath.Join(t.TempDir(), "notes.db"), vault.Options{})
	t.Cleanup(func() {
		if err := v.Close(); err != nil {
			t.Error(err)
		}
	})
	return &fixture{t, v}
}

// post sends a JSON body and returns the status and the body of the answer.
func (w *fixture) post(path string, body any) (int, []byte) {
	w.t.Helper()
	data, err := json.Marshal(body)
	if err != nil {
		w.t.Fatal(err)
	}
	return w.send(path, "application/json", data)
}

// send sends a body and returns the status and the body of the answer.
func (w *fixture) send(path, contentType string, body []byte) (int, []byte) {
	w.t.Helper()
	req := httptest.NewRequestWithContext(w.t.Context(), http.MethodPost, path, bytes.NewReader(body))
	req.Header.Set("Content-Type", contentType)
	rec := httptest.NewRecorder()
	w.ServeHTTP(rec, req)
	return rec.Code, rec.Body.Bytes()
}

// call sends a request, fails the test unless the answer has the given code, and returns its data.
func (w *fixture) call(code int, path string, body any) gjson.Result {
	w.t.Helper()
	status, data := w.post(path, body)
	got := gjson.ParseBytes(data)
	if int(got.Get("code").Int()) != code || !got.IsObject() {
		w.t.Fatalf("%s %v: status %d, %s; want code %d", path, body, status, data, code)
	}
	return got.Get("data")
}

// sendForm sends a form with fields and one file. The file is left out when part, the name of its field, is "".
func (w *fixture) sendForm(path string, fields map[string]string, part, file string, content []byte) gjson.Result {
	w.t.Helper()
	var body bytes.Buffer
	form := multipart.NewWriter(&body)
	for name, value := range fields {
		_ = form.WriteField(name, value)
	}
	if part != "" {
		to, err := form.CreateFormFile(part, file)
		if err != nil {
			w.t.Fatal(err)
		}
		_, _ = to.Write(content)
	}
	_ = form.Close()
	status, data := w.send(path, form.FormDataContentType(), body.Bytes())
	got := gjson.ParseBytes(data)
	if status != http.StatusOK || !got.Get("code").Exists() {
		w.t.Fatalf("%s: status %d, %s", path, status, data)
	}
	return got
}

// putFile writes a file through the API and returns the code of the answer.
func (w *fixture) putFile(path, content string) int {
	w.t.Helper()
	return int(w.sendForm("/api/file/putFile", map[string]string{"path": path, "isDir": "false"}, "file", "x", []byte(content)).Get("code").Int())
}

// uploadAsset stores an asset and returns its address.
func (w *fixture) uploadAsset(name, content string) string {
	w.t.Helper()
	got := w.sendForm("/api/asset/upload", map[string]string{"assetsDirPath": "/assets/"}, "file[]", name, []byte(content))
	address := ""
	got.Get("data.succMap").ForEach(func(_, value gjson.Result) bool { address = value.Str; return true })
	if address == "" {
		w.t.Fatalf("upload %q: %s", name, got.Raw)
	}
	return address
}

// readFile reads a file; ok is false when there is none.
func (w *fixture) readFile(path string) (content string, ok bool) {
	w.t.Helper()
	status, data := w.post("/api/file/getFile", object{"path": path})
	return string(data), status == http.StatusOK
}

// createNotebook creates a notebook and returns its id.
func (w *fixture) createNotebook(name string) string {
	w.t.Helper()
	return w.call(0, "/api/notebook/createNotebook", object{"name": name}).Get("notebook.id").Str
}

// createDoc creates a document at a path of titles and returns its id.
func (w *fixture) createDoc(notebook, hpath, markdown string) string {
	w.t.Helper()
	return w.call(0, "/api/filetree/createDocWithMd", object{"notebook": notebook, "path": hpath, "markdown": markdown}).Str
}

// update changes the workspace directly, without the API.
func (w *fixture) update(change func(*workspace.Tx)) {
	w.t.Helper()
	ws, err := w.Workspace(w.t.Context())
	if err != nil {
		w.t.Fatal(err)
	}
	if err := ws.Update(w.t.Context(), func(tx *workspace.Tx) error { change(tx); return nil }); err != nil {
		w.t.Fatal(err)
	}
}
