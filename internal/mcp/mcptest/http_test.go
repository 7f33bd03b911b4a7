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

// post sends one message to a handler. header holds alternating names and values, which may replace the
// default ones.
func post(t testing.TB, h http.Handler, body string, header ...string) *httptest.ResponseRecorder {
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

func handler(t testing.TB, flags ...string) http.Handler {
	t.Helper()
	h, err := mcptest.Handler(flags...)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// open starts a legacy session.
func open(t testing.TB, h http.Handler) (session string) {
	t.Helper()
	session = post(t, h, initialize).Header().Get("Mcp-Session-Id")
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
		{"no_session", "", list("tools/list", ""), nil, 400, "-32600"},
		{"unknown_session", "", list("tools/list", ""), []string{"Mcp-Session-Id", "none"}, 404, "-32600"},
		{"origin", "", initialize, []string{"Origin", "https://example.com"}, 403, ""},
		{"local_origin", "", initialize, []string{"Origin", "http://localhost:5173"}, 200, ""},
		{"accept", "", initialize, []string{"Accept", "application/json"}, 406, ""},
		{"content_type", "", initialize, []string{"Content-Type", "text/plain"}, 415, ""},
		{"broken", "", `{"jsonrpc"`, nil, 400, "-32700"},
		{"legacy_server_probed", "", unknown, version, 400, "-32600"},
		{"modern_refuses_initialize", "--era modern", initialize, nil, 400, "-32022"},
		{"modern_no_headers", "--era modern", unknown, nil, 400, "-32020"},
		{"modern_other_method", "--era modern", unknown, with("Mcp-Method", "tools/list"), 400, "-32020"},
		{"modern_unknown_method", "--era modern", unknown, with("Mcp-Method", "no/such"), 404, "-32601"},
		{"modern_no_name", "--era modern", modernCall, with("Mcp-Method", "tools/call"), 400, "-32020"},
		{"modern_no_param", "--era modern", modernCall, with("Mcp-Method", "tools/call", "Mcp-Name", "header"), 400, "-32020"},
		{"modern_other_param", "--era modern", modernCall, with("Mcp-Method", "tools/call", "Mcp-Name", "header", "Mcp-Param-Region", "y"), 400, "-32020"},
		{"modern_encoded", "--era modern", modernCall, with("Mcp-Method", "tools/call", "Mcp-Name", "=?base64?aGVhZGVy?=", "Mcp-Param-Region", "x"), 200, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := post(t, handler(t, strings.Fields(c.flags)...), c.body, c.header...)
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
		handler(t, "--era", "modern").ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), method, "/mcp", nil))
		if w.Code != http.StatusMethodNotAllowed {
			t.Errorf("%s: status %d", method, w.Code)
		}
	}
}

func TestSessionEnds(t *testing.T) {
	t.Parallel()
	h := handler(t)
	session := open(t, h)
	call := func() int { return post(t, h, toolCall("1", "forget", `{}`), "Mcp-Session-Id", session).Code }
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
		h := handler(t, c.flag)
		w := post(t, h, toolCall("7", "odd", `{"seed":3,"size":5000}`), "Mcp-Session-Id", open(t, h))
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
		h := handler(t, flag, "--result-file", name)
		if got := post(t, h, toolCall("1", "raw", `{}`), "Mcp-Session-Id", open(t, h)).Body.String(); got != want {
			t.Errorf("%s: body %q, want %q", flag, got, want)
		}
	}
}

func TestNotificationsMakeAStream(t *testing.T) {
	t.Parallel()
	h := handler(t)
	w := post(t, h, toolCall("1", "log", `{}`), "Mcp-Session-Id", open(t, h))
	if got := w.Header().Get("Content-Type"); got != "text/event-stream" || strings.Count(w.Body.String(), "data: ") != 2 {
		t.Errorf("content type %q, body %s", got, w.Body)
	}
}

// Closing the response of a modern call cancels it.
func TestHangUp(t *testing.T) {
	t.Parallel()
	d := dial(t, "--era", "modern", "--http", "127.0.0.1:0")
	url := strings.TrimPrefix(d.read(d.stderr), "listening ")
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
	h := handler(b)
	session := open(b, h)
	b.ReportAllocs()
	for b.Loop() {
		post(b, h, toolCall("1", "echo", `{"text":"x"}`), "Mcp-Session-Id", session)
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
	h := handler(b)
	session := open(b, h)
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
