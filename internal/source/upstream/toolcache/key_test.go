package toolcache_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"testing"

	"collie/internal/source/upstream/toolcache"
	"collie/internal/tool"
)

// Processes that start together get the same new key. A raw key is read, and a file with anything else is left
// alone.
func TestLoadKey(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "state", "cache.key")
	keys := make([][]byte, 8)
	var all sync.WaitGroup
	for i := range keys {
		all.Go(func() {
			key, err := toolcache.LoadKey(path)
			if err != nil {
				t.Error(err)
			}
			keys[i] = key
		})
	}
	all.Wait()
	for _, k := range keys {
		if len(k) != 32 || !bytes.Equal(k, keys[0]) || bytes.Equal(k, make([]byte, 32)) {
			t.Fatalf("keys %x", keys)
		}
	}
	if info, err := os.Stat(path); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
		t.Errorf("the key's file: %v, %v", info, err)
	}
	raw := bytes.Repeat([]byte{'k'}, 32)
	if err := os.WriteFile(path, raw, 0o600); err != nil {
		t.Fatal(err)
	}
	if got, err := toolcache.LoadKey(path); err != nil || !bytes.Equal(got, raw) {
		t.Errorf("a raw key reads as %x, %v", got, err)
	}
	for _, bad := range []string{"abc", string(bytes.Repeat([]byte{'x'}, 64))} {
		if err := os.WriteFile(path, []byte(bad), 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := toolcache.LoadKey(path)
		var e *tool.Error
		if !errors.As(err, &e) || e.Kind != tool.Invalid || e.Hint == "" {
			t.Errorf("%q: error %v", bad, err)
		}
		if kept, _ := os.ReadFile(path); string(kept) != bad {
			t.Errorf("%q was replaced by %q", bad, kept)
		}
	}
}

// ChoosePath chooses the fallback only if the folder cannot be written and has no cache file.
func TestChoosePath(t *testing.T) {
	t.Parallel()
	skipOnWindows(t)
	dir := t.TempDir()
	locked := filepath.Join(dir, "locked")
	if err := os.Mkdir(locked, 0o500); err != nil {
		t.Fatal(err)
	}
	shipped := filepath.Join(dir, "shipped")
	if err := os.Mkdir(shipped, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(shipped, "c.json"), nil, 0o400); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(shipped, 0o500); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.Chmod(shipped, 0o700) })
	for name, tc := range map[string]struct {
		path, fallback string
		fellBack       bool
	}{
		"writable":           {filepath.Join(dir, "c.json"), "/f", false},
		"can be made":        {filepath.Join(dir, "new", "new", "c.json"), "/f", false},
		"read-only":          {filepath.Join(locked, "c.json"), "/f", true},
		"below a read-only":  {filepath.Join(locked, "new", "c.json"), "/f", true},
		"no choice":          {filepath.Join(locked, "c.json"), "", false},
		"comes with a file":  {filepath.Join(shipped, "c.json"), "/f", false},
		"nothing to be kept": {"", "/f", false},
	} {
		got, fellBack := toolcache.ChoosePath(tc.path, tc.fallback)
		want := tc.path
		if tc.fellBack {
			want = tc.fallback
		}
		if got != want || fellBack != tc.fellBack {
			t.Errorf("%s: %q, %v, want %q", name, got, fellBack, want)
		}
	}
}
