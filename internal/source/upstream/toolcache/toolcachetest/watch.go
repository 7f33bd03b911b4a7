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

// startWatching starts b.Watch. told waits for the next call of f.
func startWatching(t *testing.T, b toolcache.Backend, f func()) (told func()) {
	t.Helper()
	mustLoad(t, b) // changes before this are known
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

func (s suite) testWatch(t *testing.T) {
	h := s.handles(t, 3)
	writer, b, c := h[0], h[1], h[2]
	toldB, toldC := startWatching(t, b, func() {}), startWatching(t, c, func() {})
	for i := range 3 {
		entry := fmt.Sprintf(`{"i":%d}`, i)
		mustCommit(t, writer, map[string]string{"watch": entry})
		toldB()
		wantEntries(t, mustLoad(t, b), "watch", map[string]string{"watch": entry})
		toldC()
	}
	mustCommit(t, writer, nil, "watch")
	toldB()
	toldC()
}

// testSerialCalls makes f slow and commits meanwhile.
func (s suite) testSerialCalls(t *testing.T) {
	a, b := s.pair(t)
	var running, most atomic.Int32
	told := startWatching(t, b, func() {
		most.Store(max(most.Load(), running.Add(1)))
		_ = pause(t.Context(), 20*time.Millisecond)
		running.Add(-1)
	})
	for i := range 10 {
		mustCommit(t, a, map[string]string{"serial": fmt.Sprintf(`{"i":%d}`, i)})
	}
	told()
	if most.Load() != 1 {
		t.Errorf("%d calls of f at the same time, want 1", most.Load())
	}
}
