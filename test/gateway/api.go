package gateway

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"testing"

	"collie/internal/tool"
)

// Ask calls the management API of the gateway, as the command line does, and returns status and body. path is
// relative to /api/v1.
func (g *Gateway) Ask(tb testing.TB, method, path, body string) (status int, answer []byte) {
	tb.Helper()
	ctx, cancel := context.WithTimeout(tb.Context(), limit)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, method, g.URL+"/api/v1"+path, bytes.NewReader([]byte(body)))
	if err != nil {
		tb.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+g.Control(tb))
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		tb.Fatalf("%s %s: %v", method, path, err)
	}
	defer func() { _ = resp.Body.Close() }()
	if answer, err = io.ReadAll(resp.Body); err != nil {
		tb.Fatalf("%s %s: %v", method, path, err)
	}
	return resp.StatusCode, answer
}

// Get reads the answer for path into v.
func (g *Gateway) Get(tb testing.TB, path string, v any) {
	tb.Helper()
	status, answer := g.Ask(tb, http.MethodGet, path, "")
	if status != http.StatusOK {
		tb.Fatalf("GET %s: status %d: %.400s", path, status, answer)
	}
	if err := json.Unmarshal(answer, v); err != nil {
		tb.Fatalf("GET %s: %v: %.400s", path, err, answer)
	}
}

// Servers returns the gateway's servers with their states, by name.
func (g *Gateway) Servers(tb testing.TB) map[string]tool.ServerStatus {
	tb.Helper()
	var body struct{ Servers []tool.ServerStatus }
	g.Get(tb, "/mcp/servers", &body)
	out := map[string]tool.ServerStatus{}
	for _, s := range body.Servers {
		out[s.Name] = s
	}
	return out
}

// Act starts, stops, restarts or refreshes a server. It returns status and body of the answer.
func (g *Gateway) Act(tb testing.TB, server, what string) (status int, answer []byte) {
	tb.Helper()
	return g.Ask(tb, http.MethodPost, "/mcp/servers/"+server+"/"+what, "")
}
