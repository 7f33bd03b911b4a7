package admin_test

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"collie/internal/config"
	serveradmin "collie/internal/source/upstream/admin"
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

// readVerdicts returns what ReadCache says about each server: its verdict and the reason.
func readVerdicts(t *testing.T, cfg *config.Config) map[string]string {
	t.Helper()
	got, err := serveradmin.ReadCache(t.Context(), cfg, config.Env{}, cacheadmin.Options{})
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]string{}
	for _, s := range got.Servers {
		out[s.Name] = strings.TrimSpace(string(s.Verdict) + " " + s.Reason)
		if !s.Configured {
			out[s.Name] = "not configured"
		}
	}
	return out
}

// fileNames returns the names of the files in a home, to check that looking created none.
func fileNames(t *testing.T, cfg *config.Config) []string {
	t.Helper()
	var out []string
	err := filepath.WalkDir(cfg.Paths.Home, func(path string, d os.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			out = append(out, d.Name())
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// otherProgramsCache is a cache file of another program, with tools of a configured server and of an unknown one.
const otherProgramsCache = `{"version":"1.0.0","mcpServers":{
	"trains":{"tools":[{"name":"查询","inputSchema":{"type":"object"}}],"lastUpdated":"2026-07-01 10:00:00","serverConfig":{"env":{"K":"geheim"}},
		"configHash":"0000000000000000000000000000000000000000000000000000000000000000","version":"1.0.0"},
	"gone":{"tools":[{"name":"x","inputSchema":{"type":"object"}}],"lastUpdated":"2026-07-01 10:00:00","serverConfig":{},
		"configHash":"0000000000000000000000000000000000000000000000000000000000000000","version":"1.0.0"}},
	"metadata":{"createdAt":"2026-07-01 09:00:00","lastGlobalUpdate":"2026-07-01 10:00:00","totalWrites":2}}`

// ReadCache tells for each server whether its stored tools can be used. It writes no file, and refuses a file that
// it cannot read.
func TestReadToolCache(t *testing.T) {
	t.Parallel()
	cfg := loadSettings(t, `{"mcpServers":{"trains":{"command":"x"},"new":{"command":"y"},"off":{"command":"y","disabled":true},
		"own":{"command":"y","cache":false},"wrong":{"command":"a","url":"http://b"}}}`)
	want := map[string]string{"trains": "miss no_entry", "new": "miss no_entry", "off": "disabled", "own": "cache_off", "wrong": "config_invalid"}
	if diff := cmp.Diff(want, readVerdicts(t, cfg)); diff != "" {
		t.Errorf("without a file (-want +got):\n%s", diff)
	}
	if got := fileNames(t, cfg); !slices.Equal(got, []string{config.FileName}) {
		t.Errorf("looking made %q", got)
	}

	type change struct {
		Command string
		Detail  map[string]any
	}
	var onRecord []change
	o := cacheadmin.Options{Record: func(_ context.Context, command string, detail map[string]any) {
		onRecord = append(onRecord, change{command, detail})
	}}
	if _, err := cacheadmin.Import(t.Context(), cfg, o, "other.json", []byte(otherProgramsCache)); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]change{{"cache import", map[string]any{"file": "other.json", "servers": 2}}}, onRecord); diff != "" {
		t.Errorf("on record (-want +got):\n%s", diff)
	}
	want["trains"], want["gone"] = "miss imported", "not configured"
	if diff := cmp.Diff(want, readVerdicts(t, cfg)); diff != "" {
		t.Errorf("with imported lists (-want +got):\n%s", diff)
	}
	cfg.Cache.TrustImported = true
	want["trains"] = "stale imported"
	if diff := cmp.Diff(want, readVerdicts(t, cfg)); diff != "" {
		t.Errorf("with lists that are trusted (-want +got):\n%s", diff)
	}

	path, _ := cacheadmin.CachePath(cfg)
	before := fileNames(t, cfg)
	for text, kind := range map[string]tool.ErrorKind{"": tool.Invalid, "{": tool.Invalid, `{"version":"9.0.0","mcpServers":{},"metadata":{}}`: tool.Invalid} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := serveradmin.ReadCache(t.Context(), cfg, config.Env{}, cacheadmin.Options{}); tool.KindOf(err) != kind || !strings.Contains(err.Error(), path) {
			t.Errorf("%q: %v, want kind %s and the file's name", text, err, kind)
		}
		if got, err := os.ReadFile(path); err != nil || string(got) != text {
			t.Errorf("looking changed %q to %q, %v", text, got, err)
		}
	}
	if diff := cmp.Diff(before, fileNames(t, cfg)); diff != "" {
		t.Errorf("looking made or moved files:\n%s", diff)
	}
	cfg.Cache.Enabled = false
	if _, err := serveradmin.ReadCache(t.Context(), cfg, config.Env{}, cacheadmin.Options{}); tool.KindOf(err) != tool.Disabled {
		t.Errorf("switched off: %v", err)
	}
}
