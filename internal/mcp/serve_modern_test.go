package mcp_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"collie/internal/mcp"
)

// modern returns the header fields of a modern request as alternating names and values.
func modern(method string, more ...string) []string {
	return append([]string{"MCP-Protocol-Version", "2026-07-28", "Mcp-Method", method}, more...)
}

func TestServeModernHTTP(t *testing.T) {
	t.Parallel()
	s := newSite(t, mcp.HTTPServerOptions{Headers: func(in *mcp.Incoming) error {
		if in.Header.Get("Mcp-Param-Bad") != "" {
			return errors.New("Mcp-Param-Bad says something else")
		}
		return nil
	}})
	named := func(name string) string { return `{"name":"` + name + `","arguments":{},` + meta("{}") + `}` }
	for _, tc := range []struct {
		name, method, params string
		head                 []string
		status               int
		want                 string
	}{
		{"plain", "echo", "{" + meta("{}") + "}", modern("echo"), 200, `"result":{"resultType":"complete"`},
		{"discover", "server/discover", "{" + meta("{}") + "}", modern("server/discover"), 200, `"supportedVersions":["2026-07-28"`},
		{"tool", "tools/call", named("echo"), modern("tools/call", "Mcp-Name", "echo"), 200, `"result"`},
		{"tool_in_base64", "tools/call", named("echo"), modern("tools/call", "Mcp-Name", "=?base64?ZWNobw==?="), 200, `"result"`},
		{"version_missing", "echo", "{" + meta("{}") + "}", modern("echo", "MCP-Protocol-Version", ""), 400, `-32020`},
		{"version_differs", "echo", "{" + meta("{}") + "}", modern("echo", "MCP-Protocol-Version", "2025-11-25"), 400, `-32020`},
		{"method_missing", "echo", "{" + meta("{}") + "}", modern(""), 400, `-32020`},
		{"method_differs", "echo", "{" + meta("{}") + "}", modern("Echo"), 400, `-32020`},
		{"name_missing", "tools/call", named("echo"), modern("tools/call"), 400, `-32020`},
		{"name_differs", "tools/call", named("echo"), modern("tools/call", "Mcp-Name", "wait"), 400, `-32020`},
		{"name_bad_base64", "tools/call", named("echo"), modern("tools/call", "Mcp-Name", "=?base64?%?="), 400, `-32020`},
		{"prompt_differs", "prompts/get", named("a"), modern("prompts/get", "Mcp-Name", "b"), 400, `-32020`},
		{"uri_differs", "resources/read", `{"uri":"x://a",` + meta("{}") + `}`, modern("resources/read", "Mcp-Name", "x://b"), 400, `-32020`},
		{"param_differs", "tools/call", named("echo"), modern("tools/call", "Mcp-Name", "echo", "Mcp-Param-Bad", "1"), 400, `-32020`},
		{"no_meta", "echo", `{}`, modern("echo"), 400, `-32602`},
		{"no_params", "echo", `null`, modern("echo"), 400, `-32602`},
		{"no_capabilities", "echo", `{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}`, modern("echo"), 400, `-32602`},
		{"no_version", "echo", `{"_meta":{"io.modelcontextprotocol/clientCapabilities":{}}}`, modern("echo"), 400, `-32602`},
		{"initialize", "initialize", "{" + meta("{}") + "}", modern("initialize"), 404, `-32601`},
		{"ping", "ping", "{" + meta("{}") + "}", modern("ping"), 404, `-32601`},
		{"unknown_method", "no/such", "{" + meta("{}") + "}", modern("no/such"), 404, `-32601`},
		{"error_in_the_call", "fail", `{"error":{"code":-32602,"message":"m"},` + meta("{}") + `}`, modern("fail"), 200, `"error":{"code":-32602,"message":"m"}}`},
		{"capability_missing", "fail", `{"error":{"code":-32021,"message":"m"},` + meta("{}") + `}`, modern("fail"), 400, `"error":{"code":-32021,"message":"m"}}`},
		{
			"future", "echo", "{" + strings.Replace(meta("{}"), "2026-07-28", "2030-01-01", 1) + "}",
			modern("echo", "MCP-Protocol-Version", "2030-01-01"), 400, `"data":{"requested":"2030-01-01","supported":["2026-07-28"]}`,
		},
	} {
		r := s.do("POST", rpc(7, tc.method, tc.params), tc.head...)
		if r.status != tc.status || !strings.Contains(r.body, tc.want) || !strings.HasPrefix(r.body, `{"jsonrpc":"2.0","id":7,`) {
			t.Errorf("%s: %d %s\nwant %d with %s", tc.name, r.status, r.body, tc.status, tc.want)
		}
		if r.header.Get("Mcp-Session-Id") != "" {
			t.Errorf("%s: an answer to a modern request names a session", tc.name)
		}
	}
	for body, status := range map[string]int{
		`{"jsonrpc":"2.0","method":"notifications/x"}`:   202,
		`{"jsonrpc":"2.0","id":1,"result":{}}`:           400,
		`{"jsonrpc":"2.0","id":1,"error":{"code":1}}`:    400,
		`[` + rpc(1, "echo", "{"+meta("{}")+"}") + `]`:   400,
		`{"jsonrpc":"2.0","id":1,"method":"echo",`:       400,
		`{"jsonrpc":"2.0","id":null,"method":"echo"}`:    400,
		"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"\"}": 400,
	} {
		if r := s.do("POST", body, modern("echo")...); r.status != status {
			t.Errorf("%s gives %d %s, want %d", body, r.status, r.body, status)
		}
	}
	if d := cmp.Diff([]string{"notified notifications/x"}, s.desk.noted()); d != "" {
		t.Errorf("what the service was told (-want +got):\n%s", d)
	}
}

func TestServeModernNotes(t *testing.T) {
	t.Parallel()
	s := newSite(t, mcp.HTTPServerOptions{})
	params := `{"n":3,` + strings.Replace(meta("{}"), "{", `{"progressToken":1.0,`, 1) + `}`
	r := s.do("POST", rpc(1, "note", params), modern("note")...)
	if len(r.messages) != 4 {
		t.Fatalf("%d messages: %s", len(r.messages), r.body)
	}
	for n, m := range r.messages[:3] {
		if m.Method != "notifications/progress" || string(mcp.Get(m.Params, "progressToken")) != "1.0" || string(mcp.Get(m.Params, "progress")) != string(rune('1'+n)) {
			t.Errorf("message %d: %s", n, m.Raw)
		}
	}
	if m := r.messages[3]; m.ID != "1" || textOf(t, m.Result) != "noted" {
		t.Errorf("last: %s", m.Raw)
	}
	if strings.Contains(r.body, "id:") {
		t.Errorf("events of the modern era have ids:\n%s", r.body)
	}
	// No message is lost at the beginning of a request that may ask the client.
	may := strings.Replace(params, `Capabilities":{}`, `Capabilities":`+canAll, 1)
	for range 50 {
		if r := s.do("POST", rpc(1, "note", may), modern("note")...); len(r.messages) != 4 {
			t.Fatalf("%d messages: %s", len(r.messages), r.body)
		}
	}
	// A client that does not accept streams gets only the response.
	r = s.do("POST", rpc(1, "note", params), modern("note", "Accept", "application/json")...)
	if r.status != 200 || !strings.HasPrefix(r.body, `{"jsonrpc":"2.0","id":1,"result"`) {
		t.Errorf("%d %s", r.status, r.body)
	}
}

// A modern client cancels a request by closing the response.
func TestServeModernCancel(t *testing.T) {
	t.Parallel()
	s := newSite(t, mcp.HTTPServerOptions{})
	for _, caps := range []string{"{}", `{"sampling":{}}`} {
		ctx, cancel := context.WithCancel(t.Context())
		gone := make(chan struct{})
		go func() {
			defer close(gone)
			<-s.desk.began
			cancel()
		}()
		resp := s.trySend(ctx, rpc(1, "wait", "{"+meta(caps)+"}"), modern("wait")...)
		if resp != nil {
			t.Errorf("answered %d", resp.StatusCode)
			_ = resp.Body.Close()
		}
		<-gone
		if err := <-s.desk.ended; !errors.Is(err, context.Canceled) {
			t.Errorf("ended with %v", err)
		}
	}
}

func TestServeModernListen(t *testing.T) {
	t.Parallel()
	s := newSite(t, mcp.HTTPServerOptions{})
	ctx, cancel := context.WithCancel(t.Context())
	resp := s.send(ctx, "POST", rpc(1, "subscriptions/listen", "{"+meta(`{"roots":{}}`)+"}"), modern("subscriptions/listen")...)
	defer resp.Body.Close()
	if e, ok := newEventReader(resp.Body).next(t); !ok || e.message.Method != "notifications/subscriptions/acknowledged" {
		t.Errorf("began with %s", e.message.Raw)
	}
	<-s.desk.began
	cancel()
	<-s.desk.ended
}
