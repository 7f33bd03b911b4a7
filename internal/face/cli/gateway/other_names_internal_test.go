package gateway

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"collie/internal/config"
	"collie/internal/face/cli/root"
)

// The variables of another program apply where neither flags nor settings say the same, and wrong values are usage errors.
func TestOtherNames(t *testing.T) {
	t.Parallel()
	load := func(settings string) config.Config {
		file := filepath.Join(t.TempDir(), "collie.json")
		if err := os.WriteFile(file, []byte(settings), 0o600); err != nil {
			t.Fatal(err)
		}
		cfg, err := config.Load(config.Options{Files: []string{file}, Home: t.TempDir()})
		if err != nil {
			t.Fatal(err)
		}
		return *cfg
	}
	usual := load(`{}`)
	own := load(`{"http": {"addr": "127.0.0.1:1", "allowedOrigins": ["https://a.example"], "tlsCert": "own.pem", "tlsKey": "own.key"}}`)
	same := load(`{"http": {"addr": "127.0.0.1:7420", "allowedOrigins": []}}`)
	const token = "0123456789abcdef"
	env := []string{
		"SIYUAN_MCP_HOST=[::1]", "SIYUAN_MCP_PORT=36806", "SIYUAN_MCP_PATH=/mcp", "SIYUAN_MCP_TOKEN=" + token,
		"SIYUAN_MCP_ALLOWED_ORIGINS=notes.example, b.example,", "SIYUAN_MCP_TLS_CERT=c.pem", "SIYUAN_MCP_TLS_KEY=k.pem", "SIYUAN_MCP_PARENT_PID=7",
	}
	for _, tt := range []struct {
		name        string
		env         []string
		cfg         config.Config
		given, want serveFlags
	}{
		{"none", nil, usual, serveFlags{}, serveFlags{}},
		{"all", env, usual, serveFlags{}, serveFlags{
			addr: "[::1]:36806", cert: "c.pem", key: "k.pem", parent: 7, token: token, origins: []string{"notes.example", "b.example"},
		}},
		{"a port", []string{"SIYUAN_MCP_PORT=8000"}, usual, serveFlags{}, serveFlags{addr: "127.0.0.1:8000"}},
		{"our flags win", env, usual, serveFlags{addr: "127.0.0.1:2", cert: "x", key: "y", parent: 8}, serveFlags{
			addr: "127.0.0.1:2", cert: "x", key: "y", parent: 8, token: token, origins: []string{"notes.example", "b.example"},
		}},
		{"our settings win", env, own, serveFlags{}, serveFlags{parent: 7, token: token}},
		{"settings that say the default win", env, same, serveFlags{}, serveFlags{cert: "c.pem", key: "k.pem", parent: 7, token: token}},
	} {
		p, _, _ := newProgram("")
		p.Env = config.EnvOf(tt.env...)
		got := tt.given
		if err := p.otherNames(&tt.cfg, &got); err != nil {
			t.Errorf("%s: %v", tt.name, err)
		}
		if diff := cmp.Diff(tt.want, got, cmp.AllowUnexported(serveFlags{})); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, diff)
		}
	}
	for bad, want := range map[string]string{
		"SIYUAN_MCP_PORT=x": "SIYUAN_MCP_PORT", "SIYUAN_MCP_PORT=70000": "SIYUAN_MCP_PORT", "SIYUAN_MCP_PATH=/other": "SIYUAN_MCP_PATH",
		"SIYUAN_MCP_TLS_CERT=c.pem": "SIYUAN_MCP_TLS_KEY", "SIYUAN_MCP_PARENT_PID=-1": "SIYUAN_MCP_PARENT_PID", "SIYUAN_MCP_TOKEN=short": "SIYUAN_MCP_TOKEN",
	} {
		p, _, _ := newProgram("")
		p.Env = config.EnvOf(bad)
		if err := p.otherNames(&usual, &serveFlags{}); !root.IsUsage(err) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want a mistake that names %s", bad, err, want)
		}
	}
	for _, e := range env {
		if name, _, _ := strings.Cut(e, "="); name != "SIYUAN_MCP_PATH" && !slices.ContainsFunc(strings.Fields(root.VariablesHelp), func(w string) bool { return strings.Trim(w, ",.") == name }) {
			t.Errorf("%s is not explained", name)
		}
	}
}
