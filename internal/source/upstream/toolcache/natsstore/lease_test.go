package natsstore_test

import (
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"

	"collie/internal/source/upstream/toolcache/natsstore"
)

// wantLease asks for a lease and checks whether it is given. A duration of 0 gives it back.
func wantLease(t *testing.T, s *natsstore.Store, name, holder string, d time.Duration, want bool) {
	t.Helper()
	ok, err := s.Lease(t.Context(), name, holder, d)
	if err != nil {
		t.Fatalf("lease of %q for %s: %v", name, holder, err)
	}
	if ok != want {
		t.Errorf("lease of %q for %s, %v: %v, want %v", name, holder, d, ok, want)
	}
}

// A lease belongs to its holder's name until it is given back. Leases of other servers are not affected.
func TestLeaseExcludes(t *testing.T) {
	t.Parallel()
	srv := startServer(t, server.Options{})
	a, b := openStore(t, srv.ClientURL()), openStore(t, srv.ClientURL())
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

// Of ten that ask for a free lease at once, one gets it.
func TestLeaseOfOneOnly(t *testing.T) {
	t.Parallel()
	srv := startServer(t, server.Options{})
	var won atomic.Int32
	var all sync.WaitGroup
	for i := range 10 {
		s := openStore(t, srv.ClientURL())
		all.Go(func() {
			ok, err := s.Lease(t.Context(), "race", strconv.Itoa(i), time.Hour)
			if err != nil {
				t.Error(err)
			}
			if ok {
				won.Add(1)
			}
		})
	}
	all.Wait()
	if won.Load() != 1 {
		t.Errorf("%d of 10 got a free lease, want 1", won.Load())
	}
}

// A lease ends by itself, and not before its time; renewing it starts the time anew.
func TestLeaseExpires(t *testing.T) {
	t.Parallel()
	srv := startServer(t, server.Options{})
	a, b := openStore(t, srv.ClientURL()), openStore(t, srv.ClientURL())
	const d = 500 * time.Millisecond
	wantLease(t, a, "expires", "holder-a", d, true)
	renewed := time.Now()
	wantLease(t, a, "expires", "holder-a", d, true)
	eventually(t, "the lease has ended", func() bool {
		ok, err := b.Lease(t.Context(), "expires", "holder-b", time.Hour)
		if err != nil {
			t.Fatal(err)
		}
		return ok
	})
	if took := time.Since(renewed); took < d {
		t.Errorf("a lease of %v was taken over after %v", d, took)
	}
	wantLease(t, a, "expires", "holder-a", time.Hour, false)
}
