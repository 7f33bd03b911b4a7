package access_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"collie/internal/source/siyuan/kernel"
)

// The paths of the files.
const (
	pluginLevels = "/data/storage/petal/siyuan-plugins-mcp-sisyphus/notebookPermissions"
	ownLevels    = "/data/storage/petal/collie/notebookPermissions"
	pluginConfig = "/data/storage/petal/siyuan-plugins-mcp-sisyphus/mcpToolsConfig"
	ownConfig    = "/data/storage/petal/collie/mcpToolsConfig"
)

// Three notebooks.
const (
	nbA = kernel.ID("20260101000000-aaaaaaa")
	nbB = kernel.ID("20260101000000-bbbbbbb")
	nbC = kernel.ID("20260101000000-ccccccc")
)

// fakeKernel answers getFile, putFile and lsNotebooks as recorded from a kernel 3.7.3 (files.jsonl, notebook.jsonl).
// It needs no sockets, so it works in synctest bubbles.
type fakeKernel struct {
	mu        sync.Mutex
	files     map[string]string
	notebooks []kernel.ID
	count     map[string]int                                        // requests by endpoint, and by endpoint and path
	fail      func(endpoint, path string) (status int, body string) // 0 answers as usual; -1 breaks the connection
	delay     time.Duration                                         // of a reading, between the look at the file and the answer
	afterPut  func(path string)                                     // runs under the lock
}

// newFakeKernel returns a kernel with these files, by path, and three notebooks.
func newFakeKernel(files map[string]string) *fakeKernel {
	if files == nil {
		files = map[string]string{}
	}
	return &fakeKernel{files: files, count: map[string]int{}, notebooks: []kernel.ID{nbA, nbB, nbC}}
}

// client returns a client of the workspace that does not retry.
func (w *fakeKernel) client() *kernel.Client {
	return kernel.New("http://kernel.test", kernel.Options{Transport: w, Waits: []time.Duration{}})
}

func (w *fakeKernel) writeFile(path, text string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.files[path] = text
}

func (w *fakeKernel) removeFile(path string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.files, path)
}

func (w *fakeKernel) fileText(path string) string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.files[path]
}

// failWith makes requests fail as f says; nil lets all succeed.
func (w *fakeKernel) failWith(f func(endpoint, path string) (int, string)) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.fail = f
}

// takeCount returns how many requests an endpoint got since the last call.
func (w *fakeKernel) takeCount(endpoint string) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	n := w.count[endpoint]
	w.count[endpoint] = 0
	return n
}

func (w *fakeKernel) RoundTrip(r *http.Request) (*http.Response, error) {
	rec := httptest.NewRecorder()
	if !w.serve(rec, r) {
		return nil, io.ErrUnexpectedEOF
	}
	if w.delay > 0 {
		select {
		case <-time.After(w.delay):
		case <-r.Context().Done():
			return nil, context.Cause(r.Context())
		}
	}
	if err := r.Context().Err(); err != nil {
		return nil, err
	}
	return rec.Result(), nil
}

func (w *fakeKernel) serve(out http.ResponseWriter, r *http.Request) bool {
	endpoint := r.URL.Path
	var path, content string
	switch endpoint {
	case "/api/file/getFile":
		var body struct{ Path string }
		if json.NewDecoder(r.Body).Decode(&body) != nil {
			return false
		}
		path = body.Path
	case "/api/file/putFile":
		if err := r.ParseMultipartForm(1 << 20); err != nil {
			return false
		}
		f, _, err := r.FormFile("file")
		if err != nil {
			return false
		}
		raw, _ := io.ReadAll(f)
		path, content = r.FormValue("path"), string(raw)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.count[endpoint]++
	w.count[endpoint+" "+path]++
	if w.fail != nil {
		switch status, body := w.fail(endpoint, path); {
		case status < 0:
			return false
		case status > 0:
			out.WriteHeader(status)
			_, _ = io.WriteString(out, body)
			return true
		}
	}
	w.answer(out, endpoint, path, content)
	return true
}

func (w *fakeKernel) answer(out http.ResponseWriter, endpoint, path, content string) {
	reply := func(status, code int, msg string, data any) {
		out.WriteHeader(status)
		_ = json.NewEncoder(out).Encode(map[string]any{"code": code, "msg": msg, "data": data})
	}
	switch endpoint {
	case "/api/file/getFile":
		text, ok := w.files[path]
		if !ok {
			reply(http.StatusAccepted, 404, "file does not exist", nil)
			return
		}
		_, _ = io.WriteString(out, text)
	case "/api/file/putFile":
		w.files[path] = content
		if w.afterPut != nil {
			w.afterPut(path)
		}
		reply(http.StatusOK, 0, "", nil)
	case "/api/notebook/lsNotebooks":
		list := []map[string]any{}
		for i, id := range w.notebooks {
			list = append(list, map[string]any{"id": id, "name": fmt.Sprint("笔记本 ", i), "icon": "", "sort": i, "sortMode": 15, "closed": false})
		}
		reply(http.StatusOK, 0, "", map[string]any{"boxDocEnabled": true, "notebooks": list})
	default:
		out.WriteHeader(http.StatusNotFound)
	}
}

// failEndpoint returns a function for failing that fails one endpoint, for one path unless that is empty.
func failEndpoint(endpoint, path string, status int, body string) func(string, string) (int, string) {
	return func(e, p string) (int, string) {
		if e == "/api/file/"+endpoint && (path == "" || p == path) {
			return status, body
		}
		return 0, ""
	}
}

// contextEndingAfter returns a context of the test that ends after d.
func contextEndingAfter(t *testing.T, d time.Duration) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), d)
	t.Cleanup(cancel)
	return ctx
}
