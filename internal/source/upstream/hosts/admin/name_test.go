package admin_test

import (
	"testing"

	hostadmin "collie/internal/source/upstream/hosts/admin"
)

// A server without a usable name is named after its package or image.
func TestNameFor(t *testing.T) {
	t.Parallel()
	for raw, want := range map[string]string{
		`{"command":"npx","args":["-y","12306-mcp"]}`:                                            "12306-mcp",
		`{"command":"npx","args":["-y","@modelcontextprotocol/server-everything@2026.8.31"]}`:    "everything",
		`{"command":"uvx","args":["mcp-server-git==1.2"]}`:                                       "git",
		`{"command":"docker","args":["run","-i","--rm","ghcr.io/github/github-mcp-server:1.0"]}`: "github-mcp-server",
		`{"command":"/opt/thing"}`:                                                               "",
		`{"url":"https://x/mcp"}`:                                                                "",
		`{"command":"npx","args":["-y","@scope/server-"]}`:                                       "server",
		`7`: "",
	} {
		if got := hostadmin.NameFor([]byte(raw)); got != want {
			t.Errorf("%s: got %q, want %q", raw, got, want)
		}
	}
}
