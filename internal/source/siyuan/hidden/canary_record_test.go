package hidden_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"collie/internal/source/siyuan/access"
	"collie/internal/source/siyuan/action/actiontest"
	"collie/internal/source/siyuan/kernel"
	"collie/internal/source/siyuan/kernel/kerneltest"
)

// exchange is a request with its answer, as a line of a recording. The first line has ids instead.
type exchange struct {
	IDs  map[string]kernel.ID `json:"ids,omitempty"`
	Path string               `json:"path,omitempty"`
	Body json.RawMessage      `json:"reqBody,omitempty"`
	Resp json.RawMessage      `json:"respBody,omitempty"`
	Text string               `json:"respText,omitempty"` // where the answer is not JSON
}

var idList = regexp.MustCompile(`IN \(('[0-9a-z-]{22}',?)+\)|\[("[0-9a-z-]{22}",?)+\]`)

// key returns the text by which an answer is looked up. The order of ids in a request does not matter.
func (e *exchange) key() string {
	return e.Path + " " + idList.ReplaceAllStringFunc(string(e.Body), func(list string) string {
		ids := strings.Split(strings.Trim(list, "IN ()[]"), ",")
		slices.Sort(ids)
		return strings.Join(ids, ",")
	})
}

// recorder writes down what a real kernel answers from here on, where COLLIE_RECORD_CANARIES is set, into [recording]
// when the function that it returns is called. Requests go to a proxy for that.
func recorder(t *testing.T, s *scene) (done func()) {
	t.Helper()
	if os.Getenv(kerneltest.RealKernel) == "" || os.Getenv("COLLIE_RECORD_CANARIES") == "" {
		return func() {}
	}
	var mu sync.Mutex
	var lines []exchange
	seen := map[string]bool{}
	front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		r.Body = io.NopCloser(bytes.NewReader(body))
		r.Header.Del("Accept-Encoding") // what is recorded is text
		answer := httptest.NewRecorder()
		s.ServeHTTP(answer, r)
		w.WriteHeader(answer.Code)
		_, _ = w.Write(answer.Body.Bytes())
		e := exchange{Path: r.URL.Path, Body: compact(body)}
		if raw := answer.Body.Bytes(); json.Valid(raw) {
			e.Resp = compact(raw)
		} else {
			e.Text = string(raw)
		}
		mu.Lock()
		defer mu.Unlock()
		if !seen[e.key()] {
			seen[e.key()] = true
			lines = append(lines, e)
		}
	}))
	t.Cleanup(front.Close)
	s.Client = kernel.New(front.URL, kernel.Options{Token: kerneltest.Token})
	t.Cleanup(s.Client.Close)
	return func() {
		mu.Lock()
		defer mu.Unlock()
		var out bytes.Buffer
		enc := json.NewEncoder(&out)
		enc.SetEscapeHTML(false)
		_ = enc.Encode(exchange{IDs: s.IDs})
		for _, e := range lines {
			_ = enc.Encode(e)
		}
		if err := os.MkdirAll(filepath.Dir(recording), 0o755); err != nil {
			t.Error(err)
		}
		if err := os.WriteFile(recording, out.Bytes(), 0o644); err != nil {
			t.Error(err)
		}
	}
}

func compact(raw []byte) json.RawMessage {
	var out bytes.Buffer
	if json.Compact(&out, raw) != nil {
		return nil
	}
	return out.Bytes()
}

// replay returns a scene with a kernel that answers from a recording, and a function that reports whether it got a
// request without a recorded answer since the last call.
func replay(t *testing.T) (s *scene, missing func() bool) {
	t.Helper()
	raw, err := os.ReadFile(recording)
	if err != nil {
		t.Fatal(err)
	}
	answers := map[string]exchange{}
	s = &scene{t: t}
	lines := bufio.NewScanner(bytes.NewReader(raw))
	lines.Buffer(nil, 16<<20)
	for lines.Scan() {
		var e exchange
		if err := json.Unmarshal(lines.Bytes(), &e); err != nil {
			t.Fatal(err)
		}
		if e.IDs != nil {
			s.IDs = e.IDs
			continue
		}
		answers[e.key()] = e
	}
	var unknown atomic.Bool
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		e, ok := answers[(&exchange{Path: r.URL.Path, Body: compact(body)}).key()]
		switch {
		case ok && e.Resp != nil:
			_, _ = w.Write(e.Resp)
		case ok:
			_, _ = io.Copy(w, strings.NewReader(e.Text))
		case strings.HasSuffix(r.URL.Path, "/flushTransaction"):
			_, _ = io.WriteString(w, `{"code":0,"msg":"","data":null}`)
		default:
			unknown.Store(true)
			_, _ = io.WriteString(w, `{"code":-1,"msg":"not recorded","data":null}`)
		}
	}))
	t.Cleanup(server.Close)
	client := kernel.New(server.URL, kernel.Options{Token: kerneltest.Token})
	t.Cleanup(client.Close)
	s.Kit = &actiontest.Kit{Client: client, Levels: map[kernel.ID]access.Level{}, Default: access.Delete}
	s.hide()
	return s, func() bool { return unknown.Swap(false) }
}
