package web_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"collie/internal/tool"
)

// errorIfUnknown returns an error for every name but s, the one server of the list [servers].
func errorIfUnknown(name string) error {
	if name == "s" {
		return nil
	}
	return &tool.Error{Op: "find server", Kind: tool.NotFound, Subject: name, Message: "no server of that name"}
}

func (servers) Start(_ context.Context, name string) (tool.ServerStatus, error) {
	return tool.ServerStatus{Name: name, Reason: "started"}, errorIfUnknown(name)
}

func (servers) Stop(_ context.Context, name string) (tool.ServerStatus, error) {
	return tool.ServerStatus{Name: name, Reason: "stopped"}, errorIfUnknown(name)
}

func (servers) Restart(_ context.Context, name string) (tool.ServerStatus, error) {
	return tool.ServerStatus{Name: name, Reason: "restarted"}, errorIfUnknown(name)
}

func (servers) Refresh(_ context.Context, name string) (tool.ServerStatus, error) {
	return tool.ServerStatus{Name: name, Reason: "refreshed"}, errorIfUnknown(name)
}

func (servers) Changes(name string) (map[string]tool.DefinitionChange, error) {
	return map[string]tool.DefinitionChange{"t": {Fields: []string{"description"}, Hash: "h2"}}, errorIfUnknown(name)
}

func (servers) Approve(_ context.Context, name string, shown map[string]string) (int, error) {
	if shown["t"] != "h2" {
		return 0, &tool.Error{Op: "approve", Kind: tool.StateChanged, Subject: name + "/t", Message: "its definition has changed"}
	}
	return len(shown), errorIfUnknown(name)
}

// An operation on a server answers with its state. Only a caller with the right to manage may do it; in this test that is the
// caller with the key "control".
func TestActsOnServers(t *testing.T) {
	t.Parallel()
	h, _ := newAPI(t)
	ask := func(method, path, body, key string) (int, string) {
		req := httptest.NewRequestWithContext(t.Context(), method, "/api/v1"+path, strings.NewReader(body))
		req.Header.Set("Authorization", key)
		w := httptest.NewRecorder()
		h.ServeHTTP(w, req)
		return w.Code, w.Body.String()
	}
	for _, tt := range []struct {
		method, path, body string
		status             int
		has                string
	}{
		{"GET", "/mcp/servers/s", "", 200, `"name":"s"`},
		{"GET", "/mcp/servers/x", "", 404, "no server of that name"},
		{"POST", "/mcp/servers/s/start", "{}", 200, `"reason":"started"`},
		{"POST", "/mcp/servers/s/stop", "{}", 200, `"reason":"stopped"`},
		{"POST", "/mcp/servers/s/restart", "{}", 200, `"reason":"restarted"`},
		{"POST", "/mcp/servers/s/refresh", "{}", 200, `"reason":"refreshed"`},
		{"POST", "/mcp/servers/x/restart", "{}", 404, "no server of that name"},
		{"GET", "/mcp/servers/s/changes", "", 200, `"changed":["description"],"hash":"h2"`},
		{"POST", "/mcp/servers/s/approve", `{"tools":["t"],"hashes":{"t":"h2","u":"h1"}}`, 200, `"approved":1`},
		{"POST", "/mcp/servers/s/approve", `{"hashes":{"t":"h2","u":"h1"}}`, 200, `"approved":2`},
		{"POST", "/mcp/servers/s/approve", `{"tools":["t"],"hashes":{"t":"h1"}}`, 409, "its definition has changed"},
		{"POST", "/mcp/servers/s/approve", `{"tools":["t"]}`, 400, "as GET /api/v1/mcp/servers/s/changes shows it"},
		{"POST", "/mcp/servers/s/approve", `{}`, 400, "as GET /api/v1/mcp/servers/s/changes shows it"},
		{"POST", "/mcp/servers/s/approve", `[`, 400, "the body is not what is expected"},
	} {
		status, body := ask(tt.method, tt.path, tt.body, "control")
		if status != tt.status || !strings.Contains(body, tt.has) {
			t.Errorf("%s %s: HTTP %d %s, want %d with %s", tt.method, tt.path, status, body, tt.status, tt.has)
		}
		if status, _ := ask(tt.method, tt.path, tt.body, ""); status != http.StatusForbidden {
			t.Errorf("%s %s without the right to manage: HTTP %d", tt.method, tt.path, status)
		}
	}
}
