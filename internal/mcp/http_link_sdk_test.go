package mcp_test

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"collie/internal/mcp"
	"collie/test/await"
)

// newSDKServer is a server of the official SDK; its tools use everything that the transport offers.
func newSDKServer() *sdk.Server {
	s := sdk.NewServer(&sdk.Implementation{Name: "sdk", Version: "1"}, nil)
	type none struct{}
	type big struct {
		Bytes int `json:"bytes"`
	}
	text := func(s string) *sdk.CallToolResult {
		return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: s}}}
	}
	sdk.AddTool(s, &sdk.Tool{Name: "notes"}, func(ctx context.Context, req *sdk.CallToolRequest, _ none) (*sdk.CallToolResult, any, error) {
		for i := range 3 {
			err := req.Session.NotifyProgress(ctx, &sdk.ProgressNotificationParams{
				ProgressToken: req.Params.GetProgressToken(), Progress: float64(i + 1),
			})
			if err != nil {
				return nil, nil, err
			}
		}
		return text("noted"), nil, nil
	})
	sdk.AddTool(s, &sdk.Tool{Name: "ask"}, func(ctx context.Context, req *sdk.CallToolRequest, _ none) (*sdk.CallToolResult, any, error) {
		r, err := req.Session.ListRoots(ctx, nil)
		if err != nil {
			return nil, nil, err
		}
		return text(r.Roots[0].URI), nil, nil
	})
	sdk.AddTool(s, &sdk.Tool{Name: "big"}, func(_ context.Context, _ *sdk.CallToolRequest, in big) (*sdk.CallToolResult, any, error) {
		return text(strings.Repeat("x", in.Bytes)), nil, nil
	})
	sdk.AddTool(s, &sdk.Tool{Name: "hang"}, func(ctx context.Context, _ *sdk.CallToolRequest, _ none) (*sdk.CallToolResult, any, error) {
		<-ctx.Done()
		hung <- struct{}{}
		return nil, nil, ctx.Err()
	})
	return s
}

// hung gets a value for each call of the tool hang whose context has ended.
var hung = make(chan struct{}, 10)

const initializeParams = `{"protocolVersion":"2025-06-18","capabilities":{"roots":{}},"clientInfo":{"name":"t","version":"1"}}`

// handshake does the legacy handshake step by step.
func handshake(t *testing.T, l mcp.Link) {
	t.Helper()
	r, err := l.Call(t.Context(), &mcp.Request{Method: "initialize", Params: json.RawMessage(initializeParams), NoCancel: true})
	if err != nil || r.Error != nil {
		t.Fatalf("initialize: %s, %v", r.Error, err)
	}
	l.Agreed(mcp.GetString(r.Result, "protocolVersion"))
	if err := l.Notify(t.Context(), "notifications/initialized", nil); err != nil {
		t.Fatal(err)
	}
}

// callTool calls a tool with these params, JSON text, and returns the text of the result.
func callTool(t *testing.T, l mcp.Link, params string) string {
	t.Helper()
	r, err := l.Call(t.Context(), &mcp.Request{Method: "tools/call", Params: json.RawMessage(params), Owner: "me"})
	if err != nil || r.Error != nil {
		t.Fatalf("%s: %s, %v", params, r.Error, err)
	}
	var v struct{ Content []struct{ Text string } }
	if err := json.Unmarshal(r.Result, &v); err != nil || len(v.Content) == 0 {
		t.Fatalf("%s: %s, %v", params, r.Result, err)
	}
	return v.Content[0].Text
}

// startHandler serves h until the test ends and returns its URL.
func startHandler(t *testing.T, h http.Handler) string {
	t.Helper()
	srv := httptest.NewServer(h)
	t.Cleanup(func() {
		srv.CloseClientConnections()
		srv.Close()
	})
	return srv.URL
}

func TestHTTPWithSDK(t *testing.T) {
	t.Parallel()
	for name, opts := range map[string]*sdk.StreamableHTTPOptions{
		"events":           nil,
		"events resumable": {EventStore: sdk.NewMemoryEventStore(nil)},
		"json":             {JSONResponse: true},
		"stateless":        {Stateless: true},
		"stateless json":   {Stateless: true, JSONResponse: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := newSDKServer()
			url := startHandler(t, sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return server }, opts))
			h := newHandlerLog()
			h.answer = func(context.Context, mcp.Message, any) (json.RawMessage, error) {
				return json.RawMessage(`{"roots":[{"uri":"file:///root"}]}`), nil
			}
			l := dialHTTP(t, url, h, nil)
			handshake(t, l)
			stateful := opts == nil || !opts.Stateless
			if l.HasSession() != stateful {
				t.Errorf("session: %v", l.HasSession())
			}
			l.Listen()
			events := opts == nil || !opts.JSONResponse // without a stream nothing can be sent before the response
			if events {
				if got := callTool(t, l, `{"name":"notes","_meta":{"progressToken":"p"}}`); got != "noted" {
					t.Errorf("got %q", got)
				}
				want := []string{"notifications/progress me", "notifications/progress me", "notifications/progress me"}
				if got := h.all(); !slices.Equal(got, want) {
					t.Errorf("heard %q before the response, want %q", got, want)
				}
			}
			if got := callTool(t, l, `{"name":"big","arguments":{"bytes":2097152}}`); len(got) != 2<<20 {
				t.Errorf("big result of %d bytes", len(got))
			}
			if !stateful {
				return
			}
			if events {
				if got := callTool(t, l, `{"name":"ask"}`); got != "file:///root" {
					t.Errorf("asked back and got %q", got)
				}
			}
			server.AddTool(&sdk.Tool{Name: "new", InputSchema: json.RawMessage(`{"type":"object"}`)}, nil)
			h.waitFor(t, "notifications/tools/list_changed <nil>")
			if err := l.Close(); err != nil {
				t.Fatal(err)
			}
			for range server.Sessions() {
				t.Error("the server still has a session after Close")
			}
		})
	}
}

func TestHTTPCancelWithSDK(t *testing.T) {
	server := newSDKServer()
	url := startHandler(t, sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return server }, nil))
	l := dialHTTP(t, url, nil, nil)
	handshake(t, l)
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	if _, err := l.Call(ctx, &mcp.Request{Method: "tools/call", Params: json.RawMessage(`{"name":"hang"}`)}); err == nil {
		t.Fatal("the call came back")
	}
	start := time.Now()
	<-hung
	await.Within(t, "to tell the server", time.Since(start), 500*time.Millisecond)
}

// When the server ends a session, its requests get 404.
func TestHTTPSessionGoneWithSDK(t *testing.T) {
	t.Parallel()
	server := newSDKServer()
	url := startHandler(t, sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return server }, nil))
	l := dialHTTP(t, url, nil, nil)
	handshake(t, l)
	for s := range server.Sessions() {
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
	_, err := l.Call(t.Context(), &mcp.Request{Method: "tools/list"})
	if e := mustBeLinkError(t, err); e.Status != http.StatusNotFound {
		t.Errorf("got %+v", e)
	}
	handshake(t, l)
	if got := callTool(t, l, `{"name":"big","arguments":{"bytes":3}}`); got != "xxx" {
		t.Errorf("got %q", got)
	}
}

// The modern era against the SDK's server, which checks the header fields.
func TestHTTPModernWithSDK(t *testing.T) {
	t.Parallel()
	server := newSDKServer()
	schema := `{"type":"object","properties":{"region":{"type":"string","x-mcp-header":"Region"}}}`
	server.AddTool(&sdk.Tool{Name: "where", InputSchema: json.RawMessage(schema)},
		func(_ context.Context, req *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
			return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: req.Extra.Header.Get("Mcp-Param-Region")}}}, nil
		})
	url := startHandler(t, sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return server }, &sdk.StreamableHTTPOptions{Stateless: true}))
	l := dialHTTP(t, url, nil, nil)
	meta := `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"t","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}`
	r, err := l.Call(t.Context(), &mcp.Request{Method: "server/discover", Params: json.RawMessage(`{` + meta + `}`)})
	if err != nil || mcp.Get(r.Result, "supportedVersions") == nil {
		t.Fatalf("discover: %s, %s, %v", r.Result, r.Error, err)
	}
	l.Agreed("2026-07-28")
	params, err := mcp.CompileParamHeaders(json.RawMessage(schema))
	if err != nil {
		t.Fatal(err)
	}
	args := json.RawMessage(`{"region":"Zürich"}`)
	req := &mcp.Request{
		Method: "tools/call", Name: "where", Header: params.Pairs(args),
		Params: json.RawMessage(`{"name":"where","arguments":` + string(args) + `,` + meta + `}`),
	}
	r, err = l.Call(t.Context(), req)
	if err != nil || !strings.Contains(string(r.Result), mcp.EncodeHeaderValue("Zürich")) {
		t.Errorf("call: %s, %s, %v", r.Result, r.Error, err)
	}
	req.Header = nil
	r, err = l.Call(t.Context(), req)
	if err != nil || mcp.Get(r.Error, "code") == nil {
		t.Errorf("without the header: %s, %s, %v", r.Result, r.Error, err)
	}
	r, err = l.Call(t.Context(), &mcp.Request{Method: "no/such", Params: json.RawMessage(`{` + meta + `}`)})
	if err != nil || string(mcp.Get(r.Error, "code")) != "-32601" {
		t.Errorf("unknown method: %s, %s, %v", r.Result, r.Error, err)
	}
}
