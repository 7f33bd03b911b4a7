package kerneltest

import (
	"bytes"
	"fmt"
	"net/http"
	"net/http/httptest"
	"path"
	"time"

	"github.com/tidwall/gjson"
	"github.com/tidwall/sjson"

	"collie/internal/vault/workspace"
)

// This file creates notebooks, documents and files for tests.

// Notebook creates an open notebook and returns its id. Calls does not list this.
func (k *Kernel) Notebook(name string) string {
	k.t.Helper()
	return k.do("/api/notebook/createNotebook", map[string]any{"name": name}).Get("data.notebook.id").Str
}

// Doc creates a document at a path of titles, with missing parents, and returns its id. Calls does not list this.
func (k *Kernel) Doc(notebook, hpath, markdown string) string {
	k.t.Helper()
	return k.do("/api/filetree/createDocWithMd", map[string]any{"notebook": notebook, "path": hpath, "markdown": markdown}).Get("data").Str
}

// do makes a call that is not recorded and has no faults. It fails the test unless the answer has code 0.
func (k *Kernel) do(endpoint string, body map[string]any) gjson.Result {
	k.t.Helper()
	answer := k.post(endpoint, body)
	if k.vault == nil {
		if answer.Code == http.StatusBadGateway && await(k.backend) == nil { // the real kernel ended over a notebook of an earlier test
			answer = k.post(endpoint, body)
		}
		ask(k.backend, "/api/sqlite/flushTransaction", nil)
	}
	got := gjson.ParseBytes(answer.Body.Bytes())
	if answer.Code != http.StatusOK || got.Get("code").Int() != 0 {
		k.t.Fatalf("kerneltest: %s answers %s", endpoint, got.Raw)
	}
	return got
}

func (k *Kernel) post(endpoint string, body map[string]any) *httptest.ResponseRecorder {
	answer := httptest.NewRecorder()
	k.backend.ServeHTTP(answer, httptest.NewRequestWithContext(k.t.Context(), http.MethodPost, endpoint, bytes.NewReader(mustJSON(body))))
	return answer
}

// File writes a file into the workspace; p begins with /data, /temp or another folder of the workspace.
func (k *Kernel) File(p string, content []byte) {
	k.t.Helper()
	if k.vault == nil {
		k.upload(p, content)
		return
	}
	k.write(func(tx *workspace.Tx) { tx.WriteFile(p, content, time.Time{}) })
}

// Symlink creates a symbolic link in the workspace to a file with content, or to a folder if content is nil. The
// vault has no links, so its answers about the entry are changed on their way out.
func (k *Kernel) Symlink(p string, content []byte) {
	k.t.Helper()
	k.NeedsVault("symbolic links cannot be made through its API")
	k.write(func(tx *workspace.Tx) {
		if content == nil {
			tx.MakeDir(p)
		} else {
			tx.WriteFile(p, content, time.Time{})
		}
	})
	k.mu.Lock()
	defer k.mu.Unlock()
	k.links[p] = true
}

func (k *Kernel) write(fn func(*workspace.Tx)) {
	k.t.Helper()
	w, err := k.vault.Workspace(k.t.Context())
	if err == nil {
		err = w.Update(k.t.Context(), func(tx *workspace.Tx) error { fn(tx); return nil })
	}
	if err != nil {
		k.t.Fatalf("kerneltest: %v", err)
	}
}

// markLinks sets which entries of a folder are symbolic links.
func (k *Kernel) markLinks(answer *httptest.ResponseRecorder) *httptest.ResponseRecorder {
	k.mu.Lock()
	defer k.mu.Unlock()
	if len(k.links) == 0 || len(k.calls) == 0 {
		return answer
	}
	dir := path.Clean("/" + k.calls[len(k.calls)-1].Get("path").Str)
	body := answer.Body.String()
	for i, entry := range gjson.Get(body, "data").Array() {
		if k.links[path.Join(dir, entry.Get("name").Str)] {
			body, _ = sjson.Set(body, fmt.Sprintf("data.%d.isSymlink", i), true)
		}
	}
	answer.Body = bytes.NewBufferString(body)
	return answer
}
