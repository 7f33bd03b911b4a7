package mcp_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"collie/internal/mcp"
	"collie/test/await"
)

// httpFixture is an HTTPServer with a scriptedService. The header Who names the principal.
type httpFixture struct {
	t       *testing.T
	service *scriptedService
	server  *mcp.HTTPServer
	url     string
	client  *http.Client
}

func newHTTPFixture(t *testing.T, opts mcp.HTTPServerOptions) *httpFixture {
	t.Helper()
	s := &httpFixture{t: t, service: newScriptedService(), client: &http.Client{Transport: &http.Transport{}}}
	if opts.Identify == nil {
		opts.Identify = func(r *http.Request) (string, any) { return r.Header.Get("Who"), r.Header.Get("Who") }
	}
	s.server = mcp.NewHTTPServer(s.service, &opts)
	front := httptest.NewServer(s.server)
	s.url = front.URL
	t.Cleanup(func() {
		s.client.CloseIdleConnections()
		front.CloseClientConnections() // ends clients that are still reading streams
		front.Close()
		if err := s.server.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// send makes a request. head holds alternating names and values of header fields; an empty value removes a
// field. The caller closes the body.
func (s *httpFixture) send(ctx context.Context, method, body string, head ...string) *http.Response {
	s.t.Helper()
	resp, err := s.client.Do(s.newRequest(ctx, method, body, head...))
	if err != nil {
		s.t.Fatal(err)
	}
	return resp
}

// tryPost posts a message that may get no answer; it returns nil in that case.
func (s *httpFixture) tryPost(ctx context.Context, body string, head ...string) *http.Response {
	s.t.Helper()
	resp, err := s.client.Do(s.newRequest(ctx, "POST", body, head...))
	if err != nil {
		return nil
	}
	return resp
}

// newRequest returns a request with the usual headers, changed as send says.
func (s *httpFixture) newRequest(ctx context.Context, method, body string, head ...string) *http.Request {
	s.t.Helper()
	r, err := http.NewRequestWithContext(ctx, method, s.url, strings.NewReader(body))
	if err != nil {
		s.t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	for i := 0; i < len(head); i += 2 {
		if r.Header.Set(head[i], head[i+1]); head[i+1] == "" {
			r.Header.Del(head[i])
		}
	}
	return r
}

// reply is a fully read answer, with all messages if it is a stream.
type reply struct {
	status   int
	header   http.Header
	body     string
	messages []mcp.Message
}

// exchange makes a request as send does and reads its whole answer.
func (s *httpFixture) exchange(method, body string, head ...string) reply {
	s.t.Helper()
	resp := s.send(s.t.Context(), method, body, head...)
	defer resp.Body.Close()
	raw, err := io.ReadAll(resp.Body)
	if err != nil {
		s.t.Fatal(err)
	}
	r := reply{status: resp.StatusCode, header: resp.Header, body: string(raw)}
	if strings.HasPrefix(resp.Header.Get("Content-Type"), "text/event-stream") {
		events := newEventReader(bytes.NewReader(raw))
		for e, ok := events.next(s.t); ok; e, ok = events.next(s.t) {
			r.messages = append(r.messages, e.message)
		}
	}
	return r
}

// event is one SSE event.
type event struct {
	id      string
	message mcp.Message
}

// eventReader reads SSE as far as MCP uses it, independent of the package's own reader.
type eventReader struct {
	r    *bufio.Reader
	last string // id of the last event, even of an empty one
}

func newEventReader(r io.Reader) *eventReader { return &eventReader{r: bufio.NewReader(r)} }

// next returns the next event with a message; ok is false at the end.
func (e *eventReader) next(t *testing.T) (ev event, ok bool) {
	t.Helper()
	data := ""
	for {
		line, err := e.r.ReadString('\n')
		if err != nil {
			return ev, false
		}
		switch line = strings.TrimSuffix(line, "\n"); {
		case strings.HasPrefix(line, "id: "):
			ev.id, e.last = line[4:], line[4:]
		case strings.HasPrefix(line, "data: "):
			data += line[6:]
		case line == "" && data != "":
			if ev.message, err = mcp.Parse([]byte(data)); err != nil {
				t.Fatalf("event %q: %v", data, err)
			}
			return ev, true
		}
	}
}

// openSession opens a legacy session and returns its id.
func (s *httpFixture) openSession(version string, head ...string) string {
	s.t.Helper()
	r := s.exchange("POST", strings.Replace(initializeMessage, "2025-06-18", version, 1), head...)
	id := r.header.Get("Mcp-Session-Id")
	if r.status != 200 || id == "" || !strings.Contains(r.body, `"protocolVersion":"`+version+`"`) {
		s.t.Fatalf("initialize: %d %s", r.status, r.body)
	}
	if r := s.exchange("POST", `{"jsonrpc":"2.0","method":"notifications/initialized"}`, append(head, "Mcp-Session-Id", id)...); r.status != 202 || r.body != "" {
		s.t.Fatalf("initialized: %d %s", r.status, r.body)
	}
	return id
}

// rpcRequest returns a JSON-RPC request; params is JSON text.
func rpcRequest(id int, method, params string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":%q,"params":%s}`, id, method, params)
}

func TestServeHTTPSession(t *testing.T) {
	t.Parallel()
	s := newHTTPFixture(t, mcp.HTTPServerOptions{})
	for _, version := range mcp.LegacyVersions {
		id := s.openSession(version, "Who", "ada")
		head := []string{"Who", "ada", "Mcp-Session-Id", id, "MCP-Protocol-Version", version}
		if r := s.exchange("POST", rpcRequest(1, "echo", `{"n":1.0}`), head...); r.status != 200 || r.body != `{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"{\"n\":1.0}"}]}}` {
			t.Errorf("echo: %d %s", r.status, r.body)
		}
		if r := s.exchange("POST", rpcRequest(1, "ping", `{}`), head...); r.status != 200 || !strings.Contains(r.body, `"result":{}`) {
			t.Errorf("ping: %d %s", r.status, r.body)
		}
		if r := s.exchange("POST", `{"jsonrpc":"2.0","id":99,"result":{}}`, head...); r.status != 202 || r.body != "" {
			t.Errorf("a response nobody waits for: %d %s", r.status, r.body)
		}
		if p := s.service.newestPeer(t); p.Session != id || p.Key != "ada" || p.Version != version {
			t.Errorf("peer %+v", p)
		}
		for _, other := range [][]string{{"Who", "eve"}, {"Mcp-Session-Id", "no-such-session"}} {
			for _, method := range []string{"POST", "GET", "DELETE"} {
				r := s.exchange(method, rpcRequest(1, "echo", `{}`), append(slices.Clip(head), other...)...)
				if r.status != 404 || !strings.Contains(r.body, "-32001") {
					t.Errorf("%s with %v: %d %s", method, other, r.status, r.body)
				}
			}
		}
		if r := s.exchange("DELETE", "", head...); r.status != 204 {
			t.Errorf("DELETE: %d %s", r.status, r.body)
		}
		for _, method := range []string{"POST", "GET", "DELETE"} {
			if r := s.exchange(method, rpcRequest(1, "echo", `{}`), head...); r.status != 404 {
				t.Errorf("%s after DELETE: %d %s", method, r.status, r.body)
			}
		}
	}
	if n := s.server.Sessions(); n != 0 {
		t.Errorf("%d sessions are open", n)
	}
	want := strings.Repeat("opened ada,closed ada,", len(mcp.LegacyVersions))
	if got := strings.Join(s.service.recordedEvents(), ",") + ","; got != want {
		t.Errorf("life %s\nwant %s", got, want)
	}
}

func TestServeHTTPRefuses(t *testing.T) {
	t.Parallel()
	s := newHTTPFixture(t, mcp.HTTPServerOptions{MaxBody: 1000})
	id := s.openSession("2025-11-25")
	long := rpcRequest(1, "echo", `{"t":"`+strings.Repeat("x", 1000)+`"}`)
	for _, tc := range []struct {
		name, method, body string
		head               []string
		status             int
		want               string
	}{
		{name: "method", method: "PUT", body: "{}", status: 405, want: `"id":null,"error":{"code":-32600`},
		{name: "content_type", method: "POST", body: rpcRequest(1, "ping", "{}"), head: []string{"Content-Type", "text/plain"}, status: 415, want: `-32600`},
		{name: "no_content_type", method: "POST", body: rpcRequest(1, "ping", "{}"), head: []string{"Content-Type", ""}, status: 415, want: `-32600`},
		{name: "charset", method: "POST", body: rpcRequest(1, "ping", "{}"), head: []string{"Content-Type", "Application/JSON; charset=utf-8", "Mcp-Session-Id", id}, status: 200, want: `"result":{}`},
		{name: "oversize", method: "POST", body: long, status: 413, want: `-32600`},
		{name: "empty", method: "POST", status: 400, want: `"id":null,"error":{"code":-32700`},
		{name: "malformed", method: "POST", body: `{"jsonrpc":"2.0",`, status: 400, want: `"id":null,"error":{"code":-32700`},
		{name: "trailing", method: "POST", body: rpcRequest(1, "ping", "{}") + "{}", status: 400, want: `"id":null,"error":{"code":-32700`},
		{name: "deep", method: "POST", body: rpcRequest(1, "ping", strings.Repeat("[", 450)+strings.Repeat("]", 450)), head: []string{"Mcp-Session-Id", id}, status: 200, want: `"result":{}`},
		{name: "no_message", method: "POST", body: `"text"`, status: 400, want: `"id":null,"error":{"code":-32600`},
		{name: "invalid_request", method: "POST", body: `{"jsonrpc":"2.0","id":7,"method":1}`, status: 400, want: `"id":7,"error":{"code":-32600`},
		{name: "old_jsonrpc", method: "POST", body: `{"id":"7","method":"ping"}`, status: 400, want: `"id":"7","error":{"code":-32600`},
		{name: "no_session", method: "POST", body: rpcRequest(3, "tools/list", "{}"), status: 400, want: `"id":3,"error":{"code":-32600`},
		{name: "unknown_session", method: "POST", body: rpcRequest(3, "tools/list", "{}"), head: []string{"Mcp-Session-Id", "x"}, status: 404, want: `"id":3,"error":{"code":-32001`},
		{name: "bad_version", method: "POST", body: rpcRequest(3, "tools/list", "{}"), head: []string{"Mcp-Session-Id", id, "MCP-Protocol-Version", "2020-01-01"}, status: 400, want: `"id":3,"error":{"code":-32600`},
		{name: "initialize_without_version", method: "POST", body: rpcRequest(4, "initialize", "{}"), status: 400, want: `"id":4,"error":{"code":-32602`},
		{name: "get_without_session", method: "GET", status: 405, want: `-32600`},
		{name: "get_modern", method: "GET", head: []string{"Mcp-Session-Id", id, "MCP-Protocol-Version", "2026-07-28"}, status: 405, want: `-32600`},
		{name: "get_not_acceptable", method: "GET", head: []string{"Mcp-Session-Id", id, "Accept", "application/json"}, status: 406, want: `-32600`},
		{name: "get_bad_event", method: "GET", head: []string{"Mcp-Session-Id", id, "Last-Event-ID", "nonsense"}, status: 400, want: `-32600`},
		{name: "get_unknown_stream", method: "GET", head: []string{"Mcp-Session-Id", id, "Last-Event-ID", "x_1"}, status: 404, want: `-32600`},
		{name: "delete_without_session", method: "DELETE", status: 405, want: `-32600`},
		{name: "unknown_method", method: "POST", body: rpcRequest(5, "no/such", "{}"), head: []string{"Mcp-Session-Id", id}, status: 200, want: `"id":5,"error":{"code":-32601`},
	} {
		r := s.exchange(tc.method, tc.body, tc.head...)
		if r.status != tc.status || !strings.Contains(r.body, tc.want) || !json.Valid([]byte(r.body)) || r.header.Get("Content-Type") != "application/json" {
			t.Errorf("%s: %d %s %s\nwant %d with %s", tc.name, r.status, r.header.Get("Content-Type"), r.body, tc.status, tc.want)
		}
		if r.status == 405 && r.header.Get("Allow") == "" {
			t.Errorf("%s: 405 without Allow", tc.name)
		}
	}
	resp, err := s.client.Post(s.url, "application/json", io.MultiReader(strings.NewReader(long))) // body of unknown length
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != 413 {
		t.Errorf("oversize without a length: %d", resp.StatusCode)
	}
}

func TestServeHTTPBatch(t *testing.T) {
	t.Parallel()
	s := newHTTPFixture(t, mcp.HTTPServerOptions{})
	batch := `[` + rpcRequest(1, "echo", `{"a":1}`) + `,{"jsonrpc":"2.0","method":"notifications/x"},` + rpcRequest(2, "no/such", `{}`) + `, 5 ,` + rpcRequest(3, "ping", `{}`) + `]`
	for _, version := range mcp.LegacyVersions {
		id := s.openSession(version)
		r := s.exchange("POST", batch, "Mcp-Session-Id", id)
		if version > mcp.Version20250326 {
			if r.status != 400 || !strings.Contains(r.body, "-32600") {
				t.Errorf("%s: a batch gives %d %s", version, r.status, r.body)
			}
			continue
		}
		want := `[{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"{\"a\":1}"}]}},` +
			`{"jsonrpc":"2.0","id":2,"error":{"code":-32601,"message":"no no/such"}},{"jsonrpc":"2.0","id":3,"result":{}},` +
			`{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"not a JSON-RPC message"}}]`
		if r.status != 200 || r.body != want {
			t.Errorf("%s: %d\n got %s\nwant %s", version, r.status, r.body, want)
		}
		if r := s.exchange("POST", `[{"jsonrpc":"2.0","method":"notifications/x"}]`, "Mcp-Session-Id", id); r.status != 202 || r.body != "" {
			t.Errorf("%s: a batch without requests gives %d %s", version, r.status, r.body)
		}
		for in, code := range map[string]string{`[]`: "-32600", `[1]`: "-32600", `[{]`: "-32700"} {
			if r := s.exchange("POST", in, "Mcp-Session-Id", id); r.status != 400 || !strings.Contains(r.body, code) {
				t.Errorf("%s: %s gives %d %s", version, in, r.status, r.body)
			}
		}
	}
	if r := s.exchange("POST", batch); r.status != 400 {
		t.Errorf("a batch without a session gives %d %s", r.status, r.body)
	}
}

// One owner cannot take all sessions. At the limit an idle session is closed: first the one that has been
// idle the longest, then one whose client has a stream open. A session with a request in flight is never
// closed.
func TestServeHTTPSessionLimit(t *testing.T) {
	t.Parallel()
	s := newHTTPFixture(t, mcp.HTTPServerOptions{MaxSessions: 5}) // at most 3 per owner
	ping := func(id, who string) int {
		return s.exchange("POST", rpcRequest(9, "ping", "{}"), "Mcp-Session-Id", id, "Who", who).status
	}
	done := make(chan reply, 1)
	busy := s.openSession("2025-06-18", "Who", "ada")
	go func() { done <- s.exchange("POST", rpcRequest(1, "gate", "{}"), "Mcp-Session-Id", busy, "Who", "ada") }()
	<-s.service.began
	listening := s.openSession("2025-06-18", "Who", "ada")
	own := s.send(t.Context(), "GET", "", "Mcp-Session-Id", listening, "Who", "ada")
	defer own.Body.Close()
	used := s.openSession("2025-06-18", "Who", "ada")
	ping(used, "ada")
	unused := s.openSession("2025-06-18", "Who", "ada") // replaces used
	bob := s.openSession("2025-06-18", "Who", "bob")
	if got := ping(used, "ada"); got != 404 {
		t.Errorf("the idle session of an owner who has too many: %d", got)
	}
	newer := s.openSession("2025-06-18", "Who", "ada") // replaces unused
	if got := ping(unused, "ada"); got != 404 {
		t.Errorf("a session that was never used: %d", got)
	}
	for who, id := range map[string]string{"ada": newer, "bob": bob} {
		if got := ping(id, who); got != 200 {
			t.Errorf("a session of %s that there is room for: %d", who, got)
		}
	}
	go func() { done <- s.exchange("POST", rpcRequest(1, "gate", "{}"), "Mcp-Session-Id", newer, "Who", "ada") }()
	<-s.service.began
	last := s.openSession("2025-06-18", "Who", "ada") // replaces listening
	if got := ping(listening, "ada"); got != 404 {
		t.Errorf("a session whose client only listens: %d", got)
	}
	go func() { done <- s.exchange("POST", rpcRequest(1, "gate", "{}"), "Mcp-Session-Id", last, "Who", "ada") }()
	<-s.service.began
	r := s.exchange("POST", initializeMessage, "Who", "ada")
	if r.status != 503 || r.header.Get("Retry-After") == "" || r.header.Get("Mcp-Session-Id") != "" {
		t.Errorf("a session too many: %d %v %s", r.status, r.header, r.body)
	}
	for range 3 {
		s.service.gate <- struct{}{}
	}
	for range 3 {
		if r := <-done; r.status != 200 {
			t.Errorf("a session at work: %d %s", r.status, r.body)
		}
	}
	if got := ping(bob, "bob"); got != 200 {
		t.Errorf("the session of another owner: %d", got)
	}
}

// inProcessTransport answers requests without a network, so that they can run in a synctest bubble.
type inProcessTransport struct{ http.Handler }

func (h inProcessTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w.Result(), nil
}

func TestServeHTTPIdleSessions(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := &httpFixture{t: t, service: newScriptedService(), url: "http://127.0.0.1"}
		s.server = mcp.NewHTTPServer(s.service, &mcp.HTTPServerOptions{Idle: time.Minute})
		s.client = &http.Client{Transport: inProcessTransport{s.server}}
		busy := s.openSession("2025-06-18")
		done := make(chan reply, 1)
		go func() { done <- s.exchange("POST", rpcRequest(1, "gate", "{}"), "Mcp-Session-Id", busy) }()
		<-s.service.began
		idle := s.openSession("2025-06-18")
		await.Sleep(50 * time.Second)
		if n := s.server.Sessions(); n != 2 {
			t.Errorf("%d sessions before their time, want 2", n)
		}
		await.Sleep(2 * time.Minute)
		if n := s.server.Sessions(); n != 1 {
			t.Errorf("%d sessions, want the one at work", n)
		}
		if r := s.exchange("POST", rpcRequest(1, "ping", "{}"), "Mcp-Session-Id", idle); r.status != 404 {
			t.Errorf("a session nobody used: %d %s", r.status, r.body)
		}
		s.service.gate <- struct{}{}
		if r := <-done; r.status != 200 {
			t.Errorf("a session at work: %d %s", r.status, r.body)
		}
		if err := s.server.Close(); err != nil {
			t.Error(err)
		}
	})
}

func TestServeHTTPClose(t *testing.T) {
	t.Parallel()
	s := newHTTPFixture(t, mcp.HTTPServerOptions{})
	id := s.openSession("2025-06-18")
	done := make(chan reply, 1)
	go func() { done <- s.exchange("POST", rpcRequest(1, "wait", "{}"), "Mcp-Session-Id", id) }()
	<-s.service.began
	get := s.send(t.Context(), "GET", "", "Mcp-Session-Id", id)
	defer get.Body.Close()
	if err := s.server.Close(); err != nil {
		t.Fatal(err)
	}
	if err := s.server.Close(); err != nil {
		t.Errorf("closed twice: %v", err)
	}
	if err := <-s.service.ended; err == nil || !strings.Contains(err.Error(), "session") {
		t.Errorf("a request ended with %v", err)
	}
	if r := <-done; r.status != 200 || !strings.Contains(r.body, `"error"`) {
		t.Errorf("the request was answered %d %s", r.status, r.body)
	}
	if raw, err := io.ReadAll(get.Body); err != nil {
		t.Errorf("the stream ended with %v after %q", err, raw)
	}
	if r := s.exchange("POST", initializeMessage); r.status != 503 {
		t.Errorf("initialize after Close: %d %s", r.status, r.body)
	}
	if d := cmp.Diff([]string{"opened ", "closed "}, s.service.recordedEvents()); d != "" {
		t.Errorf("life (-want +got):\n%s", d)
	}
}
