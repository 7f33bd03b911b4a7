package gateway

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"testing"

	"collie/internal/mcp"
)

// The protocols to dial with, one of each era.
const (
	Legacy = "2025-11-25"
	Modern = "2026-07-28"
)

// Client is an MCP client, of either era, of the gateway.
type Client struct{ *mcp.Client }

// Dial opens a session with the gateway over HTTP. With an empty token it sends none.
func (g *Gateway) Dial(tb testing.TB, protocol, token string) *Client {
	tb.Helper()
	return connect(tb, g.dialHTTP(token, deaf{}), protocol)
}

// dialHTTP returns a connection to the gateway; h receives its messages.
func (g *Gateway) dialHTTP(token string, h mcp.Handler) mcp.Link {
	head := http.Header{}
	if token != "" {
		head.Set("Authorization", "Bearer "+token)
	}
	return mcp.DialHTTP(g.URL+"/mcp", h, &mcp.HTTPOptions{Header: func() http.Header { return head }})
}

// DialStdio runs `collie stdio` with the settings and opens a session over its pipes.
func (p Programs) DialStdio(tb testing.TB, protocol, home, settings string) (*Process, *Client) {
	tb.Helper()
	run := p.start(tb, home, "stdio", "--config", settings)
	link := mcp.NewConn(mcp.NewLines(run.Stdout, run.Stdin, 0, run.Stdin.Close), deaf{}, nil)
	return run, connect(tb, link, protocol)
}

// Start runs `collie args…`; the caller uses its pipes.
func (p Programs) Start(tb testing.TB, home string, args ...string) *Process {
	tb.Helper()
	return p.start(tb, home, args...)
}

// StartStdio runs `collie stdio` with the settings; the caller uses its pipes.
func (p Programs) StartStdio(tb testing.TB, home, settings string) *Process {
	tb.Helper()
	return p.start(tb, home, "stdio", "--config", settings)
}

// StartLocalStdio is StartStdio for a client that has its own servers even if a gateway is running.
func (p Programs) StartLocalStdio(tb testing.TB, home, settings string) *Process {
	tb.Helper()
	return p.start(tb, home, "stdio", "--local", "--config", settings)
}

func connect(tb testing.TB, link mcp.Link, protocol string) *Client {
	tb.Helper()
	tb.Cleanup(func() { _ = link.Close() })
	ctx, cancel := context.WithTimeout(tb.Context(), limit)
	defer cancel()
	c, err := mcp.Connect(ctx, link, mcp.ClientOptions{Info: json.RawMessage(`{"name":"test","version":"1"}`), Protocol: protocol})
	if err != nil {
		tb.Fatalf("open a session: %v", err)
	}
	return &Client{c}
}

// Do sends a request and returns its result. An error from the server is an [*mcp.RPCError].
func (c *Client) Do(ctx context.Context, method, params string) (json.RawMessage, error) {
	raw := c.Own(json.RawMessage(params))
	req := &mcp.Request{Method: method, Params: raw}
	switch method { // 2026-07-28: Mcp-Name
	case "tools/call", "prompts/get":
		req.Name = mcp.GetString(raw, "name")
	case "resources/read":
		req.Name = mcp.GetString(raw, "uri")
	}
	r, err := c.Call(ctx, req)
	if err != nil {
		return nil, err
	}
	if r.Error != nil {
		return nil, &mcp.RPCError{Raw: r.Error}
	}
	return r.Result, nil
}

// Tool calls a tool and returns the text of its result. A result with isError is returned as a [*Failure].
func (c *Client) Tool(ctx context.Context, name, args string) (string, error) {
	result, err := c.Do(ctx, "tools/call", `{"name":`+string(mcp.Quote(name))+`,"arguments":`+args+`}`)
	if err != nil {
		return "", err
	}
	var body struct {
		IsError bool
		Content []struct{ Text string }
	}
	if err := json.Unmarshal(result, &body); err != nil {
		return "", err
	}
	var text strings.Builder
	for _, part := range body.Content {
		text.WriteString(part.Text)
	}
	if body.IsError {
		return "", &Failure{Text: text.String()}
	}
	return text.String(), nil
}

// Failure is a tool result that reports a failure.
type Failure struct{ Text string }

// Error returns the text of the result.
func (f *Failure) Error() string { return f.Text }

// Type returns the type of an error made by the gateway; empty for an error of a server.
func (f *Failure) Type() string { return mcp.GetString(json.RawMessage(f.Text), "error", "type") }

// TypeOf returns the type of the gateway's own error in err, or "".
func TypeOf(err error) string {
	if f, ok := errors.AsType[*Failure](err); ok && json.Valid([]byte(f.Text)) {
		return f.Type()
	}
	if e, ok := errors.AsType[*mcp.RPCError](err); ok {
		return mcp.GetString(e.Raw, "data", "error", "type")
	}
	return ""
}

// deaf ignores notifications and refuses requests.
type deaf struct{}

func (deaf) Notification(mcp.Message, any) {}

func (deaf) Request(_ context.Context, m mcp.Message, _ any) (json.RawMessage, error) {
	if m.Method == "ping" {
		return json.RawMessage("{}"), nil
	}
	return nil, &mcp.Error{Code: mcp.CodeMethodNotFound, Message: m.Method}
}
