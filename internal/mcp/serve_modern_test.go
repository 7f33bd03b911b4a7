package mcp_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"collie/internal/mcp"
)

// modernHeaders returns the header fields of a modern request as alternating names and values.
func modernHeaders(method string, more ...string) []string {
	return append([]string{"MCP-Protocol-Version", "2026-07-28", "Mcp-Method", method}, more...)
}

func TestServeModernHTTP(t *testing.T) {
	t.Parallel()
	s := newHTTPFixture(t, mcp.HTTPServerOptions{Headers: func(in *mcp.Incoming) error {
		if in.Header.Get("Mcp-Param-Bad") != "" {
			return errors.New("Mcp-Param-Bad says something else")
		}
		return nil
	}})
	named := func(name string) string { return `{"name":"` + name + `","arguments":{},` + modernMeta("{}") + `}` }
	for _, tc := range []struct {
		name, method, params string
		head                 []string
		status               int
		want                 string
	}{
		{name: "plain", method: "echo", params: "{" + modernMeta("{}") + "}", head: modernHeaders("echo"), status: 200, want: `"result":{"resultType":"complete"`},
		{name: "discover", method: "server/discover", params: "{" + modernMeta("{}") + "}", head: modernHeaders("server/discover"), status: 200, want: `"supportedVersions":["2026-07-28"`},
		{name: "tool", method: "tools/call", params: named("echo"), head: modernHeaders("tools/call", "Mcp-Name", "echo"), status: 200, want: `"result"`},
		{name: "tool_in_base64", method: "tools/call", params: named("echo"), head: modernHeaders("tools/call", "Mcp-Name", "=?base64?ZWNobw==?="), status: 200, want: `"result"`},
		{name: "version_missing", method: "echo", params: "{" + modernMeta("{}") + "}", head: modernHeaders("echo", "MCP-Protocol-Version", ""), status: 400, want: `-32020`},
		{name: "version_differs", method: "echo", params: "{" + modernMeta("{}") + "}", head: modernHeaders("echo", "MCP-Protocol-Version", "2025-11-25"), status: 400, want: `-32020`},
		{name: "method_missing", method: "echo", params: "{" + modernMeta("{}") + "}", head: modernHeaders(""), status: 400, want: `-32020`},
		{name: "method_differs", method: "echo", params: "{" + modernMeta("{}") + "}", head: modernHeaders("Echo"), status: 400, want: `-32020`},
		{name: "name_missing", method: "tools/call", params: named("echo"), head: modernHeaders("tools/call"), status: 400, want: `-32020`},
		{name: "name_differs", method: "tools/call", params: named("echo"), head: modernHeaders("tools/call", "Mcp-Name", "wait"), status: 400, want: `-32020`},
		{name: "name_bad_base64", method: "tools/call", params: named("echo"), head: modernHeaders("tools/call", "Mcp-Name", "=?base64?%?="), status: 400, want: `-32020`},
		{name: "prompt_differs", method: "prompts/get", params: named("a"), head: modernHeaders("prompts/get", "Mcp-Name", "b"), status: 400, want: `-32020`},
		{name: "uri_differs", method: "resources/read", params: `{"uri":"x://a",` + modernMeta("{}") + `}`, head: modernHeaders("resources/read", "Mcp-Name", "x://b"), status: 400, want: `-32020`},
		{name: "param_differs", method: "tools/call", params: named("echo"), head: modernHeaders("tools/call", "Mcp-Name", "echo", "Mcp-Param-Bad", "1"), status: 400, want: `-32020`},
		{name: "no_meta", method: "echo", params: `{}`, head: modernHeaders("echo"), status: 400, want: `-32602`},
		{name: "no_params", method: "echo", params: `null`, head: modernHeaders("echo"), status: 400, want: `-32602`},
		{name: "no_capabilities", method: "echo", params: `{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}`, head: modernHeaders("echo"), status: 400, want: `-32602`},
		{name: "no_version", method: "echo", params: `{"_meta":{"io.modelcontextprotocol/clientCapabilities":{}}}`, head: modernHeaders("echo"), status: 400, want: `-32602`},
		{name: "initialize", method: "initialize", params: "{" + modernMeta("{}") + "}", head: modernHeaders("initialize"), status: 404, want: `-32601`},
		{name: "ping", method: "ping", params: "{" + modernMeta("{}") + "}", head: modernHeaders("ping"), status: 404, want: `-32601`},
		{name: "unknown_method", method: "no/such", params: "{" + modernMeta("{}") + "}", head: modernHeaders("no/such"), status: 404, want: `-32601`},
		{name: "error_in_the_call", method: "fail", params: `{"error":{"code":-32602,"message":"m"},` + modernMeta("{}") + `}`, head: modernHeaders("fail"), status: 200, want: `"error":{"code":-32602,"message":"m"}}`},
		{name: "capability_missing", method: "fail", params: `{"error":{"code":-32021,"message":"m"},` + modernMeta("{}") + `}`, head: modernHeaders("fail"), status: 400, want: `"error":{"code":-32021,"message":"m"}}`},
		{
			name: "future", method: "echo", params: "{" + strings.Replace(modernMeta("{}"), "2026-07-28", "2030-01-01", 1) + "}",
			head: modernHeaders("echo", "MCP-Protocol-Version", "2030-01-01"), status: 400, want: `"data":{"requested":"2030-01-01","supported":["2026-07-28"]}`,
		},
	} {
		r := s.exchange("POST", rpcRequest(7, tc.method, tc.params), tc.head...)
		if r.status != tc.status || !strings.Contains(r.body, tc.want) || !strings.HasPrefix(r.body, `{"jsonrpc":"2.0","id":7,`) {
			t.Errorf("%s: %d %s\nwant %d with %s", tc.name, r.status, r.body, tc.status, tc.want)
		}
		if r.header.Get("Mcp-Session-Id") != "" {
			t.Errorf("%s: an answer to a modern request names a session", tc.name)
		}
	}
	for body, status := range map[string]int{
		`{"jsonrpc":"2.0","method":"notifications/x"}`:              202,
		`{"jsonrpc":"2.0","id":1,"result":{}}`:                      400,
		`{"jsonrpc":"2.0","id":1,"error":{"code":1}}`:               400,
		`[` + rpcRequest(1, "echo", "{"+modernMeta("{}")+"}") + `]`: 400,
		`{"jsonrpc":"2.0","id":1,"method":"echo",`:                  400,
		`{"jsonrpc":"2.0","id":null,"method":"echo"}`:               400,
		"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"\"}":            400,
	} {
		if r := s.exchange("POST", body, modernHeaders("echo")...); r.status != status {
			t.Errorf("%s gives %d %s, want %d", body, r.status, r.body, status)
		}
	}
	if d := cmp.Diff([]string{"notified notifications/x"}, s.service.recordedEvents()); d != "" {
		t.Errorf("what the service was told (-want +got):\n%s", d)
	}
}

func TestServeModernNotes(t *testing.T) {
	t.Parallel()
	s := newHTTPFixture(t, mcp.HTTPServerOptions{})
	params := `{"n":3,` + strings.Replace(modernMeta("{}"), "{", `{"progressToken":1.0,`, 1) + `}`
	r := s.exchange("POST", rpcRequest(1, "note", params), modernHeaders("note")...)
	if len(r.messages) != 4 {
		t.Fatalf("%d messages: %s", len(r.messages), r.body)
	}
	for n, m := range r.messages[:3] {
		if m.Method != "notifications/progress" || string(mcp.Get(m.Params, "progressToken")) != "1.0" || string(mcp.Get(m.Params, "progress")) != string(rune('1'+n)) {
			t.Errorf("message %d: %s", n, m.Raw)
		}
	}
	if m := r.messages[3]; m.ID != "1" || textOfResult(t, m.Result) != "noted" {
		t.Errorf("last: %s", m.Raw)
	}
	if strings.Contains(r.body, "id:") {
		t.Errorf("events of the modern era have ids:\n%s", r.body)
	}
	// No message is lost at the beginning of a request that may ask the client.
	may := strings.Replace(params, `Capabilities":{}`, `Capabilities":`+allCapabilities, 1)
	for range 50 {
		if r := s.exchange("POST", rpcRequest(1, "note", may), modernHeaders("note")...); len(r.messages) != 4 {
			t.Fatalf("%d messages: %s", len(r.messages), r.body)
		}
	}
	// A client that does not accept streams gets only the response.
	r = s.exchange("POST", rpcRequest(1, "note", params), modernHeaders("note", "Accept", "application/json")...)
	if r.status != 200 || !strings.HasPrefix(r.body, `{"jsonrpc":"2.0","id":1,"result"`) {
		t.Errorf("%d %s", r.status, r.body)
	}
}

// A modern client cancels a request by closing the response.
func TestServeModernCancel(t *testing.T) {
	t.Parallel()
	s := newHTTPFixture(t, mcp.HTTPServerOptions{})
	for _, caps := range []string{"{}", `{"sampling":{}}`} {
		ctx, cancel := context.WithCancel(t.Context())
		gone := make(chan struct{})
		go func() {
			defer close(gone)
			<-s.service.began
			cancel()
		}()
		resp := s.tryPost(ctx, rpcRequest(1, "wait", "{"+modernMeta(caps)+"}"), modernHeaders("wait")...)
		if resp != nil {
			t.Errorf("answered %d", resp.StatusCode)
			_ = resp.Body.Close()
		}
		<-gone
		if err := <-s.service.ended; !errors.Is(err, context.Canceled) {
			t.Errorf("ended with %v", err)
		}
	}
}

func TestServeModernListen(t *testing.T) {
	t.Parallel()
	s := newHTTPFixture(t, mcp.HTTPServerOptions{})
	ctx, cancel := context.WithCancel(t.Context())
	resp := s.send(ctx, "POST", rpcRequest(1, "subscriptions/listen", "{"+modernMeta(`{"roots":{}}`)+"}"), modernHeaders("subscriptions/listen")...)
	defer resp.Body.Close()
	if e, ok := newEventReader(resp.Body).next(t); !ok || e.message.Method != "notifications/subscriptions/acknowledged" {
		t.Errorf("began with %s", e.message.Raw)
	}
	<-s.service.began
	cancel()
	<-s.service.ended
}
