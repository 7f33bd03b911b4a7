//go:build unix

package upstream_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"collie/internal/mcp/mcptest"
	"collie/internal/source/upstream"
	"collie/internal/tool"
)

// serveSSE answers as a server of MCP 2024-11-05 does, with answers in the stream that the client has opened.
func serveSSE(answers chan string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.Method == http.MethodGet:
			w.Header().Set("Content-Type", "text/event-stream")
			fmt.Fprint(w, "event: endpoint\ndata: /post\n\n")
			for {
				_ = http.NewResponseController(w).Flush()
				select {
				case <-r.Context().Done():
					return
				case answer := <-answers:
					fmt.Fprintf(w, "event: message\ndata: %s\n\n", answer)
				}
			}
		case r.URL.Path != "/post":
			w.WriteHeader(http.StatusMethodNotAllowed)
		default:
			raw, _ := io.ReadAll(r.Body)
			var req struct {
				ID     json.RawMessage
				Method string
			}
			_ = json.Unmarshal(raw, &req) // what has no id needs no answer
			w.WriteHeader(http.StatusAccepted)
			result := map[string]string{
				"initialize": `{"protocolVersion":"2024-11-05","capabilities":{"tools":{}},"serverInfo":{"name":"m","version":"1"}}`,
				"tools/list": `{"tools":[{"name":"echo","inputSchema":{"type":"object"}}]}`,
			}[req.Method]
			if req.ID != nil && result != "" {
				answers <- fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":%s}`, req.ID, result)
			}
		}
	}
}

// A server that spoke only HTTP with SSE, and was updated to Streamable HTTP at the same address, is found again.
func TestAServerThatLeftSSE(t *testing.T) {
	t.Parallel()
	before, now := serveSSE(make(chan string, 10)), mcptest.StartHTTP(t)
	var updated atomic.Bool
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case !updated.Load():
			before(w, r)
		case r.Method == http.MethodGet:
			w.WriteHeader(http.StatusMethodNotAllowed)
		default:
			relay(w, r, now)
		}
	}))
	t.Cleanup(server.Close)
	s := newRemoteSet(t, `{"url":"`+server.URL+`/mcp"}`, upstream.Options{}, nil).Servers()[0]
	if err := s.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	s.Stop(t.Context())
	updated.Store(true)
	if err := s.Start(t.Context()); err != nil {
		t.Error(err)
	}
	if _, err := s.Run(t.Context(), newToolCall("echo", `{"text":"a"}`)); err != nil {
		t.Error(err)
	}
}

// A refusal that names its cause is told, whatever the attempt by HTTP with SSE that follows comes to. What a server
// that takes no POST answers to that attempt decides.
func TestTheFirstRefusalIsTold(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		post, get int
		state     tool.State
		reason    string
	}{
		"not allowed":     {http.StatusBadRequest, http.StatusMethodNotAllowed, tool.StateFailed, "http_4xx"},
		"sign-in":         {http.StatusBadRequest, http.StatusUnauthorized, tool.StateFailed, "http_4xx"},
		"broken":          {http.StatusBadRequest, http.StatusBadGateway, tool.StateFailed, "http_4xx"},
		"SSE and sign-in": {http.StatusMethodNotAllowed, http.StatusUnauthorized, tool.StateNeedsAuth, "auth_required"},
		"SSE and broken":  {http.StatusNotFound, http.StatusBadGateway, tool.StateBackoff, "http_5xx"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.Method != http.MethodPost {
					w.WriteHeader(test.get)
					return
				}
				w.WriteHeader(test.post)
				_, _ = w.Write([]byte(`{"message":"missing X-Api-Key"}`))
			}))
			t.Cleanup(server.Close)
			s := newRemoteSet(t, `{"url":"`+server.URL+`"}`, upstream.Options{}, nil).Servers()[0]
			err := s.Start(t.Context())
			if err == nil || !strings.Contains(err.Error(), "missing X-Api-Key") {
				t.Errorf("the cause is not told: %v", err)
			}
			if st := s.Status(); st.State != test.state || st.Reason != test.reason {
				t.Errorf("it is %s (%s), want %s (%s): %s", st.State, st.Reason, test.state, test.reason, st.Detail)
			}
		})
	}
}
