package natsstore_test

import (
	"errors"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"

	"collie/internal/source/upstream/toolcache"
	"collie/internal/source/upstream/toolcache/natsstore"
)

const patience = 10 * time.Second

func within(t *testing.T, what string, c <-chan struct{}) {
	t.Helper()
	select {
	case <-c:
	case <-time.After(patience):
		t.Fatalf("%s: nothing within %v", what, patience)
	}
}

// watching returns a channel that is told at least once after each commit of others.
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

// A server that comes back finds its clients again: they miss no commit.
func TestServerRestarts(t *testing.T) {
	t.Parallel()
	opts := server.Options{StoreDir: t.TempDir()}
	srv := start(t, opts)
	where := srv.ClientURL()
	s, other := open(t, where, natsstore.Options{Timeout: patience}), open(t, where, natsstore.Options{Timeout: patience})
	g := commit(t, other, 0, put("a", 1))
	load(t, s)
	told := watching(t, s)
	g = commit(t, other, g, put("a", 2))
	within(t, "before the restart", told)

	port := srv.Addr().String()
	stop(srv)
	opts.Port = portOf(t, port)
	start(t, opts)
	if got := load(t, s); got.Generation != g || string(got.Entries["a"]) != `{"v":2}` {
		t.Errorf("after the restart: %+v, want generation %d", got, g)
	}
	for len(told) > 0 {
		<-told
	}
	g = commit(t, other, g, put("a", 3))
	within(t, "after the restart", told)
	if got := load(t, s); got.Generation != g || string(got.Entries["a"]) != `{"v":3}` {
		t.Errorf("after the restart and a commit: %+v, want generation %d", got, g)
	}
	if ok, err := s.Lease(t.Context(), "a", "h", time.Minute); err != nil || !ok {
		t.Errorf("lease after the restart: %v, %v", ok, err)
	}
}

// A server that comes back with nothing is an empty place, which is made and told.
func TestServerLosesAll(t *testing.T) {
	t.Parallel()
	srv := start(t, server.Options{})
	where, port := srv.ClientURL(), srv.Addr().String()
	s, other := open(t, where, natsstore.Options{Timeout: patience}), open(t, where, natsstore.Options{Timeout: patience})
	g := commit(t, s, 0, put("a", 1))
	load(t, other)
	told := watching(t, s)
	g = commit(t, other, g, put("a", 2))
	within(t, "before the restart", told)
	stop(srv)
	start(t, server.Options{Port: portOf(t, port)})
	within(t, "that everything is gone", told)
	if got := load(t, s); got.Generation != 0 || len(got.Entries) != 0 {
		t.Errorf("loaded %+v, want nothing", got)
	}
	if _, err := s.Commit(t.Context(), g, []toolcache.Change{put("a", 3)}); !errors.Is(err, toolcache.ErrConflict) {
		t.Errorf("commit on a generation that is gone: %v, want ErrConflict", err)
	}
	commit(t, other, 0, put("a", 4))
	within(t, "the first commit", told)
}

// The same while the connection stands.
func TestBucketDeleted(t *testing.T) {
	t.Parallel()
	srv := start(t, server.Options{})
	s := open(t, srv.ClientURL(), natsstore.Options{})
	g := commit(t, s, 0, put("a", 1))
	js, _ := stream(t, srv, "collie-toolcache")
	if err := js.DeleteKeyValue(t.Context(), "collie-toolcache"); err != nil {
		t.Fatal(err)
	}
	if got := load(t, s); got.Generation != 0 || len(got.Entries) != 0 {
		t.Errorf("loaded %+v, want nothing", got)
	}
	if err := js.DeleteKeyValue(t.Context(), "collie-toolcache"); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Commit(t.Context(), g, []toolcache.Change{put("a", 3)}); !errors.Is(err, toolcache.ErrConflict) {
		t.Errorf("commit on a generation that is gone: %v, want ErrConflict", err)
	}
	if err := js.DeleteKeyValue(t.Context(), "collie-toolcache"); err != nil {
		t.Fatal(err)
	}
	if ok, err := s.Lease(t.Context(), "a", "h", time.Minute); err != nil || !ok {
		t.Errorf("lease: %v, %v", ok, err)
	}
	commit(t, s, 0, put("a", 4))
}
