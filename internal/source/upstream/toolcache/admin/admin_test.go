package admin_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"collie/internal/config"
	cacheadmin "collie/internal/source/upstream/toolcache/admin"
	"collie/internal/tool"
)

// loadSettings writes settings into a new home and reads them.
func loadSettings(t *testing.T, text string) *config.Config {
	t.Helper()
	home := t.TempDir()
	if err := os.WriteFile(filepath.Join(home, config.FileName), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	cfg, err := config.Load(config.Options{Home: home})
	if err != nil {
		t.Fatal(err)
	}
	return cfg
}

// otherProgramsCache is a cache file of another program, of format 1.0.0, with a secret in it.
const otherProgramsCache = `{"version":"1.0.0","mcpServers":{
	"trains":{"tools":[{"name":"查询","inputSchema":{"type":"object"}}],"lastUpdated":"2026-07-01 10:00:00","serverConfig":{"env":{"K":"geheim"}},
		"configHash":"0000000000000000000000000000000000000000000000000000000000000000","version":"1.0.0"},
	"gone":{"tools":[{"name":"x","inputSchema":{"type":"object"}}],"lastUpdated":"2026-07-01 10:00:00","serverConfig":{},
		"configHash":"0000000000000000000000000000000000000000000000000000000000000000","version":"1.0.0"}},
	"metadata":{"createdAt":"2026-07-01 09:00:00","lastGlobalUpdate":"2026-07-01 10:00:00","totalWrites":2}}`

// A migrated file has the current format and no secrets. The old one is kept beside it.
func TestMigrateCacheFile(t *testing.T) {
	t.Parallel()
	cfg := loadSettings(t, `{}`)
	path := filepath.Join(t.TempDir(), "旧.json")
	if err := os.WriteFile(path, []byte(otherProgramsCache), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := cacheadmin.MigrateFile(t.Context(), cfg, cacheadmin.Options{Version: "1"}, path, cacheadmin.Migration{From: "1.0.0"}); err != nil {
		t.Fatal(err)
	}
	data, err := cacheadmin.ReadFile(path)
	if err != nil || strings.Contains(string(data), "geheim") {
		t.Errorf("%s, %v", data, err)
	}
	if r := cacheadmin.Verify(data); !r.OK() || r.Version != "1.1.0" || len(r.Servers) != 2 {
		t.Errorf("%+v", r)
	}
	if old, err := os.ReadFile(path + ".v1.0.0.bak"); err != nil || string(old) != otherProgramsCache {
		t.Errorf("the old file is %q, %v", old, err)
	}
	if err := os.Chmod(path, 0o400); err != nil {
		t.Fatal(err)
	}
	if cacheadmin.IsWritable(path) || !cacheadmin.IsWritable(path+".new") {
		t.Error("a read-only file is writable, or one that can be made is not")
	}
}

// A missing file and a folder are different errors.
func TestReadCacheFile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if _, err := cacheadmin.ReadFile(filepath.Join(dir, "none")); tool.KindOf(err) != tool.NotFound {
		t.Errorf("missing: %v", err)
	}
	if _, err := cacheadmin.ReadFile(dir); tool.KindOf(err) != tool.Unavailable {
		t.Errorf("a folder: %v", err)
	}
}

// The shared place is shown without its user names and passwords.
func TestSharedPlace(t *testing.T) {
	t.Parallel()
	for shared, want := range map[string]string{
		"":                                    "",
		"nats://u:geheim@nats.example:4222/b": "nats://nats.example:4222/b",
		"nats://geheim@a, tls://u:geheim@b/b": "nats://a,tls://b/b",
	} {
		raw, err := json.Marshal(map[string]any{"cache": map[string]string{"shared": shared}})
		if err != nil {
			t.Fatal(err)
		}
		if got := cacheadmin.SharedPlace(loadSettings(t, string(raw))); got != want {
			t.Errorf("%s: %q, want %q", shared, got, want)
		}
	}
}
