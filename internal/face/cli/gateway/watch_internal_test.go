package gateway

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"collie/internal/config"
)

// needRestart names the sections whose changes a running gateway does not apply.
func TestWhatNeedsARestart(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "collie.json")
	load := func(text string) *config.Config {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		cfg, err := config.Load(config.Options{Home: "/home", Files: []string{file}, Env: config.EnvOf()})
		if err != nil {
			t.Fatal(err)
		}
		return cfg
	}
	before := load(`{}`)
	for text, want := range map[string][]string{
		`{}`: nil,
		`{"mcpServers": {"a": {"command": "x"}}, "profiles": {"p": {}}, "siyuan": {"enabled": false}, "vault": {"file": "/n.db"}}`: nil,
		`{"mcp": {"enabled": false}, "http": {"elicitationConfirms": false}}`:                                                      nil,
		`{"http": {"addr": "127.0.0.1:1", "allowedHosts": ["a.example"], "tlsCert": "/c", "tlsKey": "/k"}}`:                        nil,
		`{"http": {"publicURL": "https://a.example", "trustedProxies": ["127.0.0.1"]}}`:                                            nil,
		`{"mcp": {"enabled": false, "drain": "1s"}}`:                                                                               {"mcp"},
		`{"http": {"metrics": true}, "log": {"level": "debug"}}`:                                                                   {"http", "log"},
		`{"cache": {"enabled": false}, "audit": {"content": "none"}, "secrets": {"store": "file"}}`:                                {"cache", "audit", "secrets"},
		`{"analytics": {"enabled": false}, "telemetry": {"enabled": true}}`:                                                        {"analytics", "telemetry"},
	} {
		if diff := cmp.Diff(want, needRestart(before, load(text))); diff != "" {
			t.Errorf("%s (-want +got):\n%s", text, diff)
		}
	}
}
