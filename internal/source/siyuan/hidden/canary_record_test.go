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

// recordedExchange is a request with its answer, as a line of a recording. The first line has ids instead.
type recordedExchange struct {
	IDs  map[string]kernel.ID `json:"ids,omitempty"`
	Path string               `json:"path,omitempty"`
	Body json.RawMessage      `json:"reqBody,omitempty"`
	Resp json.RawMessage      `json:"respBody,omitempty"`
	Text string               `json:"respText,omitempty"` // where the answer is not JSON
}

var idList = regexp.MustCompile(`IN \(('[0-9a-z-]{22}',?)+\)|\[("[0-9a-z-]{22}",?)+\]`)

// lookupKey returns the text by which an answer is looked up. The order of ids in a request does not matter.
func (e *recordedExchange) lookupKey() string {
	return e.Path + " " + idList.ReplaceAllStringFunc(string(e.Body), func(list string) string {
		ids := strings.Split(strings.Trim(list, "IN ()[]"), ",")
		slices.Sort(ids)
		return strings.Join(ids, ",")
	})
}

// startRecording writes down what a real kernel answers from here on, where COLLIE_RECORD_CANARIES is set, into [recording]
// when the function that it returns is called. Requests go to a proxy for that.
func startRecording(t *testing.T, s *canaryScene) (done func()) {
	t.Helper()
	if os.Getenv(kerneltest.RealKernel) == "" || os.Getenv("COLLIE_RECORD_CANARIES") == "" {
		return func() {}
	}
	var mu sync.Mutex
	var lines []recordedExchange
	seen := map[string]bool{}
	front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		r.Body = io.NopCloser(bytes.NewReader(body))
		r.Header.Del("Accept-Encoding") // what is recorded is text
		answer := httptest.NewRecorder()
		s.ServeHTTP(answer, r)
		w.WriteHeader(answer.Code)
		_, _ = w.Write(answer.Body.Bytes())
		e := recordedExchange{Path: r.URL.Path, Body: compactJSON(body)}
		if raw := answer.Body.Bytes(); json.Valid(raw) {
			e.Resp = compactJSON(raw)
		} else {
			e.Text = string(raw)
		}
		mu.Lock()
		defer mu.Unlock()
		if !seen[e.lookupKey()] {
			seen[e.lookupKey()] = true
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
		_ = enc.Encode(recordedExchange{IDs: s.IDs})
		for _, e := range lines {
			_ = enc.Encode(e)
		}
		if err := os.MkdirAll(filepath.Dir(recordingFile), 0o755); err != nil {
			t.Error(err)
		}
		if err := os.WriteFile(recordingFile, out.Bytes(), 0o644); err != nil {
			t.Error(err)
		}
	}
}

func compactJSON(raw []byte) json.RawMessage {
	var out bytes.Buffer
	if json.Compact(&out, raw) != nil {
		return nil
	}
	return out.Bytes()
}

// newReplayedScene returns a scene with a kernel that answers from a recording, and a function that reports whether it got a
// request without a recorded answer since the last call.
func newReplayedScene(t *testing.T) (s *canaryScene, missing func() bool) {
	t.Helper()
	raw, err := os.ReadFile(recordingFile)
	if err != nil {
		t.Fatal(err)
	}
	answers := map[string]recordedExchange{}
	s = &canaryScene{t: t}
	lines := bufio.NewScanner(bytes.NewReader(raw))
	lines.Buffer(nil, 16<<20)
	for lines.Scan() {
		var e recordedExchange
		if err := json.Unmarshal(lines.Bytes(), &e); err != nil {
			t.Fatal(err)
		}
		if e.IDs != nil {
			s.IDs = e.IDs
			continue
		}
		answers[e.lookupKey()] = e
	}
	var unknown atomic.Bool
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		e, ok := answers[(&recordedExchange{Path: r.URL.Path, Body: compactJSON(body)}).lookupKey()]
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
