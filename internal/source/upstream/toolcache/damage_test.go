package toolcache_test

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"time"

	"collie/internal/source/upstream/toolcache"
)

// wantOnlyGoodTools checks that every tool that the cache would list is one that was stored.
func wantOnlyGoodTools(t *testing.T, data []byte, good map[string]bool) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "collie.cache.json")
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	now := func() time.Time { return time.Date(2026, 11, 21, 9, 0, 0, 0, time.UTC) }
	c := toolcache.Open(t.Context(), toolcache.Options{Path: path, Now: now, Collect: time.Hour})
	defer func() { _ = c.Close() }()
	for name, n := range map[string]int{"a": 1, "b": 2} {
		e, v, _ := c.Lookup(newWant(name, n))
		if v != toolcache.Hit && v != toolcache.Stale {
			continue
		}
		for _, def := range e.Tools {
			if !good[string(def)] {
				t.Errorf("a tool was served that no server gave: %.200s\nfrom %.2000s", def, data)
			}
		}
	}
	c.Stats()
}

// damage returns data with one to three random changes.
func damage(rng *rand.Rand, data []byte) []byte {
	out := bytes.Clone(data)
	for range 1 + rng.IntN(3) {
		i := rng.IntN(len(out))
		switch rng.IntN(5) {
		case 0:
			out[i] ^= 1 << rng.IntN(8)
		case 1:
			out[i] = byte(rng.IntN(256))
		case 2:
			out = append(out[:i], out[min(i+1+rng.IntN(40), len(out)):]...)
		case 3:
			j := rng.IntN(len(out))
			out = append(out[:i:i], append(bytes.Clone(out[j:min(j+rng.IntN(60), len(out))]), out[i:]...)...)
		case 4:
			out = bytes.ReplaceAll(out, []byte{'"', byte('a' + rng.IntN(26))}, []byte{'"', byte('a' + rng.IntN(26))})
		}
		if len(out) == 0 {
			return out
		}
	}
	return out
}

// However the file is damaged, no tool is listed that no server gave.
func TestDamagesServeNoBadTool(t *testing.T) {
	t.Parallel()
	data := []byte(newStoredFile(t).read(t))
	good := map[string]bool{}
	for _, name := range []string{"x", "y", "z"} {
		good[string(definition(name))] = true
	}
	rng := rand.New(rand.NewPCG(7, 11))
	for range 300 {
		wantOnlyGoodTools(t, damage(rng, data), good)
	}
}

// Every valid file can be migrated, and a migrated file is as valid as the original.
func FuzzLoad(f *testing.F) {
	for _, name := range []string{"v1.0.0.json", "v1.1.0.json", "v1.0.0-as-1.1.0.json"} {
		data, err := os.ReadFile(filepath.Join("testdata", name))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Add([]byte(`{"version":"1.1.0","mcpServers":{"a":{}},"metadata":{}}`))
	f.Add([]byte("\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\xff"))
	now := time.Date(2026, 11, 21, 9, 0, 0, 0, time.UTC)
	f.Fuzz(func(t *testing.T, data []byte) {
		r := toolcache.VerifyAt(data, now, time.UTC)
		m, err := toolcache.MigrateFrom(data, time.UTC)
		if r.OK() && err != nil {
			t.Errorf("it is valid, but cannot be migrated: %v", err)
		}
		if err != nil {
			return
		}
		if !json.Valid(m.After) && r.OK() {
			t.Errorf("the migrated file is not JSON: %q", m.After)
		}
		again := toolcache.VerifyAt(m.After, now, time.UTC)
		if again.OK() != r.OK() || len(again.Servers) != len(r.Servers) {
			t.Errorf("verified %+v, then %+v", r, again)
		}
	})
}
