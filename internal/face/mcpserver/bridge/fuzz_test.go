package bridge_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"collie/internal/face/mcpserver/bridge"
	"collie/internal/mcp"
)

// answerer is a gateway that gives every request the same answer.
type answerer struct {
	status int
	kind   string
	body   string
}

func (a *answerer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch {
	case r.Method != http.MethodPost:
		w.WriteHeader(http.StatusMethodNotAllowed)
		return
	case r.Header.Get("Mcp-Session-Id") == "" && r.Header.Get("Mcp-Method") == "":
		w.Header().Set("Mcp-Session-Id", "s")
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":"2025-11-25"}}`)
		return
	}
	_, _ = io.Copy(io.Discard, r.Body)
	w.Header().Set("Content-Type", a.kind)
	w.WriteHeader(a.status)
	_, _ = io.WriteString(w, a.body)
}

// exchange sends input through a bridge to a and returns the output.
func exchange(t *testing.T, a *answerer, input string) []string {
	t.Helper()
	web := httptest.NewServer(a)
	defer web.Close()
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	defer cancel()
	var out bytes.Buffer
	err := bridge.Serve(ctx, strings.NewReader(input), &out, nil, bridge.Gateway{URL: web.URL, Key: "k"}, bridge.Options{
		Find:     func(context.Context) (bridge.Gateway, error) { return bridge.Gateway{URL: web.URL, Key: "k"}, nil },
		Open:     func(context.Context) (bridge.Opened, error) { return bridge.Opened{}, errors.New("no") },
		LossWait: 5 * time.Millisecond, Drain: time.Second,
	})
	if err != nil || ctx.Err() != nil {
		t.Fatalf("the bridge ended with %v, %v", err, ctx.Err())
	}
	text := strings.TrimSuffix(out.String(), "\n")
	if text == "" {
		return nil
	}
	return strings.Split(text, "\n")
}

// FuzzClient: whatever a client sends, the output consists of messages, and each request gets at most one
// response.
func FuzzClient(f *testing.F) {
	for _, line := range dialogue {
		f.Add(initializeRequest + "\n" + line + "\n")
		f.Add(line)
	}
	f.Fuzz(func(t *testing.T, input string) {
		a := &answerer{http.StatusOK, "application/json", `{"jsonrpc":"2.0","id":"x","result":{}}`}
		requests := strings.Count(input, "\n") + strings.Count(input, "{") + 1
		lines := exchange(t, a, input)
		for _, line := range lines {
			if _, err := mcp.Parse([]byte(line)); err != nil {
				t.Errorf("%q: %v", line, err)
			}
		}
		if len(lines) > requests {
			t.Errorf("%d lines for %d requests at most", len(lines), requests)
		}
	})
}

// FuzzGateway: whatever a gateway answers, a request gets one response on one line.
func FuzzGateway(f *testing.F) {
	for _, body := range []string{
		``, `{`, `{"jsonrpc":"2.0","id":1,"result":{}}`, "{\"jsonrpc\":\"2.0\",\n\"id\":1,\r\n\"result\":{}}",
		`{"jsonrpc":"2.0","id":null,"error":{"code":-1,"message":"x"}}`, `<html>`, `[]`,
		"data: {\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}\n\n", "id: a_1\ndata:\n\n",
		"data: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/x\"}\n\ndata: {\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"ping\"}\n\n",
		"data: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":7}\n\n",
	} {
		for _, status := range []int{200, 202, 400, 404, 500} {
			f.Add(status, "application/json", body)
			f.Add(status, "text/event-stream", body)
		}
	}
	const request = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"x","arguments":{}}}`
	f.Fuzz(func(t *testing.T, status int, kind, body string) {
		if status < 200 || status > 599 || strings.ContainsAny(kind, "\r\n\x00") {
			t.Skip("not an HTTP answer")
		}
		lines := exchange(t, &answerer{status, kind, body}, initializeRequest+"\n"+request+"\n")
		if len(lines) < 2 {
			t.Errorf("%d lines", len(lines))
		}
		for _, line := range lines {
			if strings.Contains(line, "\r") {
				t.Errorf("a line break within %q", line)
			}
		}
	})
}
