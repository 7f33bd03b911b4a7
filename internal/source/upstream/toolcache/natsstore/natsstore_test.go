package natsstore_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"collie/internal/source/upstream/toolcache"
	"collie/internal/source/upstream/toolcache/natsstore"
	"collie/internal/source/upstream/toolcache/toolcachetest"
	"collie/internal/tool"
)

// A Store passes the tests that each backend must pass.
func TestBackend(t *testing.T) {
	t.Parallel()
	srv := startServer(t, server.Options{})
	toolcachetest.RunBackend(t, func(t *testing.T) toolcache.Backend {
		t.Helper()
		s, err := natsstore.Open(srv.ClientURL(), nil)
		if err != nil {
			t.Fatal(err)
		}
		return s
	})
}

// openStore returns a Store that is closed with the test.
func openStore(t *testing.T, where string) *natsstore.Store {
	t.Helper()
	s, err := natsstore.Open(where, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

// newChange returns a change to the content that was last loaded.
func newChange(now toolcache.Snapshot, server string, v int) toolcache.Change {
	return toolcache.Change{Server: server, Old: now.Entries[server], Entry: entryWith(v)}
}

// entryWith returns an entry that contains v.
func entryWith(v int) json.RawMessage { return json.RawMessage(fmt.Sprintf(`{"v":%d}`, v)) }

// mustCommit makes changes that must succeed, and returns the content after them.
func mustCommit(t *testing.T, s *natsstore.Store, changes ...toolcache.Change) toolcache.Snapshot {
	t.Helper()
	now, err := s.Commit(t.Context(), changes)
	if err != nil {
		t.Fatal(err)
	}
	return now
}

// mustLoad returns the content of the bucket.
func mustLoad(t *testing.T, s *natsstore.Store) toolcache.Snapshot {
	t.Helper()
	snap, err := s.Load(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return snap
}

// wantEntries compares the stored entries.
func wantEntries(t *testing.T, got toolcache.Snapshot, entries map[string]int) {
	t.Helper()
	expect := map[string]json.RawMessage{}
	for name, v := range entries {
		expect[name] = entryWith(v)
	}
	if diff := cmp.Diff(expect, got.Entries); diff != "" {
		t.Errorf("entries (-want +got):\n%.1000s", diff)
	}
}

// openStream opens the bucket's stream from outside.
func openStream(t *testing.T, srv *server.Server, bucket string) (jetstream.JetStream, jetstream.Stream) {
	t.Helper()
	conn, err := nats.Connect(srv.ClientURL())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(conn.Close)
	js, err := jetstream.New(conn)
	if err != nil {
		t.Fatal(err)
	}
	st, err := js.Stream(t.Context(), "KV_"+bucket)
	if err != nil {
		t.Fatal(err)
	}
	return js, st
}

// An address names one or more servers and optionally the bucket. Errors about an address show no secret.
func TestAddress(t *testing.T) {
	t.Parallel()
	for _, where := range []string{
		"", "host:4222", "http://host", "nats://", "nats://host/a/b", "nats://host/桶", "nats://host/a.b", "nats://user:s3cr3t@host?x=1",
		"nats://host,", "nats://host,redis://s3cr3t@host", "nats://user:s3cr3t@%zz", "nats://user:s3cr3t@[::1", "nats://host#s3cr3t",
	} {
		_, err := natsstore.Open(where, nil)
		var e *tool.Error
		if !errors.As(err, &e) || e.Kind != tool.Invalid || e.Hint == "" {
			t.Errorf("%q: %v, want kind %s with a hint", where, err, tool.Invalid)
		}
		if err != nil && strings.Contains(err.Error(), "s3cr3t") {
			t.Errorf("the error for %q shows the secret: %v", where, err)
		}
	}
	srv := startServer(t, server.Options{})
	for where, bucket := range map[string]string{
		srv.ClientURL():                                "collie-toolcache",
		srv.ClientURL() + "/":                          "collie-toolcache",
		srv.ClientURL() + "/team_A-1":                  "team_A-1",
		"nats://127.0.0.1:1, " + srv.ClientURL():       "collie-toolcache",
		"nats://127.0.0.1:1," + srv.ClientURL() + "/x": "x",
	} {
		s := openStore(t, where)
		mustCommit(t, s, newChange(mustLoad(t, s), "a", 1))
		openStream(t, srv, bucket)
	}
}

// logBuffer collects a log.
type logBuffer struct {
	mu sync.Mutex
	b  strings.Builder
}

func (j *logBuffer) Write(p []byte) (int, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.b.Write(p)
}

// Passwords appear in no error and no log.
func TestSecretsAreNotShown(t *testing.T) {
	t.Parallel()
	srv := startServer(t, server.Options{Username: "collie", Password: "right-s3cr3t"})
	u, err := url.Parse(srv.ClientURL())
	if err != nil {
		t.Fatal(err)
	}
	var log logBuffer
	logged := slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	at := func(password string) *natsstore.Store {
		u.User = url.UserPassword("collie", password)
		s, err := natsstore.Open(u.String(), logged)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = s.Close() })
		return s
	}
	s := at("right-s3cr3t")
	mustCommit(t, s, newChange(mustLoad(t, s), "a", 1))
	_, err = at("wrong-s3cr3t").Load(t.Context())
	var e *tool.Error
	if !errors.As(err, &e) || e.Kind != tool.Denied || e.Hint == "" {
		t.Errorf("wrong password: %v, want %s with a hint", err, tool.Denied)
	}
	stopServer(srv)
	_, gone := s.Load(t.Context())
	if gone == nil {
		t.Fatal("loaded from a server that has stopped")
	}
	_ = s.Close()
	log.mu.Lock()
	defer log.mu.Unlock()
	for _, shown := range []string{err.Error(), fmt.Sprintf("%+v", e), gone.Error(), log.b.String()} {
		if strings.Contains(shown, "s3cr3t") {
			t.Errorf("a secret is shown: %s", shown)
		}
	}
}

// A missing server, and one that accepts connections and stays silent, delay a caller no longer than its own limit.
func TestNoServer(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	for name, where := range map[string]string{"nobody there": "nats://127.0.0.1:1", "silent": "nats://" + l.Addr().String()} {
		s := openStore(t, where)
		ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
		_, err := s.Load(ctx)
		ended := ctx.Err() != nil
		cancel()
		if k := tool.KindOf(err); k != tool.Unavailable && (k != tool.Timeout || !ended) {
			t.Errorf("%s: load: %v", name, err)
		}
		if err := s.Watch(t.Context(), func() {}); tool.KindOf(err) != tool.Unavailable {
			t.Errorf("%s: watch: %v", name, err)
		}
	}
}

// A NATS server without JetStream is an error that says what to switch on.
func TestNoJetStream(t *testing.T) {
	t.Parallel()
	srv, err := server.NewServer(&server.Options{Host: "127.0.0.1", Port: -1, NoLog: true, NoSigs: true})
	if err != nil {
		t.Fatal(err)
	}
	srv.Start()
	t.Cleanup(func() { stopServer(srv) })
	if !srv.ReadyForConnections(30 * time.Second) {
		t.Fatal("the server does not start")
	}
	_, err = openStore(t, srv.ClientURL()).Load(t.Context())
	var e *tool.Error
	if !errors.As(err, &e) || e.Kind != tool.Unavailable || !strings.Contains(e.Hint, "JetStream") {
		t.Errorf("load: %#v, want %s with a hint at JetStream", err, tool.Unavailable)
	}
}
