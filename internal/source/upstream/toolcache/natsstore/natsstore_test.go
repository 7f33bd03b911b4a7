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

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"collie/internal/source/upstream/toolcache"
	"collie/internal/source/upstream/toolcache/natsstore"
	"collie/internal/source/upstream/toolcache/toolcachetest"
	"collie/internal/tool"
)

func TestBackend(t *testing.T) {
	t.Parallel()
	for name, opts := range map[string]server.Options{
		"Defaults":      {},
		"SmallMessages": {MaxPayload: 32 << 10},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			srv := start(t, opts)
			toolcachetest.RunBackend(t, func(t *testing.T) toolcache.Backend {
				t.Helper()
				s, err := natsstore.Open(srv.ClientURL(), natsstore.Options{})
				if err != nil {
					t.Fatal(err)
				}
				return s
			})
		})
	}
}

func open(t *testing.T, where string, opts natsstore.Options) *natsstore.Store {
	t.Helper()
	s, err := natsstore.Open(where, opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

func put(server string, v int) toolcache.Change {
	return toolcache.Change{Server: server, Entry: json.RawMessage(fmt.Sprintf(`{"v":%d}`, v))}
}

func commit(t *testing.T, s *natsstore.Store, base uint64, changes ...toolcache.Change) uint64 {
	t.Helper()
	g, err := s.Commit(t.Context(), base, changes)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

func load(t *testing.T, s *natsstore.Store) toolcache.Snapshot {
	t.Helper()
	snap, err := s.Load(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return snap
}

// stream looks at the bucket from outside.
func stream(t *testing.T, srv *server.Server, bucket string) (jetstream.JetStream, jetstream.Stream) {
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

func TestAddress(t *testing.T) {
	t.Parallel()
	for _, where := range []string{
		"", "host:4222", "http://host", "nats://", "nats://host/a/b", "nats://host/桶", "nats://host/a.b", "nats://user:s3cr3t@host?x=1",
		"nats://host,", "nats://host,redis://s3cr3t@host", "nats://user:s3cr3t@%zz", "nats://user:s3cr3t@[::1", "nats://host#s3cr3t",
	} {
		_, err := natsstore.Open(where, natsstore.Options{})
		var e *tool.Error
		if !errors.As(err, &e) || e.Kind != tool.Invalid || e.Hint == "" {
			t.Errorf("%q: %v, want kind %s with a hint", where, err, tool.Invalid)
		}
		if err != nil && strings.Contains(err.Error(), "s3cr3t") {
			t.Errorf("the error for %q shows the secret: %v", where, err)
		}
	}
	srv := start(t, server.Options{})
	for where, bucket := range map[string]string{
		srv.ClientURL():                                "collie-toolcache",
		srv.ClientURL() + "/":                          "collie-toolcache",
		srv.ClientURL() + "/team_A-1":                  "team_A-1",
		"nats://127.0.0.1:1, " + srv.ClientURL():       "collie-toolcache",
		"nats://127.0.0.1:1," + srv.ClientURL() + "/x": "x",
	} {
		s := open(t, where, natsstore.Options{})
		commit(t, s, load(t, s).Generation, put("a", 1))
		stream(t, srv, bucket)
	}
}

// journal collects a log.
type journal struct {
	mu sync.Mutex
	b  strings.Builder
}

func (j *journal) Write(p []byte) (int, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.b.Write(p)
}

func TestSecretsAreNotShown(t *testing.T) {
	t.Parallel()
	srv := start(t, server.Options{Username: "collie", Password: "right-s3cr3t"})
	u, err := url.Parse(srv.ClientURL())
	if err != nil {
		t.Fatal(err)
	}
	var log journal
	opts := natsstore.Options{Logger: slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))}
	u.User = url.UserPassword("collie", "right-s3cr3t")
	s := open(t, u.String(), opts)
	commit(t, s, 0, put("a", 1))
	u.User = url.UserPassword("collie", "wrong-s3cr3t")
	_, err = open(t, u.String(), opts).Load(t.Context())
	var e *tool.Error
	if !errors.As(err, &e) || e.Kind != tool.Denied || e.Hint == "" {
		t.Errorf("wrong password: %v, want %s with a hint", err, tool.Denied)
	}
	stop(srv)
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	_, gone := s.Load(ctx)
	if gone == nil {
		t.Error("loaded from a server that has stopped")
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

func TestNoServer(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }() // takes connections and says nothing
	for name, where := range map[string]string{"nobody there": "nats://127.0.0.1:1", "silent": "nats://" + l.Addr().String()} {
		s, start := open(t, where, natsstore.Options{}), time.Now()
		ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
		_, err := s.Load(ctx)
		cancel()
		if k := tool.KindOf(err); k != tool.Unavailable && k != tool.Timeout {
			t.Errorf("%s: load: %v", name, err)
		}
		if took := time.Since(start); took > time.Second {
			t.Errorf("%s: %v for a caller who gave 200 ms", name, took)
		}
		if err := s.Watch(t.Context(), func() {}); tool.KindOf(err) != tool.Unavailable {
			t.Errorf("%s: watch: %v", name, err)
		}
	}
}

func TestNoJetStream(t *testing.T) {
	t.Parallel()
	srv, err := server.NewServer(&server.Options{Host: "127.0.0.1", Port: -1, NoLog: true, NoSigs: true})
	if err != nil {
		t.Fatal(err)
	}
	srv.Start()
	t.Cleanup(func() { stop(srv) })
	if !srv.ReadyForConnections(30 * time.Second) {
		t.Fatal("the server does not start")
	}
	_, err = open(t, srv.ClientURL(), natsstore.Options{}).Load(t.Context())
	var e *tool.Error
	if !errors.As(err, &e) || e.Kind != tool.Unavailable || !strings.Contains(e.Hint, "JetStream") {
		t.Errorf("load: %#v, want %s with a hint at JetStream", err, tool.Unavailable)
	}
}

func TestCredentialsFileMissing(t *testing.T) {
	t.Parallel()
	srv := start(t, server.Options{})
	_, err := open(t, srv.ClientURL(), natsstore.Options{CredentialsFile: t.TempDir() + "/no.creds"}).Load(t.Context())
	if tool.KindOf(err) != tool.Invalid {
		t.Errorf("load: %v, want kind %s", err, tool.Invalid)
	}
}
