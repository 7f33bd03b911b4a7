package mcp_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"collie/internal/mcp"
	"collie/test/await"
	"collie/test/port"
)

// handlerLog is a Handler that records what it receives, in order: notifications as "method owner", requests with a ? before that.
type handlerLog struct {
	mu     sync.Mutex
	lines  []string
	seen   chan string
	answer func(ctx context.Context, m mcp.Message, owner any) (json.RawMessage, error)
}

func newHandlerLog() *handlerLog { return &handlerLog{seen: make(chan string, 100)} }

func (h *handlerLog) Notification(m mcp.Message, owner any) {
	h.record(fmt.Sprintf("%s %v", m.Method, owner))
}

func (h *handlerLog) record(line string) {
	h.mu.Lock()
	h.lines = append(h.lines, line)
	h.mu.Unlock()
	select {
	case h.seen <- line:
	default:
	}
}

func (h *handlerLog) Request(ctx context.Context, m mcp.Message, owner any) (json.RawMessage, error) {
	h.record(fmt.Sprintf("?%s %v", m.Method, owner))
	if h.answer != nil {
		return h.answer(ctx, m, owner)
	}
	return json.RawMessage(`{}`), nil
}

// all returns the lines recorded so far.
func (h *handlerLog) all() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return append([]string(nil), h.lines...)
}

// waitFor waits until the line was recorded; lines that were recorded before it are skipped.
func (h *handlerLog) waitFor(t *testing.T, want string) {
	t.Helper()
	limit := time.After(await.Limit)
	for {
		select {
		case got := <-h.seen:
			if got == want {
				return
			}
		case <-limit:
			t.Fatalf("%q was not heard, only %q", want, h.all())
		}
	}
}

// receivedRequest is a request that a fake server received. id and method are empty if it has no body.
type receivedRequest struct {
	id     string
	method string
	header http.Header
	raw    string
}

// startServer starts a server that calls f with each request and its decoded body, and returns its URL.
func startServer(t *testing.T, f func(w http.ResponseWriter, r *http.Request, p receivedRequest)) string {
	t.Helper()
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		raw, err := io.ReadAll(r.Body)
		if err != nil {
			return
		}
		var v struct {
			ID     json.RawMessage
			Method string
		}
		_ = json.Unmarshal(raw, &v) // GET and DELETE have none
		f(w, r, receivedRequest{id: string(v.ID), method: v.Method, header: r.Header, raw: string(raw)})
	}))
	t.Cleanup(srv.Close)
	return srv.URL
}

// answerJSON answers with a JSON body.
func answerJSON(w http.ResponseWriter, body string) {
	w.Header().Set("Content-Type", "application/json")
	_, _ = io.WriteString(w, body)
}

// responseTo returns a JSON-RPC response to p, whose result is the JSON text v.
func responseTo(p receivedRequest, v string) string {
	return `{"jsonrpc":"2.0","id":` + p.id + `,"result":` + v + `}`
}

// dialHTTP returns a link to the server at url, which the end of the test closes. h and opts may be nil.
func dialHTTP(t *testing.T, url string, h mcp.Handler, opts *mcp.HTTPOptions) *mcp.HTTPLink {
	t.Helper()
	if h == nil {
		h = newHandlerLog()
	}
	l := mcp.DialHTTP(url, h, opts).(*mcp.HTTPLink)
	t.Cleanup(func() {
		if err := l.Close(); err != nil {
			t.Error(err)
		}
	})
	return l
}

// mustBeLinkError returns err as a LinkError, and fails the test if it is not one.
func mustBeLinkError(t *testing.T, err error) *mcp.LinkError {
	t.Helper()
	e, ok := errors.AsType[*mcp.LinkError](err)
	if !ok {
		t.Fatalf("got %v (%T), want a LinkError", err, err)
	}
	return e
}

func TestHTTPCall(t *testing.T) {
	t.Parallel()
	url := startServer(t, func(w http.ResponseWriter, r *http.Request, p receivedRequest) {
		if r.Method != http.MethodPost || r.Header.Get("Accept") != "application/json, text/event-stream" ||
			r.Header.Get("Content-Type") != "application/json" {
			t.Errorf("%s with %v", r.Method, r.Header)
		}
		if p.method == "notifications/x" {
			w.WriteHeader(http.StatusAccepted)
			return
		}
		answerJSON(w, responseTo(p, `{"isError":true,"resultType":"input_required","n":9007199254740993}`))
	})
	l := dialHTTP(t, url, nil, nil)
	for range 3 {
		got, err := l.Call(t.Context(), &mcp.Request{Method: "tools/call", Params: json.RawMessage(`{"name":"x"}`)})
		if err != nil {
			t.Fatal(err)
		}
		want := mcp.Response{
			Result:  json.RawMessage(`{"isError":true,"resultType":"input_required","n":9007199254740993}`),
			IsError: true, ResultType: "input_required",
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("response (-want +got):\n%s", diff)
		}
	}
	if err := l.Notify(t.Context(), "notifications/x", nil); err != nil {
		t.Error(err)
	}
}

// The header fields of each era before and after the handshake. Those of HTTPOptions.Header do not replace the link's own.
func TestHTTPHeaders(t *testing.T) {
	t.Parallel()
	var last http.Header
	url := startServer(t, func(w http.ResponseWriter, _ *http.Request, p receivedRequest) {
		last = p.header
		if p.method == "initialize" {
			w.Header().Set("Mcp-Session-Id", "s-1")
		}
		answerJSON(w, responseTo(p, `{}`))
	})
	opts := &mcp.HTTPOptions{Header: func() http.Header {
		return http.Header{"x-key": {"k"}, "Accept": {"text/html"}, "Mcp-Session-Id": {"mine"}, "Mcp-Param-A": {"forged"}}
	}}
	l := dialHTTP(t, url, nil, opts)
	call := func(req mcp.Request) map[string]string {
		t.Helper()
		if _, err := l.Call(t.Context(), &req); err != nil {
			t.Fatal(err)
		}
		got := map[string]string{}
		for name := range last {
			if strings.HasPrefix(name, "Mcp-") || name == "X-Key" {
				got[name] = last.Get(name)
			}
		}
		return got
	}
	meta := json.RawMessage(`{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}`)
	steps := []struct {
		name   string
		before func()
		req    mcp.Request
		want   map[string]string
	}{
		{name: "probe", req: mcp.Request{Method: "server/discover", Params: meta}, want: map[string]string{
			"X-Key": "k", "Mcp-Protocol-Version": "2026-07-28", "Mcp-Method": "server/discover",
		}},
		{name: "initialize", req: mcp.Request{Method: "initialize"}, want: map[string]string{"X-Key": "k", "Mcp-Method": "initialize"}},
		{name: "legacy", before: func() { l.Agreed("2025-11-25") }, req: mcp.Request{Method: "tools/call", Name: "x"}, want: map[string]string{
			"X-Key": "k", "Mcp-Protocol-Version": "2025-11-25", "Mcp-Session-Id": "s-1",
		}},
		{name: "initialize again", req: mcp.Request{Method: "initialize"}, want: map[string]string{"X-Key": "k", "Mcp-Method": "initialize"}},
		{name: "modern", before: func() { l.Agreed("2026-07-28") }, req: mcp.Request{
			Method: "tools/call", Name: "é", Params: meta, Header: []string{"Mcp-Param-Region", "us"},
		}, want: map[string]string{
			"X-Key": "k", "Mcp-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/call", "Mcp-Name": "=?base64?w6k=?=",
			"Mcp-Param-Region": "us",
		}},
	}
	for _, s := range steps {
		if s.before != nil {
			s.before()
		}
		if diff := cmp.Diff(s.want, call(s.req)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", s.name, diff)
		}
	}
}

func TestHTTPSession(t *testing.T) {
	t.Parallel()
	deleted := make(chan string, 1)
	url := startServer(t, func(w http.ResponseWriter, r *http.Request, p receivedRequest) {
		switch {
		case r.Method == http.MethodDelete:
			deleted <- r.Header.Get("Mcp-Session-Id")
		case p.method == "initialize":
			w.Header().Set("Mcp-Session-Id", "secret-session")
			answerJSON(w, responseTo(p, `{}`))
		}
	})
	var log bytes.Buffer
	l := dialHTTP(t, url, nil, &mcp.HTTPOptions{Logger: slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))})
	if l.HasSession() {
		t.Error("a session before initialize")
	}
	if _, err := l.Call(t.Context(), &mcp.Request{Method: "initialize"}); err != nil {
		t.Fatal(err)
	}
	if !l.HasSession() {
		t.Error("no session after initialize")
	}
	for range 2 {
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if got := <-deleted; got != "secret-session" {
		t.Errorf("DELETE for session %q", got)
	}
	if strings.Contains(log.String(), "secret-session") {
		t.Errorf("the log has the session id:\n%s", log.String())
	}
	if _, err := l.Call(t.Context(), &mcp.Request{Method: "ping"}); mustBeLinkError(t, err).Sent {
		t.Error("a closed link says that it sent something")
	}
	select {
	case <-l.Done():
	default:
		t.Error("not done after Close")
	}
}

func TestHTTPBadURL(t *testing.T) {
	t.Parallel()
	for _, url := range []string{"ftp://x", "http://", "::", "unix://", "unix:///s#/%zz"} {
		l := dialHTTP(t, url, nil, nil)
		select {
		case <-l.Done():
		default:
			t.Errorf("%q: not done", url)
		}
		if _, err := l.Call(t.Context(), &mcp.Request{Method: "ping"}); err == nil {
			t.Errorf("%q: the call went through", url)
		}
	}
}

func TestHTTPBatchAnswer(t *testing.T) {
	t.Parallel()
	url := startServer(t, func(w http.ResponseWriter, _ *http.Request, p receivedRequest) {
		answerJSON(w, `[{"jsonrpc":"2.0","method":"notifications/a"},`+responseTo(p, `{"ok":1}`)+`,{"jsonrpc":"2.0","method":"notifications/b"}]`)
	})
	h := newHandlerLog()
	l := dialHTTP(t, url, h, nil)
	got, err := l.Call(t.Context(), &mcp.Request{Method: "ping", Owner: "me"})
	if err != nil || string(got.Result) != `{"ok":1}` {
		t.Fatalf("got %s, %v", got.Result, err)
	}
	if diff := cmp.Diff([]string{"notifications/a me", "notifications/b me"}, h.all()); diff != "" {
		t.Errorf("heard (-want +got):\n%s", diff)
	}
}

func TestHTTPOddAnswers(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, kind, body string
		status           int
		ok               bool
	}{
		{name: "id as text", kind: "application/json", body: `{"jsonrpc":"2.0","id":"1","result":{}}`, status: 200, ok: true},
		{name: "type with charset", kind: "Application/JSON; charset=utf-8", body: `{"jsonrpc":"2.0","id":1,"result":{}}`, status: 200, ok: true},
		{name: "error without id", kind: "application/json", body: `{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"x"}}`, status: 200, ok: true},
		{name: "accepted without response", status: 202},
		{name: "other id", kind: "application/json", body: `{"jsonrpc":"2.0","id":9,"result":{}}`, status: 200},
		{name: "page", kind: "text/html", body: `<html>hello</html>`, status: 200},
		{name: "broken", kind: "application/json", body: `{"jsonrpc":`, status: 200},
		{name: "stream without response", kind: "text/event-stream", body: "data: {}\n\n", status: 200},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			url := startServer(t, func(w http.ResponseWriter, _ *http.Request, _ receivedRequest) {
				w.Header().Set("Content-Type", tt.kind)
				w.WriteHeader(tt.status)
				_, _ = io.WriteString(w, tt.body)
			})
			_, err := dialHTTP(t, url, nil, nil).Call(t.Context(), &mcp.Request{Method: "ping"})
			if tt.ok {
				if err != nil {
					t.Error(err)
				}
				return
			}
			if e := mustBeLinkError(t, err); !e.Sent || e.Status != 0 {
				t.Errorf("got %+v", e)
			}
		})
	}
}

func TestHTTPLimits(t *testing.T) {
	t.Parallel()
	big := strings.Repeat("x", 100_000)
	tests := []struct {
		name  string
		serve func(w http.ResponseWriter, p receivedRequest)
	}{
		{"length told", func(w http.ResponseWriter, p receivedRequest) { answerJSON(w, responseTo(p, `"`+big+`"`)) }},
		{"length not told", func(w http.ResponseWriter, p receivedRequest) {
			w.(http.Flusher).Flush()
			answerJSON(w, responseTo(p, `"`+big+`"`))
		}},
		{"gzip", func(w http.ResponseWriter, _ receivedRequest) {
			w.Header().Set("Content-Encoding", "gzip")
			w.Header().Set("Content-Type", "application/json")
			z := gzip.NewWriter(w)
			_, _ = io.WriteString(z, strings.Repeat(" ", 10_000_000))
			_ = z.Close()
		}},
		{"event", func(w http.ResponseWriter, p receivedRequest) {
			w.Header().Set("Content-Type", "text/event-stream")
			_, _ = io.WriteString(w, "data: "+responseTo(p, `"`+big+`"`)+"\n\n")
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			url := startServer(t, func(w http.ResponseWriter, _ *http.Request, p receivedRequest) { tt.serve(w, p) })
			l := dialHTTP(t, url, nil, &mcp.HTTPOptions{MaxAnswer: 50_000, MaxEvent: 50_000})
			_, err := l.Call(t.Context(), &mcp.Request{Method: "ping"})
			if e := mustBeLinkError(t, err); !e.TooLarge || !e.Sent {
				t.Errorf("got %+v", e)
			}
		})
	}
	url := startServer(t, func(w http.ResponseWriter, _ *http.Request, p receivedRequest) {
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, `data: {"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"`+big+`"}}`+"\n\n")
		_, _ = io.WriteString(w, "data: "+responseTo(p, `{"small":true}`)+"\n\n")
	})
	resp, err := dialHTTP(t, url, nil, &mcp.HTTPOptions{MaxEvent: 50_000}).Call(t.Context(), &mcp.Request{Method: "ping"})
	if err != nil || string(resp.Result) != `{"small":true}` {
		t.Errorf("behind a notification over the limit: %s, %v", resp.Result, err)
	}
	l := dialHTTP(t, "http://127.0.0.1:1", nil, &mcp.HTTPOptions{MaxRequest: 1000})
	_, err = l.Call(t.Context(), &mcp.Request{Method: "ping", Params: json.RawMessage(`{"a":"` + big + `"}`)})
	if e := mustBeLinkError(t, err); !e.TooLarge || e.Sent {
		t.Errorf("request too large: got %+v", e)
	}
}

func TestHTTPBigResults(t *testing.T) {
	t.Parallel()
	big := `"` + strings.Repeat("0123456789abcdef", 1<<20) + `"`
	for _, how := range []string{"json", "gzip", "events"} {
		url := startServer(t, func(w http.ResponseWriter, _ *http.Request, p receivedRequest) {
			switch how {
			case "json":
				answerJSON(w, responseTo(p, big))
			case "gzip":
				w.Header().Set("Content-Encoding", "gzip")
				w.Header().Set("Content-Type", "application/json")
				z, _ := gzip.NewWriterLevel(w, gzip.BestSpeed)
				_, _ = io.WriteString(z, responseTo(p, big))
				_ = z.Close()
			case "events":
				w.Header().Set("Content-Type", "text/event-stream")
				_, _ = io.WriteString(w, "event: message\ndata: "+responseTo(p, big)+"\n\n")
			}
		})
		got, err := dialHTTP(t, url, nil, nil).Call(t.Context(), &mcp.Request{Method: "tools/call"})
		if err != nil || string(got.Result) != big {
			t.Errorf("%s: got %d bytes, %v", how, len(got.Result), err)
		}
	}
}

func TestHTTPNotSent(t *testing.T) {
	t.Parallel()
	_, err := dialHTTP(t, "http://"+port.Address(t), nil, nil).Call(t.Context(), &mcp.Request{Method: "ping"})
	if e := mustBeLinkError(t, err); e.Sent || e.Status != 0 {
		t.Errorf("got %+v", e)
	}
}

func TestHTTPUnixSocket(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "s")
	ln, err := net.Listen("unix", path)
	if err != nil {
		t.Skipf("no unix sockets here: %v", err)
	}
	srv := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.RequestURI() != "/mcp?x=1" || r.Host != "localhost" {
			t.Errorf("got %s at %s", r.URL, r.Host)
		}
		answerJSON(w, `{"jsonrpc":"2.0","id":1,"result":{}}`)
	})}
	go func() { _ = srv.Serve(ln) }()
	t.Cleanup(func() { _ = srv.Close() })
	if _, err := dialHTTP(t, "unix://"+path+"#/mcp?x=1", nil, nil).Call(t.Context(), &mcp.Request{Method: "ping"}); err != nil {
		t.Error(err)
	}
}

// BenchmarkHTTPCall measures an answered call, whose cost should be little more than that of net/http.
func BenchmarkHTTPCall(b *testing.B) {
	for _, kind := range []string{"json", "events"} {
		b.Run(kind, func(b *testing.B) {
			srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				raw, _ := io.ReadAll(r.Body)
				id := raw[bytes.Index(raw, []byte(`"id":`))+5:]
				id = id[:bytes.IndexByte(id, ',')]
				body := `{"jsonrpc":"2.0","id":` + string(id) + `,"result":{"content":[{"type":"text","text":"hello"}]}}`
				if kind == "json" {
					answerJSON(w, body)
					return
				}
				w.Header().Set("Content-Type", "text/event-stream")
				_, _ = io.WriteString(w, "event: message\ndata: "+body+"\n\n")
			}))
			defer srv.Close()
			l := mcp.DialHTTP(srv.URL, newHandlerLog(), nil)
			defer l.Close()
			l.Agreed("2025-11-25")
			b.ReportAllocs()
			ctx, cancel := context.WithTimeout(b.Context(), time.Hour) // a context with a deadline, as calls have
			defer cancel()
			for b.Loop() {
				if _, err := l.Call(ctx, &mcp.Request{Method: "tools/call", Params: json.RawMessage(`{"name":"echo"}`)}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
