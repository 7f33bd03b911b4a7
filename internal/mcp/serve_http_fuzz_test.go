package mcp_test

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"unicode/utf8"

	"collie/internal/mcp"
)

// echoService is a Service that answers every request at once. It asks clients whose requests can be parked.
type echoService struct{}

func (echoService) Hello(context.Context, *mcp.Peer) mcp.Hello {
	return mcp.Hello{Info: json.RawMessage(`{}`), Capabilities: json.RawMessage(`{}`)}
}
func (echoService) Notified(*mcp.Peer, mcp.Message) {}
func (echoService) Opened(*mcp.Peer)                {}
func (echoService) Closed(*mcp.Peer)                {}

func (echoService) Handle(ctx context.Context, in *mcp.Incoming) (json.RawMessage, error) {
	switch {
	case in.Method == "ask" && in.Peer.Era == mcp.Modern:
		return in.Ask(ctx, "roots/list", in.Params)
	case in.Method == "note":
		in.Notify("note", in.Params)
	case in.Params == nil:
		return nil, &mcp.Error{Code: mcp.CodeInvalidParams, Message: in.Method}
	}
	return mcp.Edit(nil, mcp.Field{Key: "is", Value: in.Params}), nil
}

// FuzzHTTPBody: any body under any headers gets a well-formed answer.
func FuzzHTTPBody(f *testing.F) {
	for _, body := range []string{
		"", "{", "[]", "[1]", "null", `"x"`, initializeMessage, rpcRequest(1, "ping", "{}"), rpcRequest(1, "note", `{"a":"\ud800"}`), rpcRequest(1, "ask", "{"+modernMeta(allCapabilities)+"}"),
		rpcRequest(1, "server/discover", "{"+modernMeta("{}")+"}"), rpcRequest(1, "x", "{"+modernMeta("[]")+"}"), `{"jsonrpc":"2.0","id":1,"result":{}}`,
		"[" + rpcRequest(1, "note", "{}") + "," + rpcRequest(1, "x", "[]") + ",{}]", `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":[]}}`,
		rpcRequest(1, "tools/call", `{"name":5,`+modernMeta(`{"roots":{}}`)+`,"requestState":"collie.park.X","inputResponses":[]}`), "\xff\xfe{}", "\ufeff{}",
		`{"jsonrpc":"2.0","id":"\n\u0000","method":"x"}`, `{"jsonrpc":"2.0","id":1e999,"method":"x"}`, strings.Repeat("[", 1100),
	} {
		f.Add([]byte(body), "POST", "application/json", "application/json, text/event-stream", "", "", "", "", true)
		f.Add([]byte(body), "POST", "application/json; x", "*/*", "2026-07-28", "ask", "=?base64?eA==?=", "", false)
	}
	f.Add([]byte{}, "DELETE", "", "", "", "", "", "", true)
	f.Add([]byte{}, "GET", "", "text/event-stream", "2025-06-18", "", "", "s_1", true)
	f.Add([]byte{}, "GET", "", "text/event-stream", "", "", "", "_", true)
	f.Fuzz(func(t *testing.T, body []byte, method, contentType, accept, version, mcpMethod, name, lastEvent string, inSession bool) {
		server := mcp.NewHTTPServer(echoService{}, &mcp.HTTPServerOptions{MaxBody: 4096})
		defer server.Close()
		id := ""
		if inSession {
			w := httptest.NewRecorder()
			r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/", strings.NewReader(strings.Replace(initializeMessage, "2025-06-18", "2025-03-26", 1)))
			r.Header.Set("Content-Type", "application/json")
			server.ServeHTTP(w, r)
			id = w.Header().Get("Mcp-Session-Id")
		}
		r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/", bytes.NewReader(body))
		r.Method = method
		r.Header = http.Header{
			"Content-Type": {contentType}, "Accept": {accept}, "Mcp-Protocol-Version": {version}, "Mcp-Method": {mcpMethod},
			"Mcp-Name": {name}, "Last-Event-Id": {lastEvent}, "Mcp-Session-Id": {id},
		}
		if method == http.MethodGet { // otherwise a stream would never end
			ctx, cancel := context.WithCancel(t.Context())
			cancel()
			r = r.WithContext(ctx)
		}
		w := httptest.NewRecorder()
		server.ServeHTTP(w, r)
		got := w.Body.Bytes()
		if !utf8.Valid(got) {
			t.Fatalf("answer with invalid UTF-8: %q", got)
		}
		switch ct := w.Header().Get("Content-Type"); {
		case w.Code == http.StatusAccepted || w.Code == http.StatusNoContent:
			if len(got) > 0 {
				t.Fatalf("status %d with the body %q", w.Code, got)
			}
		case w.Code == http.StatusOK && ct == "text/event-stream":
			checkWellFormedEvents(t, string(got))
		case ct != "application/json" || !json.Valid(got):
			t.Fatalf("status %d, %s, body %q", w.Code, ct, got)
		}
	})
}

// checkWellFormedEvents fails unless text is an event stream whose data are JSON.
func checkWellFormedEvents(t *testing.T, text string) {
	t.Helper()
	for line := range strings.SplitSeq(text, "\n") {
		field, value, _ := strings.Cut(line, ": ")
		switch field {
		case "", "id", "event", "retry":
		case "data":
			if value != "" && !json.Valid([]byte(value)) {
				t.Fatalf("event with %q", value)
			}
		default:
			t.Fatalf("a stream with the line %q", line)
		}
	}
}
