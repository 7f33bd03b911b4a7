package mcptest_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tidwall/gjson"

	"collie/internal/mcp/mcptest"
)

// postMessage sends one message to a handler. header holds alternating names and values, which may replace the
// default ones.
func postMessage(t testing.TB, h http.Handler, body string, header ...string) *httptest.ResponseRecorder {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/mcp", strings.NewReader(body))
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

// newHandler returns the server as a handler.
func newHandler(t testing.TB, flags ...string) http.Handler {
	t.Helper()
	h, err := mcptest.Handler(flags...)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// openSession starts a legacy session.
func openSession(t testing.TB, h http.Handler) (session string) {
	t.Helper()
	session = postMessage(t, h, initializeRequest).Header().Get("Mcp-Session-Id")
	if session == "" {
		t.Fatal("no session id")
	}
	return session
}

func TestHTTPRefusals(t *testing.T) {
	t.Parallel()
	modernCall := `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"header","arguments":{"region":"x"},` + modernMeta + `}}`
	unknown := `{"jsonrpc":"2.0","id":1,"method":"no/such","params":{` + modernMeta + `}}`
	version := []string{"MCP-Protocol-Version", "2026-07-28"}
	with := func(more ...string) []string { return append(version[:2:2], more...) }
	for _, c := range []struct {
		name, flags, body string
		header            []string
		status            int
		code              string
	}{
		{name: "no_session", body: listRequest("tools/list", ""), status: 400, code: "-32600"},
		{name: "unknown_session", body: listRequest("tools/list", ""), header: []string{"Mcp-Session-Id", "none"}, status: 404, code: "-32600"},
		{name: "origin", body: initializeRequest, header: []string{"Origin", "https://example.com"}, status: 403},
		{name: "local_origin", body: initializeRequest, header: []string{"Origin", "http://localhost:5173"}, status: 200},
		{name: "accept", body: initializeRequest, header: []string{"Accept", "application/json"}, status: 406},
		{name: "content_type", body: initializeRequest, header: []string{"Content-Type", "text/plain"}, status: 415},
		{name: "broken", body: `{"jsonrpc"`, status: 400, code: "-32700"},
		{name: "legacy_server_probed", body: unknown, header: version, status: 400, code: "-32600"},
		{name: "modern_refuses_initialize", flags: "--era modern", body: initializeRequest, status: 400, code: "-32022"},
		{name: "modern_no_headers", flags: "--era modern", body: unknown, status: 400, code: "-32020"},
		{name: "modern_other_method", flags: "--era modern", body: unknown, header: with("Mcp-Method", "tools/list"), status: 400, code: "-32020"},
		{name: "modern_unknown_method", flags: "--era modern", body: unknown, header: with("Mcp-Method", "no/such"), status: 404, code: "-32601"},
		{name: "modern_no_name", flags: "--era modern", body: modernCall, header: with("Mcp-Method", "tools/call"), status: 400, code: "-32020"},
		{name: "modern_no_param", flags: "--era modern", body: modernCall, header: with("Mcp-Method", "tools/call", "Mcp-Name", "header"), status: 400, code: "-32020"},
		{name: "modern_other_param", flags: "--era modern", body: modernCall, header: with("Mcp-Method", "tools/call", "Mcp-Name", "header", "Mcp-Param-Region", "y"), status: 400, code: "-32020"},
		{name: "modern_encoded", flags: "--era modern", body: modernCall, header: with("Mcp-Method", "tools/call", "Mcp-Name", "=?base64?aGVhZGVy?=", "Mcp-Param-Region", "x"), status: 200},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := postMessage(t, newHandler(t, strings.Fields(c.flags)...), c.body, c.header...)
			if w.Code != c.status {
				t.Errorf("status %d, want %d: %s", w.Code, c.status, w.Body)
			}
			if got := gjson.Get(w.Body.String(), "error.code").Raw; got != c.code {
				t.Errorf("code %s, want %s", got, c.code)
			}
		})
	}
}

func TestHTTPMethods(t *testing.T) {
	t.Parallel()
	for _, method := range []string{http.MethodGet, http.MethodDelete} {
		w := httptest.NewRecorder()
		newHandler(t, "--era", "modern").ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), method, "/mcp", nil))
		if w.Code != http.StatusMethodNotAllowed {
			t.Errorf("%s: status %d", method, w.Code)
		}
	}
}

func TestSessionEnds(t *testing.T) {
	t.Parallel()
	h := newHandler(t)
	session := openSession(t, h)
	call := func() int { return postMessage(t, h, toolCall("1", "forget", `{}`), "Mcp-Session-Id", session).Code }
	if first, second := call(), call(); first != 200 || second != 404 {
		t.Errorf("statuses %d and %d, want 200 and 404", first, second)
	}
}

func TestBytesOverHTTP(t *testing.T) {
	t.Parallel()
	want := `{"jsonrpc":"2.0","id":7,"result":` + string(mcptest.OddResult(3, 5000)) + `}`
	for _, c := range []struct{ flag, contentType, body string }{
		{"--seed=1", "application/json", want},
		{"--sse", "text/event-stream", "event: message\ndata: " + want + "\n\n"},
	} {
		h := newHandler(t, c.flag)
		w := postMessage(t, h, toolCall("7", "odd", `{"seed":3,"size":5000}`), "Mcp-Session-Id", openSession(t, h))
		if got := w.Header().Get("Content-Type"); got != c.contentType {
			t.Errorf("content type %q, want %q", got, c.contentType)
		}
		if w.Body.String() != c.body {
			t.Errorf("body\n%s\nwant\n%s", w.Body, c.body)
		}
	}
}

// JSON may hold line breaks between tokens, and over HTTP they arrive.
func TestLineBreaks(t *testing.T) {
	t.Parallel()
	name := filepath.Join(t.TempDir(), "result.json")
	if err := os.WriteFile(name, []byte("{\n  \"content\": []\n}"), 0o600); err != nil {
		t.Fatal(err)
	}
	for flag, want := range map[string]string{
		"--sse=false": "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\n  \"content\": []\n}}",
		"--sse":       "event: message\ndata: {\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\ndata:   \"content\": []\ndata: }}\n\n",
	} {
		h := newHandler(t, flag, "--result-file", name)
		if got := postMessage(t, h, toolCall("1", "raw", `{}`), "Mcp-Session-Id", openSession(t, h)).Body.String(); got != want {
			t.Errorf("%s: body %q, want %q", flag, got, want)
		}
	}
}

func TestNotificationsMakeAStream(t *testing.T) {
	t.Parallel()
	h := newHandler(t)
	w := postMessage(t, h, toolCall("1", "log", `{}`), "Mcp-Session-Id", openSession(t, h))
	if got := w.Header().Get("Content-Type"); got != "text/event-stream" || strings.Count(w.Body.String(), "data: ") != 2 {
		t.Errorf("content type %q, body %s", got, w.Body)
	}
}

// Closing the response of a modern call cancels it.
func TestHangUp(t *testing.T) {
	t.Parallel()
	d := startChild(t, "--era", "modern", "--http", "127.0.0.1:0")
	url := strings.TrimPrefix(d.readLine(d.stderr), "listening ")
	body := `{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":"slow","arguments":{"ms":600000,"steps":60000},"_meta":{"progressToken":1,` +
		strings.TrimPrefix(modernMeta, `"_meta":{`) + `}}`
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	for name, value := range map[string]string{
		"Content-Type": "application/json", "Accept": "application/json, text/event-stream",
		"MCP-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/call", "Mcp-Name": "slow",
	} {
		r.Header.Set(name, value)
	}
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	res, err := client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadFull(res.Body, make([]byte, 10)); err != nil {
		t.Fatal(err)
	}
	res.Body.Close()
	d.wantStderr("cancelled 5")
}

func BenchmarkEchoHTTP(b *testing.B) {
	h := newHandler(b)
	session := openSession(b, h)
	b.ReportAllocs()
	for b.Loop() {
		postMessage(b, h, toolCall("1", "echo", `{"text":"x"}`), "Mcp-Session-Id", session)
	}
}

// BenchmarkRoundTrip compares the handler with a minimal handler of net/http. Benchmarks of the gateway give
// their results relative to this handler.
func BenchmarkRoundTrip(b *testing.B) {
	least := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"x"}]}}`)
	})
	h := newHandler(b)
	session := openSession(b, h)
	for name, h := range map[string]http.Handler{"least": least, "echo": h} {
		b.Run(name, func(b *testing.B) {
			server := httptest.NewServer(h)
			defer server.Close()
			client := server.Client()
			b.ReportAllocs()
			for b.Loop() {
				r, err := http.NewRequestWithContext(b.Context(), http.MethodPost, server.URL+"/mcp", strings.NewReader(toolCall("1", "echo", `{"text":"x"}`)))
				if err != nil {
					b.Fatal(err)
				}
				r.Header.Set("Content-Type", "application/json")
				r.Header.Set("Accept", "application/json, text/event-stream")
				r.Header.Set("Mcp-Session-Id", session)
				res, err := client.Do(r)
				if err != nil {
					b.Fatal(err)
				}
				_, _ = io.Copy(io.Discard, res.Body)
				res.Body.Close()
			}
		})
	}
}
