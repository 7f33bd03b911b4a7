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

// within waits for a value from c.
func within(t *testing.T, what string, c <-chan struct{}) {
	t.Helper()
	select {
	case <-c:
	case <-time.After(waitLimit):
		t.Fatalf("%s: nothing within %v", what, waitLimit)
	}
}

// watching returns a channel that gets a value after each commit by others, or once for several.
func watching(t *testing.T, s *natsstore.Store) <-chan struct{} {
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

// back waits until a store is connected again.
func back(t *testing.T, s *natsstore.Store) {
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
	srv := start(t, opts)
	where := srv.ClientURL()
	s, other := open(t, where), open(t, where)
	now := commit(t, other, put(load(t, other), "a", 1))
	load(t, s)
	told := watching(t, s)
	now = commit(t, other, put(now, "a", 2))
	within(t, "before the restart", told)

	stop(srv)
	start(t, opts)
	within(t, "that the server is back", told)
	back(t, s)
	back(t, other)
	want(t, load(t, s), map[string]int{"a": 2})
	for len(told) > 0 {
		<-told
	}
	commit(t, other, put(now, "a", 3))
	within(t, "after the restart", told)
	want(t, load(t, s), map[string]int{"a": 3})
	wantLease(t, s, "a", "h", time.Minute, true)
}

// A server that restarts without its data is treated as empty: the bucket is created and filled again.
func TestServerLosesAll(t *testing.T) {
	t.Parallel()
	opts := server.Options{Port: portOf(t, port.Address(t))}
	srv := start(t, opts)
	where := srv.ClientURL()
	s, other := open(t, where), open(t, where)
	commit(t, s, put(load(t, s), "a", 1))
	now := load(t, other)
	told := watching(t, s)
	now = commit(t, other, put(now, "a", 2))
	within(t, "before the restart", told)
	stop(srv)
	start(t, opts)
	within(t, "that everything is gone", told)
	back(t, s)
	want(t, load(t, s), nil)
	if _, err := s.Commit(t.Context(), []toolcache.Change{put(now, "a", 3)}); !errors.Is(err, toolcache.ErrConflict) {
		t.Errorf("commit over an entry that is gone: %v, want ErrConflict", err)
	}
	back(t, other)
	for len(told) > 0 {
		<-told
	}
	commit(t, other, put(load(t, other), "a", 4))
	within(t, "the first commit", told)
}

// A bucket that is deleted while the server runs is treated as empty: it is created and filled again.
func TestBucketDeleted(t *testing.T) {
	t.Parallel()
	srv := start(t, server.Options{})
	s := open(t, srv.ClientURL())
	now := commit(t, s, put(load(t, s), "a", 1))
	js, _ := stream(t, srv, "collie-toolcache")
	forget := func() {
		t.Helper()
		if err := js.DeleteKeyValue(t.Context(), "collie-toolcache"); err != nil {
			t.Fatal(err)
		}
	}
	forget()
	back(t, s) // the server may still be deleting the bucket, and not create it yet
	want(t, load(t, s), nil)
	forget()
	eventually(t, "a commit over an entry that is gone is refused", func() bool {
		_, err := s.Commit(t.Context(), []toolcache.Change{put(now, "a", 3)})
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
	want(t, commit(t, s, put(load(t, s), "a", 4)), map[string]int{"a": 4})
}
