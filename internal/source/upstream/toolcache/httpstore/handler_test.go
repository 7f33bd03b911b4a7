package httpstore_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"collie/internal/source/upstream/toolcache"
	"collie/internal/source/upstream/toolcache/httpstore"
	"collie/internal/source/upstream/toolcache/toolcachetest"
	"collie/internal/tool"
)

func ask(h http.Handler, method, path, body string, headers ...string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, path, strings.NewReader(body))
	r.Header.Set("Content-Type", "application/json")
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

// Requests that cannot be meant are refused with a reason and change nothing.
func TestBadRequests(t *testing.T) {
	t.Parallel()
	var place toolcachetest.Place
	b := place.Open()
	t.Cleanup(func() { _ = b.Close() })
	h := httpstore.Handler(b)
	const root, lease = httpstore.Path, httpstore.Path + "/leases/a"
	for _, c := range []struct {
		method, path, body string
		headers            []string
		status             int
		says               string
	}{
		{"PATCH", root, `{"changes":[]}`, nil, 428, "If-Match is missing"},
		{"PATCH", root, `{"changes":[]}`, []string{"If-Match", "*"}, 400, "such as"},
		{"PATCH", root, `{"changes":[]}`, []string{"If-Match", "0"}, 400, "such as"},
		{"PATCH", root, `{"changes":[]}`, []string{"If-Match", `W/"0"`}, 400, "such as"},
		{"PATCH", root, `{"changes":[]}`, []string{"If-Match", `"-1"`}, 400, "If-Match"},
		{"PATCH", root, `{"changes":[]}`, []string{"If-Match", `"5"`}, 412, "load, merge"},
		{"PATCH", root, `{"changes":[]}`, []string{"If-Match", `"0"`, "Content-Type", "text/plain"}, 415, "application/json"},
		{"PATCH", root, `{"changes":`, []string{"If-Match", `"0"`}, 400, "cannot be read"},
		{"PATCH", root, `{"changes":[{"server":"a"}]}`, []string{"If-Match", `"0"`}, 400, "changes[0].entry"},
		{"PATCH", root, `{"changes":[{"server":"a","entry":null},{"server":"a","entry":[1]}]}`, []string{"If-Match", `"0"`}, 400, "changes[1].entry"},
		{"PATCH", root, `x`, []string{"If-Match", `"0"`, "Content-Encoding", "gzip"}, 400, "gzip"},
		{"PATCH", root, `x`, []string{"If-Match", `"0"`, "Content-Encoding", "zstd"}, 400, "zstd"},
		{"PATCH", root, `"` + strings.Repeat("x", 64<<20) + `"`, []string{"If-Match", `"0"`}, 413, "64 MiB"},
		{"POST", lease, `{"holder":"","ms":1}`, nil, 400, "holder"},
		{"POST", lease, `{"holder":"` + strings.Repeat("h", 300) + `","ms":1}`, nil, 400, "holder"},
		{"POST", lease, `{"holder":"h","ms":-1}`, nil, 400, "ms is -1"},
		{"POST", lease, `{"holder":"h","ms":9223372036854775807}`, nil, 400, "ms is"},
		{"POST", httpstore.Path + "/leases/", `{}`, nil, 404, ""},
		{"PUT", root, `{}`, nil, 405, ""},
		{"GET", root + "/other", ``, nil, 404, ""},
	} {
		w := ask(h, c.method, c.path, c.body, c.headers...)
		if w.Code != c.status || !strings.Contains(w.Body.String(), c.says) {
			t.Errorf("%s %s %.60s %v: %d %.300s, want %d that says %q", c.method, c.path, c.body, c.headers, w.Code, w.Body, c.status, c.says)
		}
	}
	snap, err := b.Load(t.Context())
	if err != nil || snap.Generation != 0 {
		t.Errorf("bad requests changed something: %+v, %v", snap, err)
	}
}

func TestAnswers(t *testing.T) {
	t.Parallel()
	var place toolcachetest.Place
	b := place.Open()
	t.Cleanup(func() { _ = b.Close() })
	h := httpstore.Handler(b)
	w := ask(h, "PATCH", httpstore.Path, `{"changes":[{"server":"名","entry":{"a":"<&>"}},{"server":"b","entry":null}]}`, "If-Match", `"0"`)
	if w.Code != 200 || w.Header().Get("ETag") != `"1"` || w.Body.String() != "{\"generation\":1}\n" {
		t.Errorf("commit: %d %v %s", w.Code, w.Header(), w.Body)
	}
	w = ask(h, "GET", httpstore.Path, "")
	if w.Code != 200 || w.Header().Get("ETag") != `"1"` ||
		w.Body.String() != `{"generation":1,"totalWrites":1,"entries":{"名":{"a":"<&>"}}}`+"\n" {
		t.Errorf("load: %d %v %s", w.Code, w.Header(), w.Body)
	}
	for match, want := range map[string]int{`"1"`: 304, `W/"1"`: 304, `"0", "1"`: 304, `"0"`: 200, `1`: 200, ``: 200} {
		if w := ask(h, "GET", httpstore.Path, "", "If-None-Match", match); w.Code != want {
			t.Errorf("If-None-Match %s: %d, want %d", match, w.Code, want)
		}
	}
	for _, c := range []struct{ holder, ms, want string }{
		{"a", "60000", "true"}, {"b", "60000", "false"}, {"a", "0", "true"}, {"b", "60000", "true"},
	} {
		w := ask(h, "POST", httpstore.Path+"/leases/x", `{"holder":"`+c.holder+`","ms":`+c.ms+`}`)
		if w.Code != 200 || w.Body.String() != `{"ok":`+c.want+"}\n" {
			t.Errorf("lease for %s: %d %s, want %s", c.holder, w.Code, w.Body, c.want)
		}
	}
}

// broken is a backend that fails.
type broken struct{ err error }

func (b broken) Load(context.Context) (toolcache.Snapshot, error) { return toolcache.Snapshot{}, b.err }

func (b broken) Commit(context.Context, uint64, []toolcache.Change) (uint64, error) {
	return 0, b.err
}
func (b broken) Watch(context.Context, func()) error { return b.err }
func (b broken) Lease(context.Context, string, string, time.Duration) (bool, error) {
	return false, b.err
}
func (broken) Close() error { return nil }

func TestErrorsOfTheBackend(t *testing.T) {
	t.Parallel()
	for kind, want := range map[tool.ErrorKind]int{
		tool.Invalid: 400, tool.TooLarge: 413, tool.Unavailable: 503, tool.Timeout: 503, tool.Internal: 500,
	} {
		h := httpstore.Handler(broken{&tool.Error{Op: "load", Kind: kind, Message: "坏了"}})
		for _, w := range []*httptest.ResponseRecorder{
			ask(h, "GET", httpstore.Path, ""),
			ask(h, "GET", httpstore.Path+"/events", ""),
			ask(h, "PATCH", httpstore.Path, `{"changes":[]}`, "If-Match", `"0"`),
			ask(h, "POST", httpstore.Path+"/leases/x", `{"holder":"h","ms":1}`),
		} {
			if w.Code != want || !strings.Contains(w.Body.String(), `"type":"`+string(kind)+`"`) || !strings.Contains(w.Body.String(), "坏了") {
				t.Errorf("%s: %d %s, want %d", kind, w.Code, w.Body, want)
			}
		}
	}
}

// unwatched is a backend that can be watched now and then only.
type unwatched struct{ toolcache.Backend }

func (unwatched) Watch(ctx context.Context, _ func()) error {
	<-time.After(10 * time.Millisecond)
	return errors.New("no watch today")
}

// Who listens when the backend can no longer be watched is sent away, and comes back.
func TestWatchOfTheBackendFails(t *testing.T) {
	t.Parallel()
	var place toolcachetest.Place
	b := place.Open()
	t.Cleanup(func() { _ = b.Close() })
	h := httpstore.Handler(unwatched{b})
	for range 3 {
		w := ask(h, "GET", httpstore.Path+"/events", "")
		if got := w.Body.String(); got != "event: generation\ndata: 0\n\n" {
			t.Errorf("events: %q", got)
		}
	}
}

func FuzzHandler(f *testing.F) {
	f.Add("PATCH", httpstore.Path, []byte(`{"changes":[{"server":"a","entry":{"x":1}}]}`), `"0"`, "")
	f.Add("PATCH", httpstore.Path, []byte("\x1f\x8b\x08"), `"0"`, "gzip")
	f.Add("POST", httpstore.Path+"/leases/%2E%2E", []byte(`{"holder":"h","ms":5}`), "", "")
	f.Add("GET", httpstore.Path, []byte(nil), `W/"1"`, "")
	f.Fuzz(func(t *testing.T, method, path string, body []byte, match, encoding string) {
		r, err := http.NewRequestWithContext(t.Context(), method, "http://x"+path, bytes.NewReader(body))
		if err != nil || strings.HasSuffix(r.URL.Path, "/events") {
			t.Skip("not a request, or one that does not end")
		}
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("If-Match", match)
		r.Header.Set("If-None-Match", match)
		r.Header.Set("Content-Encoding", encoding)
		var place toolcachetest.Place
		b := place.Open()
		w := httptest.NewRecorder()
		httpstore.Handler(b).ServeHTTP(w, r)
		raw, err := io.ReadAll(w.Body)
		if err != nil {
			t.Fatal(err)
		}
		if w.Header().Get("Content-Type") == "application/json" && !json.Valid(raw) {
			t.Errorf("%d %q is no JSON", w.Code, raw)
		}
		snap, err := b.Load(t.Context())
		if err != nil || snap.Generation > 1 || snap.Generation == 1 && w.Code != 200 {
			t.Errorf("%d, and generation %d, %v", w.Code, snap.Generation, err)
		}
		for name, e := range snap.Entries {
			if !json.Valid(e) || e[0] != '{' {
				t.Errorf("entry %q is %q", name, e)
			}
		}
	})
}
