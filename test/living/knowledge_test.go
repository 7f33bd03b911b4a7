package living_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"collie/internal/config"
	serveradmin "collie/internal/source/upstream/admin"
	upstreamentry "collie/internal/source/upstream/entry"
	"collie/internal/source/upstream/toolcache"
	"collie/test/await"
)

// toolsEach is the number of tools of each server that [home.writeInventedLists] writes into the cache.
const toolsEach = 10

// writeInventedLists fills the cache with the lists of all servers, as if each had run once; really running hundreds of
// processes would take too long.
func (h *home) writeInventedLists(t *testing.T) {
	t.Helper()
	c, entries := h.openCache(t, nil)
	for server, e := range entries {
		for i := range toolsEach {
			e.Tools = append(e.Tools, json.RawMessage(fmt.Sprintf(`{"name":"tool_%d","description":"Does one of the things that %s can do.","inputSchema":{"type":"object","properties":{"text":{"type":"string"}}}}`, i, server)))
		}
		e.Tools[0] = json.RawMessage(`{"name":"echo","inputSchema":{"type":"object"}}`)
		c.Store(server, &e)
	}
	// A write is given up after two seconds, which may be too short for the race detector on a busy machine.
	await.Until(t, "what is known is on disk", func() bool { return c.Flush(t.Context()) == nil })
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
}

// openCache opens the home's cache as another process would, and returns an entry without tools for each
// server. If key is set, it replaces the key of the home.
func (h *home) openCache(t *testing.T, key []byte) (c *toolcache.Cache, entries map[string]toolcache.Entry) {
	t.Helper()
	env := config.Env{}
	cfg, err := config.Load(config.Options{Files: []string{h.settings}, Home: h.dir, Env: env})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(cfg.Paths.State, 0o700); err != nil {
		t.Fatal(err)
	}
	own, err := toolcache.LoadKey(filepath.Join(cfg.Paths.State, "cache.key"))
	if err != nil {
		t.Fatal(err)
	}
	if key == nil {
		key = own
	}
	specs, findings := serveradmin.Specs(cfg, env)
	for _, f := range findings {
		t.Logf("settings: %v", f)
	}
	entries = map[string]toolcache.Entry{}
	for _, s := range specs {
		entries[s.Entry.Name] = toolcache.Entry{
			ConfigHash: s.Entry.ConfigHash(own), Fingerprint: s.Entry.Fingerprint(os.Environ(), upstreamentry.EnvironmentOptions{}),
			Era: "legacy", ProtocolVersion: "2025-11-25", Transport: "stdio", Capabilities: json.RawMessage(`{"tools":{}}`),
		}
	}
	return toolcache.Open(t.Context(), toolcache.Options{Path: cfg.Cache.File, Key: key}), entries
}

// residentMemory returns the resident memory of a process in bytes.
func residentMemory(t *testing.T, pid int) int {
	t.Helper()
	raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		t.Skipf("the system does not tell what a process has resident: %v", err)
	}
	for line := range strings.Lines(string(raw)) {
		var kib int
		if n, _ := fmt.Sscanf(line, "VmRSS: %d kB", &kib); n == 1 {
			return kib << 10
		}
	}
	t.Skip("the system does not tell what a process has resident")
	return 0
}
