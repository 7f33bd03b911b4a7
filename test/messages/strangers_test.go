package messages_test

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	"collie/internal/mcp"
)

// What a client does outside of calls does not reach the calls and sessions of others at a shared server: it can
// neither name their requests nor initialize the session of the server again.
func TestStrangers(t *testing.T) {
	t.Parallel()
	s := newServer(t, "shared", "legacy", false, "")
	g := startGateway(t, s)
	ada := g.client(t, "bridge", legacy, allCapabilities, "")
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_, _ = ada.callTool(ctx, s.tool("hang"), `{"mark":"ada"}`, `"progressToken":"ada"`)
	}()
	call := json.RawMessage(s.awaitReceived(t, 1, `"tools/call"`, "ada")[0])
	id := string(mcp.Get(call, "id"))
	token := string(mcp.Get(call, "params", "_meta", "progressToken"))
	for _, c := range []*client{g.client(t, "http", legacy, allCapabilities, ""), g.client(t, "bridge", legacy, allCapabilities, ""), g.client(t, "http", modern, "{}", "")} {
		for _, name := range []string{`"requestId":` + id, `"requestId":"` + id + `"`, `"requestId":` + id + `.0`, `"progressToken":` + token, `"progressToken":` + id + `,"requestId":` + id} {
			c.notify("notifications/vendor/abort", `{"mark":"stranger",`+name+`}`)
			_, failure, err := c.request(t.Context(), "vendor/abort", `{"mark":"stranger",`+name+`}`)
			if failure == nil || failure.Code() != mcp.CodeInvalidParams || !strings.Contains(failure.Error(), "in the same session") {
				t.Errorf("a request about another client's %s: %v, %v", name, failure, err)
			}
		}
		for _, method := range []string{"notifications/initialized", "notifications/cancelled"} {
			c.notify(method, `{"mark":"stranger","requestId":`+id+`}`)
			_, failure, err := c.request(t.Context(), method, `{"mark":"stranger","requestId":`+id+`}`)
			if failure == nil || failure.Code() != mcp.CodeMethodNotFound {
				t.Errorf("the request %s: %v, %v", method, failure, err)
			}
		}
		c.notify("notifications/vendor/after", `{"by":"`+c.Version+`"}`)
		s.awaitReceived(t, 1, "notifications/vendor/after", c.Version)
	}
	for _, method := range []string{"initialize", "server/discover", "notifications/initialized"} {
		body := `{"jsonrpc":"2.0","id":1,"method":"` + method + `","params":{"mark":"stranger","protocolVersion":"2025-03-26","capabilities":{},"clientInfo":{"name":"b","version":"1"}}}`
		session := g.post(t, `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-03-26","capabilities":{},"clientInfo":{"name":"b","version":"1"}}}`, "").Header.Get("Mcp-Session-Id")
		answer, err := io.ReadAll(g.post(t, "["+body+"]", session).Body)
		if err != nil || !strings.Contains(string(answer), "-32601") {
			t.Errorf("%s in a batch: %s, %v", method, answer, err)
		}
	}
	if got := s.received("stranger"); len(got) != 0 {
		t.Errorf("the server has heard\n%s", strings.Join(got, "\n"))
	}
	cancel()
	<-ended
}

// post sends a body to the MCP endpoint unchanged, in a session if one is given.
func (g *gateway) post(t *testing.T, body, session string) *http.Response {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, g.url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json, text/event-stream")
	if session != "" {
		req.Header.Set("Mcp-Session-Id", session)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = resp.Body.Close() })
	return resp
}
