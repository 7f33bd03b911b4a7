package dirstore_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"collie/internal/source/upstream/toolcache"
	"collie/internal/source/upstream/toolcache/dirstore"
	"collie/internal/source/upstream/toolcache/toolcachetest"
	"collie/internal/tool"
)

func TestBackend(t *testing.T) {
	t.Parallel()
	for name, opts := range map[string]dirstore.Options{
		"Defaults": {},
		"Cleaning": {Keep: 2 * time.Second, Poll: 50 * time.Millisecond},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := filepath.Join(t.TempDir(), "共享", "cache")
			toolcachetest.RunBackend(t, func(t *testing.T) toolcache.Backend {
				t.Helper()
				b, err := dirstore.Open(dir, opts)
				if err != nil {
					t.Fatal(err)
				}
				return b
			})
		})
	}
}

func open(t *testing.T, dir string, opts dirstore.Options) *dirstore.Store {
	t.Helper()
	s, err := dirstore.Open(dir, opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

func commit(t *testing.T, s *dirstore.Store, base uint64, changes ...toolcache.Change) uint64 {
	t.Helper()
	g, err := s.Commit(t.Context(), base, changes)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

func put(server string, v int) toolcache.Change {
	return toolcache.Change{Server: server, Entry: json.RawMessage(fmt.Sprintf(`{"v":%d}`, v))}
}

func load(t *testing.T, s *dirstore.Store) toolcache.Snapshot {
	t.Helper()
	snap, err := s.Load(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return snap
}

func TestOpenOfNothing(t *testing.T) {
	t.Parallel()
	if _, err := dirstore.Open("", dirstore.Options{}); tool.KindOf(err) != tool.Invalid {
		t.Errorf("error = %v, want kind %s", err, tool.Invalid)
	}
	dir := filepath.Join(t.TempDir(), "never")
	s := open(t, dir, dirstore.Options{})
	load(t, s)
	if _, err := os.Stat(dir); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("reading made the folder: %v", err)
	}
}

func TestBytesAndModesAreKept(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "d")
	s := open(t, dir, dirstore.Options{})
	entry := "{ \"spaced\" : 1.50,\n \"名\": \"<b>\" }"
	commit(t, s, 0, toolcache.Change{Server: "a", Entry: json.RawMessage(entry)})
	if got := string(load(t, s).Entries["a"]); got != entry {
		t.Errorf("entry = %q, want the very bytes %q", got, entry)
	}
	if runtime.GOOS == "windows" {
		return
	}
	err := filepath.Walk(dir, func(path string, info os.FileInfo, err error) error {
		if err == nil && info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s has mode %v, which others can use", path, info.Mode())
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestNoJSONIsRefused(t *testing.T) {
	t.Parallel()
	s := open(t, t.TempDir(), dirstore.Options{})
	_, err := s.Commit(t.Context(), 0, []toolcache.Change{put("a", 1), {Server: "坏的", Entry: json.RawMessage(`{"cut":`)}})
	if tool.KindOf(err) != tool.Invalid || !strings.Contains(err.Error(), "坏的") {
		t.Errorf("error = %v, want one of kind %s that names the entry", err, tool.Invalid)
	}
	if got := load(t, s); got.Generation != 0 {
		t.Errorf("generation %d after a refused commit", got.Generation)
	}
}

func TestReadOnlyFolder(t *testing.T) {
	t.Parallel()
	if os.Geteuid() == 0 || runtime.GOOS == "windows" {
		t.Skip("modes of folders do not bind this user")
	}
	dir := t.TempDir()
	if err := os.Chmod(dir, 0o500); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.Chmod(dir, 0o700) })
	_, err := open(t, dir, dirstore.Options{}).Commit(t.Context(), 0, []toolcache.Change{put("a", 1)})
	var e *tool.Error
	if !errors.As(err, &e) || e.Kind != tool.Unavailable || e.Hint == "" {
		t.Errorf("error = %#v, want %s with a hint", err, tool.Unavailable)
	}
}

func TestFileInTheWay(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	s := open(t, path, dirstore.Options{})
	if _, err := s.Load(t.Context()); tool.KindOf(err) != tool.Unavailable {
		t.Errorf("load: %v, want kind %s", err, tool.Unavailable)
	}
	if _, err := s.Commit(t.Context(), 0, []toolcache.Change{put("a", 1)}); tool.KindOf(err) != tool.Unavailable {
		t.Errorf("commit: %v, want kind %s", err, tool.Unavailable)
	}
}

func TestNewerFormat(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := open(t, dir, dirstore.Options{})
	g := commit(t, s, 0, put("a", 1))
	path := filepath.Join(dir, "generations", fmt.Sprintf("%012d", g), "head.json")
	if err := os.WriteFile(path, []byte(`{"format":2,"entries":{}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Load(t.Context()); tool.KindOf(err) != tool.Unavailable || !strings.Contains(err.Error(), "newer version") {
		t.Errorf("load: %v", err)
	}
	if _, err := s.Commit(t.Context(), g, []toolcache.Change{put("a", 2)}); err == nil {
		t.Error("a commit on top of a newer format went through")
	}
}

// A folder that somebody empties is an empty place, and is told.
func TestWipedFolder(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "d")
	s := open(t, dir, dirstore.Options{Poll: 10 * time.Millisecond})
	var g uint64
	for i := range 5 {
		g = commit(t, s, g, put("a", i))
	}
	told := make(chan struct{}, 1)
	go func() {
		_ = s.Watch(t.Context(), func() {
			select {
			case told <- struct{}{}:
			default:
			}
		})
	}()
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	waitTold := func() {
		t.Helper()
		select {
		case <-told:
		case <-time.After(10 * time.Second):
			t.Error("not told")
		}
	}
	waitTold()
	if _, err := s.Commit(t.Context(), g, []toolcache.Change{put("a", 9)}); !errors.Is(err, toolcache.ErrConflict) {
		t.Errorf("commit on a generation that is gone: %v, want ErrConflict", err)
	}
	if got := load(t, s); got.Generation != 0 || len(got.Entries) != 0 {
		t.Errorf("a wiped folder loads as %+v", got)
	}
	commit(t, open(t, dir, dirstore.Options{}), 0, put("a", 10))
	waitTold()
}
