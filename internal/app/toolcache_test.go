package app_test

import (
	"bytes"
	"context"
	"encoding/json"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"collie/internal/app"
	"collie/internal/config"
	"collie/internal/tool"
)

// settings writes and reads the settings of a new home.
func settings(t *testing.T, text string) *config.Config {
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

func read(t *testing.T, cfg *config.Config) map[string]string {
	t.Helper()
	got, err := app.ReadToolCache(t.Context(), cfg, app.Options{})
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

// files are the names in a home, so that a test can say that looking made none.
func files(t *testing.T, cfg *config.Config) []string {
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

const imported = `{"version":"1.0.0","mcpServers":{
	"trains":{"tools":[{"name":"查询","inputSchema":{"type":"object"}}],"lastUpdated":"2026-07-01 10:00:00","serverConfig":{"env":{"K":"geheim"}},
		"configHash":"0000000000000000000000000000000000000000000000000000000000000000","version":"1.0.0"},
	"gone":{"tools":[{"name":"x","inputSchema":{"type":"object"}}],"lastUpdated":"2026-07-01 10:00:00","serverConfig":{},
		"configHash":"0000000000000000000000000000000000000000000000000000000000000000","version":"1.0.0"}},
	"metadata":{"createdAt":"2026-07-01 09:00:00","lastGlobalUpdate":"2026-07-01 10:00:00","totalWrites":2}}`

func TestReadToolCache(t *testing.T) {
	t.Parallel()
	cfg := settings(t, `{"mcpServers":{"trains":{"command":"x"},"new":{"command":"y"},"off":{"command":"y","disabled":true},
		"own":{"command":"y","cache":false},"wrong":{"command":"a","url":"http://b"}}}`)
	want := map[string]string{"trains": "miss no_entry", "new": "miss no_entry", "off": "disabled", "own": "cache_off", "wrong": "config_invalid"}
	if diff := cmp.Diff(want, read(t, cfg)); diff != "" {
		t.Errorf("without a file (-want +got):\n%s", diff)
	}
	if got := files(t, cfg); !slices.Equal(got, []string{config.FileName}) {
		t.Errorf("looking made %q", got)
	}

	cache, err := app.OpenToolCache(t.Context(), cfg, nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := cache.Import([]byte(imported)); err != nil {
		t.Fatal(err)
	}
	if err := cache.Close(); err != nil {
		t.Fatal(err)
	}
	want["trains"], want["gone"] = "miss imported", "not configured"
	if diff := cmp.Diff(want, read(t, cfg)); diff != "" {
		t.Errorf("with imported lists (-want +got):\n%s", diff)
	}
	cfg.Cache.TrustImported = true
	want["trains"] = "stale imported"
	if diff := cmp.Diff(want, read(t, cfg)); diff != "" {
		t.Errorf("with lists that are trusted (-want +got):\n%s", diff)
	}

	path, _ := app.CacheFile(cfg)
	before := files(t, cfg)
	for text, kind := range map[string]tool.ErrorKind{"": tool.Invalid, "{": tool.Invalid, `{"version":"9.0.0","mcpServers":{},"metadata":{}}`: tool.Invalid} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := app.ReadToolCache(t.Context(), cfg, app.Options{}); tool.KindOf(err) != kind || !strings.Contains(err.Error(), path) {
			t.Errorf("%q: %v, want kind %s and the file's name", text, err, kind)
		}
		if got, err := os.ReadFile(path); err != nil || string(got) != text {
			t.Errorf("looking changed %q to %q, %v", text, got, err)
		}
	}
	if diff := cmp.Diff(before, files(t, cfg)); diff != "" {
		t.Errorf("looking made or moved files:\n%s", diff)
	}
	cfg.Cache.Enabled = false
	if _, err := app.ReadToolCache(t.Context(), cfg, app.Options{}); tool.KindOf(err) != tool.Disabled {
		t.Errorf("switched off: %v", err)
	}
}

func TestMigrateCacheFile(t *testing.T) {
	t.Parallel()
	cfg := settings(t, `{}`)
	path := filepath.Join(t.TempDir(), "旧.json")
	if err := os.WriteFile(path, []byte(imported), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := app.MigrateCacheFile(t.Context(), cfg, app.Options{Version: "1"}, path); err != nil {
		t.Fatal(err)
	}
	data, err := app.ReadCacheFile(path)
	if err != nil || strings.Contains(string(data), "geheim") {
		t.Errorf("%s, %v", data, err)
	}
	if r := app.VerifyCache(data); !r.OK() || r.Version != "1.1.0" || len(r.Servers) != 2 {
		t.Errorf("%+v", r)
	}
	if old, err := os.ReadFile(path + ".v1.0.0.bak"); err != nil || string(old) != imported {
		t.Errorf("the old file is %q, %v", old, err)
	}
	if err := os.Chmod(path, 0o400); err != nil {
		t.Fatal(err)
	}
	if app.CacheWritable(path) || !app.CacheWritable(path+".new") {
		t.Error("a read-only file is writable, or one that can be made is not")
	}
}

func TestReadCacheFile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if _, err := app.ReadCacheFile(filepath.Join(dir, "none")); tool.KindOf(err) != tool.Unknown {
		t.Errorf("missing: %v", err)
	}
	if _, err := app.ReadCacheFile(dir); tool.KindOf(err) != tool.Unavailable {
		t.Errorf("a folder: %v", err)
	}
}

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
		if got := app.SharedPlace(settings(t, string(raw))); got != want {
			t.Errorf("%s: %q, want %q", shared, got, want)
		}
	}
}

// A shared place that cannot be is told once, with its reason and without its secrets, and the
// gateway works without it.
func TestSharedPlaceThatCannotBe(t *testing.T) {
	t.Parallel()
	for shared, says := range map[string]string{
		"nats://u:geheim@host/a.b":     "other characters than letters",
		"nats://u:geheim@host?geheim1": "has a query",
	} {
		cfg := settings(t, `{"secrets":{"store":"file"}}`)
		cfg.Cache.Shared = shared
		var told bytes.Buffer // read after Close
		a, err := app.Open(t.Context(), cfg, app.Options{Logger: slog.New(slog.NewTextHandler(&told, nil))})
		if err != nil {
			t.Fatal(err)
		}
		if err := a.Close(context.WithoutCancel(t.Context())); err != nil {
			t.Error(err)
		}
		if text := told.String(); !strings.Contains(text, says) || strings.Contains(text, "geheim") {
			t.Errorf("%s is told as %s", shared, text)
		}
	}
}
