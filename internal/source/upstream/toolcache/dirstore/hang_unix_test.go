//go:build unix

package dirstore_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"collie/internal/source/upstream/toolcache"
	"collie/internal/source/upstream/toolcache/dirstore"
	"collie/internal/tool"
)

// A pipe in place of a file hangs whoever opens it, as a dead network mount does.
func TestHungMount(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := open(t, dir, dirstore.Options{})
	g := commit(t, s, 0, put("a", 1))
	pipe := filepath.Join(dir, "generations", "000000000001", "head.json")
	if err := os.Remove(pipe); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { // sets the hung readers free
		f, err := os.OpenFile(pipe, os.O_RDWR, 0)
		if err != nil {
			t.Fatal(err)
		}
		_ = f.Close()
	})
	for i := range 10 { // more than may hang at once
		start := time.Now()
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		_, err := s.Load(ctx)
		if !errors.Is(err, context.DeadlineExceeded) || tool.KindOf(err) != tool.Timeout {
			t.Errorf("load %d: %v, want a timeout", i, err)
		}
		if _, err := s.Commit(ctx, g, []toolcache.Change{put("a", 2)}); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("commit %d: %v, want a timeout", i, err)
		}
		cancel()
		if took := time.Since(start); took > 5*time.Second {
			t.Errorf("load %d came back after %v", i, took)
		}
	}
	start := time.Now()
	if err := s.Close(); err != nil || time.Since(start) > 10*time.Second {
		t.Errorf("close: %v after %v", err, time.Since(start))
	}
}
