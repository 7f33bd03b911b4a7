package natsstore_test

import (
	"errors"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"

	"collie/internal/source/upstream/toolcache"
	"collie/internal/source/upstream/toolcache/natsstore"
	"collie/test/port"
)

// wantSignal waits for a value from c.
func wantSignal(t *testing.T, what string, c <-chan struct{}) {
	t.Helper()
	select {
	case <-c:
	case <-time.After(waitLimit):
		t.Fatalf("%s: nothing within %v", what, waitLimit)
	}
}

// startWatching returns a channel that gets a value after each commit by others, or once for several.
func startWatching(t *testing.T, s *natsstore.Store) <-chan struct{} {
	t.Helper()
	told := make(chan struct{}, 1)
	go func() {
		_ = s.Watch(t.Context(), func() {
			select {
			case told <- struct{}{}:
			default:
			}
		})
	}()
	return told
}

// awaitReconnect waits until a store is connected again.
func awaitReconnect(t *testing.T, s *natsstore.Store) {
	t.Helper()
	eventually(t, "the server is back", func() bool {
		_, err := s.Load(t.Context())
		return err == nil
	})
}

// Stores reconnect after a restart of the server and miss no commit.
func TestServerRestarts(t *testing.T) {
	t.Parallel()
	opts := server.Options{StoreDir: t.TempDir(), Port: portOf(t, port.Address(t))}
	srv := startServer(t, opts)
	where := srv.ClientURL()
	s, other := openStore(t, where), openStore(t, where)
	now := mustCommit(t, other, newChange(mustLoad(t, other), "a", 1))
	mustLoad(t, s)
	told := startWatching(t, s)
	now = mustCommit(t, other, newChange(now, "a", 2))
	wantSignal(t, "before the restart", told)

	stopServer(srv)
	startServer(t, opts)
	wantSignal(t, "that the server is back", told)
	awaitReconnect(t, s)
	awaitReconnect(t, other)
	wantEntries(t, mustLoad(t, s), map[string]int{"a": 2})
	for len(told) > 0 {
		<-told
	}
	mustCommit(t, other, newChange(now, "a", 3))
	wantSignal(t, "after the restart", told)
	wantEntries(t, mustLoad(t, s), map[string]int{"a": 3})
	wantLease(t, s, "a", "h", time.Minute, true)
}

// A server that restarts without its data is treated as empty: the bucket is created and filled again.
func TestServerLosesAll(t *testing.T) {
	t.Parallel()
	opts := server.Options{Port: portOf(t, port.Address(t))}
	srv := startServer(t, opts)
	where := srv.ClientURL()
	s, other := openStore(t, where), openStore(t, where)
	mustCommit(t, s, newChange(mustLoad(t, s), "a", 1))
	now := mustLoad(t, other)
	told := startWatching(t, s)
	now = mustCommit(t, other, newChange(now, "a", 2))
	wantSignal(t, "before the restart", told)
	stopServer(srv)
	startServer(t, opts)
	wantSignal(t, "that everything is gone", told)
	awaitReconnect(t, s)
	wantEntries(t, mustLoad(t, s), nil)
	if _, err := s.Commit(t.Context(), []toolcache.Change{newChange(now, "a", 3)}); !errors.Is(err, toolcache.ErrConflict) {
		t.Errorf("commit over an entry that is gone: %v, want ErrConflict", err)
	}
	awaitReconnect(t, other)
	for len(told) > 0 {
		<-told
	}
	mustCommit(t, other, newChange(mustLoad(t, other), "a", 4))
	wantSignal(t, "the first commit", told)
}

// A bucket that is deleted while the server runs is treated as empty: it is created and filled again.
func TestBucketDeleted(t *testing.T) {
	t.Parallel()
	srv := startServer(t, server.Options{})
	s := openStore(t, srv.ClientURL())
	now := mustCommit(t, s, newChange(mustLoad(t, s), "a", 1))
	js, _ := openStream(t, srv, "collie-toolcache")
	forget := func() {
		t.Helper()
		if err := js.DeleteKeyValue(t.Context(), "collie-toolcache"); err != nil {
			t.Fatal(err)
		}
	}
	forget()
	awaitReconnect(t, s) // the server may still be deleting the bucket, and not create it yet
	wantEntries(t, mustLoad(t, s), nil)
	forget()
	eventually(t, "a commit over an entry that is gone is refused", func() bool {
		_, err := s.Commit(t.Context(), []toolcache.Change{newChange(now, "a", 3)})
		if err == nil {
			t.Fatal("committed over an entry that is gone")
		}
		return errors.Is(err, toolcache.ErrConflict)
	})
	forget()
	eventually(t, "a lease is given", func() bool {
		ok, err := s.Lease(t.Context(), "a", "h", time.Minute)
		return ok && err == nil
	})
	wantEntries(t, mustCommit(t, s, newChange(mustLoad(t, s), "a", 4)), map[string]int{"a": 4})
}
