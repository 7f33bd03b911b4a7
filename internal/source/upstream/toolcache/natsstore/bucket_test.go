package natsstore_test

import (
	"encoding/json"
	"log/slog"
	"math/rand"
	"net"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"collie/internal/source/upstream/toolcache"
	"collie/internal/source/upstream/toolcache/natsstore"
)

// portOf returns the port of an address.
func portOf(t *testing.T, address string) int {
	t.Helper()
	_, port, err := net.SplitHostPort(address)
	if err != nil {
		t.Fatal(err)
	}
	n, err := strconv.Atoi(port)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// openBucket opens the bucket as any other program would.
func openBucket(t *testing.T, srv *server.Server) (jetstream.KeyValue, jetstream.Stream) {
	t.Helper()
	js, st := openStream(t, srv, "collie-toolcache")
	kv, err := js.KeyValue(t.Context(), "collie-toolcache")
	if err != nil {
		t.Fatal(err)
	}
	return kv, st
}

// The bucket holds only the entries and leases, and nothing piles up in it.
func TestNothingPilesUp(t *testing.T) {
	t.Parallel()
	srv := startServer(t, server.Options{})
	s := openStore(t, srv.ClientURL())
	now := mustCommit(t, s, newChange(mustLoad(t, s), "keep", 1))
	for i := range 50 {
		now = mustCommit(t, s, newChange(now, "a", i), newChange(now, "b", i))
		if i%10 == 9 {
			now = mustCommit(t, s, toolcache.Change{Server: "a", Old: now.Entries["a"]})
			now = mustLoad(t, s)
		}
		if _, err := s.Commit(t.Context(), []toolcache.Change{{Server: "c", Old: entryWith(i), Entry: entryWith(i)}}); err == nil {
			t.Fatal("a conflict went through")
		}
		if ok, err := s.Lease(t.Context(), "a", "h", time.Minute); err != nil || !ok {
			t.Fatal(ok, err)
		}
	}
	_, st := openBucket(t, srv)
	info, err := st.Info(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if info.State.Msgs > 4 { // keep, b, that a was deleted, the lease
		t.Errorf("%d messages in the bucket", info.State.Msgs)
	}
	wantEntries(t, mustLoad(t, openStore(t, srv.ClientURL())), map[string]int{"keep": 1, "b": 49})
}

// Keys of other programs, and of earlier versions, are left alone.
func TestForeignKeys(t *testing.T) {
	t.Parallel()
	srv := startServer(t, server.Options{})
	s := openStore(t, srv.ClientURL())
	mustLoad(t, s) // makes the bucket
	kv, _ := openBucket(t, srv)
	for _, key := range []string{"manifest", "entry.x.0", "theirs"} {
		if _, err := kv.PutString(t.Context(), key, "{}"); err != nil {
			t.Fatal(err)
		}
	}
	mustCommit(t, s, newChange(mustLoad(t, s), "a", 1))
	wantEntries(t, mustLoad(t, s), map[string]int{"a": 1})
	for _, key := range []string{"manifest", "entry.x.0", "theirs"} {
		if got, err := kv.Get(t.Context(), key); err != nil || string(got.Value()) != "{}" {
			t.Errorf("%s: %v, %v", key, got, err)
		}
	}
}

// A damaged entry is left out until somebody writes it again; the others are not affected.
func TestDamagedEntryIsLeftOut(t *testing.T) {
	t.Parallel()
	srv := startServer(t, server.Options{})
	s := openStore(t, srv.ClientURL())
	mustCommit(t, s, newChange(mustCommit(t, s, newChange(mustLoad(t, s), "a", 1)), "b", 1))
	kv, _ := openBucket(t, srv)
	for _, damaged := range []string{"", "no JSON", "\x1f\x8bno gzip", "\x1f"} {
		if _, err := kv.PutString(t.Context(), "list.a", damaged); err != nil {
			t.Fatal(err)
		}
		other := openStore(t, srv.ClientURL())
		now := mustLoad(t, other)
		wantEntries(t, now, map[string]int{"b": 1})
		wantEntries(t, mustCommit(t, other, newChange(now, "a", 2)), map[string]int{"a": 2, "b": 1})
	}
	wantEntries(t, mustLoad(t, s), map[string]int{"a": 2, "b": 1})
}

// largeChange returns an entry of 100 KiB that hardly compresses.
func largeChange() toolcache.Change {
	noise := make([]byte, 100<<10)
	for i := range noise {
		noise[i] = 'a' + byte(rand.Intn(26))
	}
	return toolcache.Change{Server: "large", Entry: json.RawMessage(`{"v":"` + string(noise) + `"}`)}
}

// An entry too large for a message is not shared; the others are.
func TestTooLarge(t *testing.T) {
	t.Parallel()
	srv := startServer(t, server.Options{MaxPayload: 32 << 10})
	var log logBuffer
	s, err := natsstore.Open(srv.ClientURL(), slog.New(slog.NewTextHandler(&log, nil)))
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	large := largeChange()
	mustLoad(t, s)
	wantEntries(t, mustCommit(t, s, large, toolcache.Change{Server: "small", Entry: entryWith(1)}), map[string]int{"small": 1})
	wantEntries(t, mustCommit(t, s, large), map[string]int{"small": 1}) // as each later commit tries
	if n := strings.Count(log.b.String(), "too large"); n != 1 {
		t.Errorf("%d warnings:\n%s", n, log.b.String())
	}
	wantEntries(t, mustLoad(t, openStore(t, srv.ClientURL())), map[string]int{"small": 1})
}

// An entry that exceeds the limits that another program set for the bucket is not shared; the others are.
func TestTooLargeForTheBucket(t *testing.T) {
	t.Parallel()
	srv := startServer(t, server.Options{})
	conn, err := nats.Connect(srv.ClientURL())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	js, err := jetstream.New(conn)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := js.CreateKeyValue(t.Context(), jetstream.KeyValueConfig{Bucket: "collie-toolcache", MaxValueSize: 32 << 10}); err != nil {
		t.Fatal(err)
	}
	s := openStore(t, srv.ClientURL())
	mustLoad(t, s)
	wantEntries(t, mustCommit(t, s, largeChange(), toolcache.Change{Server: "small", Entry: entryWith(1)}), map[string]int{"small": 1})
	wantEntries(t, mustLoad(t, openStore(t, srv.ClientURL())), map[string]int{"small": 1})
}

// A bucket that was deleted and created again by somebody else is treated as empty.
func TestBucketMadeAnew(t *testing.T) {
	t.Parallel()
	srv := startServer(t, server.Options{})
	s := openStore(t, srv.ClientURL())
	now := mustLoad(t, s)
	for i := range 20 {
		now = mustCommit(t, s, newChange(now, "a", i))
	}
	now = mustLoad(t, s)
	js, _ := openStream(t, srv, "collie-toolcache")
	if err := js.DeleteKeyValue(t.Context(), "collie-toolcache"); err != nil {
		t.Fatal(err)
	}
	other := openStore(t, srv.ClientURL())
	awaitReconnect(t, other) // the server may still be deleting the bucket, and not create it yet
	mustCommit(t, other, newChange(mustLoad(t, other), "b", 1))
	now, err := s.Commit(t.Context(), []toolcache.Change{newChange(now, "a", 20)})
	if err == nil {
		t.Error("committed over an entry that is gone")
	}
	wantEntries(t, now, map[string]int{"b": 1})
	wantEntries(t, mustCommit(t, s, newChange(now, "a", 21)), map[string]int{"a": 21, "b": 1})
}
