package toolcachetest

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"collie/internal/source/upstream/toolcache"
)

// This file tests that a backend reports commits by others.

// watching starts b.Watch. told waits for the next call of f.
func watching(t *testing.T, b toolcache.Backend, f func()) (told func()) {
	t.Helper()
	load(t, b) // changes before this are known
	calls := make(chan struct{}, 1)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		ended <- b.Watch(ctx, func() {
			f()
			select {
			case calls <- struct{}{}:
			default:
			}
		})
	}()
	t.Cleanup(func() {
		cancel()
		select {
		case <-ended: //nolint:errcheck // that it ended is all
		case <-time.After(limit):
			t.Errorf("Watch has not returned %v after its context ended", limit)
		}
	})
	return func() {
		t.Helper()
		select {
		case <-calls:
		case err := <-ended:
			ended <- err
			t.Fatalf("Watch ended: %v", err)
		case <-time.After(limit):
			t.Fatalf("not told within %v of a commit", limit)
		}
	}
}

func (s suite) watch(t *testing.T) {
	h := s.handles(t, 3)
	writer, b, c := h[0], h[1], h[2]
	toldB, toldC := watching(t, b, func() {}), watching(t, c, func() {})
	for i := range 3 {
		entry := fmt.Sprintf(`{"i":%d}`, i)
		mustChange(t, writer, map[string]string{"watch": entry})
		toldB()
		wantEntries(t, load(t, b), "watch", map[string]string{"watch": entry})
		toldC()
	}
	mustChange(t, writer, nil, "watch")
	toldB()
	toldC()
}

// watchSerially makes f slow and commits meanwhile.
func (s suite) watchSerially(t *testing.T) {
	a, b := s.pair(t)
	var running, most atomic.Int32
	told := watching(t, b, func() {
		most.Store(max(most.Load(), running.Add(1)))
		_ = wait(t.Context(), 20*time.Millisecond)
		running.Add(-1)
	})
	for i := range 10 {
		mustChange(t, a, map[string]string{"serial": fmt.Sprintf(`{"i":%d}`, i)})
	}
	told()
	if most.Load() != 1 {
		t.Errorf("%d calls of f at the same time, want 1", most.Load())
	}
}
