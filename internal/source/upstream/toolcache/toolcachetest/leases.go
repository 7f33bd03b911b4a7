package toolcachetest

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"collie/internal/source/upstream/toolcache"
)

func wantLease(t *testing.T, b toolcache.Backend, server, holder string, d time.Duration, want bool) {
	t.Helper()
	ok, err := b.Lease(t.Context(), server, holder, d)
	if err != nil {
		t.Fatalf("lease of %.40q for %s: %v", server, holder, err)
	}
	if ok != want {
		t.Errorf("lease of %.40q for %s, %v: %v, want %v", server, holder, d, ok, want)
	}
}

func (s suite) leaseExcludes(t *testing.T) {
	a, b := s.pair(t)
	wantLease(t, a, "lease", "holder-a", time.Minute, true)
	wantLease(t, b, "lease", "holder-b", time.Minute, false)
	wantLease(t, b, "lease-other", "holder-b", time.Minute, true) // another server's is free
	wantLease(t, a, "lease", "holder-a", time.Minute, true)       // renewed
	wantLease(t, b, "lease", "holder-b", 0, false)                // not b's to give back
	wantLease(t, b, "lease", "holder-b", time.Minute, false)
	wantLease(t, a, "lease", "holder-a", 0, true) // given back
	wantLease(t, b, "lease", "holder-b", time.Minute, true)
	wantLease(t, a, "lease", "holder-a", time.Minute, false)
	wantLease(t, a, "lease", "holder-b", 0, true) // the name holds it, not the handle
	wantLease(t, a, "lease", "holder-a", time.Minute, true)
}

// leaseRace lets ten ask for the same lease at once: free, and when it has run out.
func (s suite) leaseRace(t *testing.T) {
	h := s.handles(t, 10)
	race := func(names rune, d time.Duration) (won int32) {
		var winners atomic.Int32
		var all sync.WaitGroup
		for i, b := range h {
			all.Go(func() {
				ok, err := b.Lease(t.Context(), "race", string(names+rune(i)), d)
				if err != nil {
					t.Error(err)
				}
				if ok {
					winners.Add(1)
				}
			})
		}
		all.Wait()
		return winners.Load()
	}
	const d = 2 * time.Second // longer than the race
	start := time.Now()
	if won := race('a', d); won != 1 && time.Since(start) < d {
		t.Errorf("%d of 10 got a free lease, want 1", won)
	}
	deadline := time.Now().Add(d + patience)
	for {
		won := race('A', time.Minute)
		if won > 1 {
			t.Errorf("%d of 10 got a lease that had run out, want 1", won)
		}
		if won > 0 {
			return
		}
		if time.Now().After(deadline) {
			t.Fatal("nobody got the lease after it had run out")
		}
	}
}

// leaseRenewed keeps a lease alive past its first end.
func (s suite) leaseRenewed(t *testing.T) {
	a, b := s.pair(t)
	const d = time.Second
	for range 5 {
		start := time.Now()
		wantLease(t, a, "renewed", "holder-a", d, true)
		renewed := start
		for time.Since(start) < d+d/2 {
			_ = wait(t.Context(), d/10)
			ok, err := b.Lease(t.Context(), "renewed", "holder-b", d)
			if err != nil {
				t.Fatal(err)
			}
			if ok && time.Since(renewed) < d {
				t.Fatalf("another got the lease %v after it was renewed for %v", time.Since(renewed), d)
			}
			if ok {
				break // this machine slept too long to tell
			}
			renewed = time.Now()
			wantLease(t, a, "renewed", "holder-a", d, true)
		}
		if time.Since(renewed) < d {
			return
		}
		wantLease(t, b, "renewed", "holder-b", 0, true)
	}
	t.Skip("this machine is too slow to renew in time")
}

func (s suite) leaseExpires(t *testing.T) {
	a, b := s.pair(t)
	const d = 500 * time.Millisecond
	start := time.Now()
	wantLease(t, a, "expires", "holder-a", d, true)
	for {
		ok, err := b.Lease(t.Context(), "expires", "holder-b", time.Minute)
		took := time.Since(start)
		switch {
		case err != nil:
			t.Fatal(err)
		case ok && took < d-50*time.Millisecond: // clocks of file systems are coarse
			t.Errorf("a lease of %v was taken over after %v", d, took)
		case !ok && took > d+patience:
			t.Fatalf("a lease of %v still excludes after %v", d, took)
		}
		if ok {
			break
		}
		_ = wait(t.Context(), 20*time.Millisecond)
	}
	wantLease(t, a, "expires", "holder-a", time.Minute, false)
}

func (s suite) leaseNames(t *testing.T) {
	a, b := s.pair(t)
	for _, name := range names {
		if name != "" { // nobody has a server without a name
			wantLease(t, a, name, "持有者 a/1", time.Minute, true)
		}
	}
	for _, name := range names {
		if name != "" {
			wantLease(t, b, name, "b", time.Minute, false)
		}
	}
}

func (s suite) cancelled(t *testing.T) {
	a, b := s.pair(t)
	g := mustChange(t, a, put("cancelled", `{"v":1}`))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for name, call := range map[string]func() error{
		"Load":   func() error { _, err := a.Load(ctx); return err },
		"Commit": func() error { _, err := a.Commit(ctx, g, []toolcache.Change{put("cancelled", `{"v":2}`)}); return err },
		"Lease":  func() error { _, err := a.Lease(ctx, "cancelled", "h", time.Minute); return err },
		"Watch":  func() error { _ = a.Watch(ctx, func() {}); return context.Canceled },
	} {
		ended := make(chan error, 1)
		go func() { ended <- call() }()
		select {
		case err := <-ended:
			if err == nil {
				t.Errorf("%s with a context that has ended says that it worked", name)
			}
		case <-time.After(patience):
			t.Errorf("%s has not returned %v after its context ended", name, patience)
		}
	}
	wantEntries(t, load(t, b), "cancelled", map[string]string{"cancelled": `{"v":1}`})
	mustChange(t, a, put("cancelled", `{"v":3}`)) // the handle still works
}

func (s suite) closeTwice(t *testing.T) {
	a, b := s.open(t), s.handles(t, 1)[0]
	mustChange(t, a, put("closed", `{}`))
	for range 2 {
		if err := a.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	}
	wantEntries(t, load(t, b), "closed", map[string]string{"closed": `{}`})
	if _, err := a.Commit(t.Context(), load(t, b).Generation, []toolcache.Change{put("closed", `{"late":1}`)}); err == nil {
		t.Error("a closed handle commits")
	}
}
