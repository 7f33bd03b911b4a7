package natsstore_test

import (
	"encoding/json"
	"math/rand/v2"
	"net"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go/jetstream"

	"collie/internal/source/upstream/toolcache"
	"collie/internal/source/upstream/toolcache/natsstore"
	"collie/internal/tool"
)

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

// The bucket holds what is kept, what slow readers may want, and nothing else.
func TestNothingPilesUp(t *testing.T) {
	t.Parallel()
	srv := start(t, server.Options{})
	opts := natsstore.Options{Keep: time.Nanosecond}
	s := open(t, srv.ClientURL(), opts)
	g := commit(t, s, 0, put("keep", 1))
	for i := range 50 {
		g = commit(t, s, g, put("a", i), put("b", i))
		if i%10 == 9 {
			g = commit(t, s, g, toolcache.Change{Server: "a"})
		}
		if _, err := s.Commit(t.Context(), g-1, []toolcache.Change{put("c", i)}); err == nil {
			t.Fatal("a conflict went through")
		}
		if ok, err := s.Lease(t.Context(), "a", "h", time.Minute); err != nil || !ok {
			t.Fatal(ok, err)
		}
	}
	_, st := stream(t, srv, "collie-toolcache")
	info, err := st.Info(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	// manifest, lease, keep, b, and what the last two commits have replaced
	if info.State.Msgs > 9 {
		t.Errorf("%d messages in the bucket", info.State.Msgs)
	}
	if got := load(t, open(t, srv.ClientURL(), opts)); len(got.Entries) != 2 || string(got.Entries["keep"]) != `{"v":1}` {
		t.Errorf("loaded %+v", got)
	}
}

// A writer that dies before its manifest leaves blobs, which the next writer sweeps.
func TestCrashBeforeTheManifest(t *testing.T) {
	t.Parallel()
	srv := start(t, server.Options{})
	g := commit(t, open(t, srv.ClientURL(), natsstore.Options{}), 0, put("a", 1), put("b", 1))
	js, st := stream(t, srv, "collie-toolcache")
	kv, err := js.KeyValue(t.Context(), "collie-toolcache")
	if err != nil {
		t.Fatal(err)
	}
	for _, key := range []string{"entry.dead1.0", "entry.dead1.1", "entry.dead2.0"} {
		if _, err := kv.Put(t.Context(), key, []byte("half")); err != nil {
			t.Fatal(err)
		}
	}
	s := open(t, srv.ClientURL(), natsstore.Options{})
	if got := load(t, s); got.Generation != g || len(got.Entries) != 2 {
		t.Errorf("loaded %+v", got)
	}
	commit(t, s, g, put("a", 2))
	if _, err := kv.Get(t.Context(), "entry.dead1.0"); err == nil {
		t.Error("what the writer left is still there")
	}
	info, err := st.Info(t.Context(), jetstream.WithSubjectFilter(">"))
	if err != nil {
		t.Fatal(err)
	}
	if info.State.Msgs != 4 { // manifest, a, b, the old a
		t.Errorf("%d messages in the bucket: %v", info.State.Msgs, info.State.Subjects)
	}
	if got := load(t, open(t, srv.ClientURL(), natsstore.Options{})); len(got.Entries) != 2 || string(got.Entries["a"]) != `{"v":2}` {
		t.Errorf("loaded %+v", got)
	}
}

// One damaged or missing entry costs that entry.
func TestDamagedEntryIsLeftOut(t *testing.T) {
	t.Parallel()
	srv := start(t, server.Options{})
	s := open(t, srv.ClientURL(), natsstore.Options{})
	noise := make([]byte, 1<<20)
	for i := range noise {
		noise[i] = 'a' + byte(rand.IntN(26))
	}
	g := commit(t, s, 0, toolcache.Change{Server: "big", Entry: json.RawMessage(`{"v":"` + string(noise) + `"}`)}, put("b", 1))
	js, _ := stream(t, srv, "collie-toolcache")
	kv, err := js.KeyValue(t.Context(), "collie-toolcache")
	if err != nil {
		t.Fatal(err)
	}
	keys, err := kv.Keys(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, damage := range []func(key string) error{
		func(key string) error { _, err := kv.PutString(t.Context(), key, "other"); return err },
		func(key string) error { return kv.Delete(t.Context(), key) },
	} {
		for _, key := range keys {
			if strings.HasSuffix(key, ".1") { // the second chunk: only big has one
				if err := damage(key); err != nil {
					t.Fatal(err)
				}
			}
		}
		got := load(t, open(t, srv.ClientURL(), natsstore.Options{}))
		if got.Generation != g || len(got.Entries) != 1 || got.Entries["b"] == nil {
			t.Errorf("loaded generation %d with %d entries", got.Generation, len(got.Entries))
		}
	}
	commit(t, open(t, srv.ClientURL(), natsstore.Options{}), g, put("big", 1))
	if got := load(t, open(t, srv.ClientURL(), natsstore.Options{})); len(got.Entries) != 2 {
		t.Errorf("not mended: %d entries", len(got.Entries))
	}
}

func TestForeignManifest(t *testing.T) {
	t.Parallel()
	srv := start(t, server.Options{})
	s := open(t, srv.ClientURL(), natsstore.Options{})
	g := commit(t, s, 0, put("a", 1))
	js, _ := stream(t, srv, "collie-toolcache")
	kv, err := js.KeyValue(t.Context(), "collie-toolcache")
	if err != nil {
		t.Fatal(err)
	}
	for content, want := range map[string]tool.ErrorKind{
		"": tool.Upstream, "{}": tool.Upstream, "[]": tool.Upstream, "\x1f\x8b": tool.Upstream, `{"format":2}`: tool.Unavailable,
	} {
		if g, err = kv.PutString(t.Context(), "manifest", content); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Load(t.Context()); tool.KindOf(err) != want {
			t.Errorf("%q: load: %v, want kind %s", content, err, want)
		}
		if _, err := s.Commit(t.Context(), g, []toolcache.Change{put("a", 2)}); tool.KindOf(err) != want {
			t.Errorf("%q: commit: %v, want kind %s", content, err, want)
		}
	}
	if err := kv.Delete(t.Context(), "manifest"); err != nil {
		t.Fatal(err)
	}
	if got := load(t, s); got.Generation != 0 {
		t.Errorf("without a manifest: %+v", got)
	}
	if next := commit(t, s, 0, put("a", 3)); next <= g {
		t.Errorf("generation %d follows %d", next, g)
	}
}

// More servers than a manifest can name are refused, not cut.
func TestManifestTooLarge(t *testing.T) {
	t.Parallel()
	srv := start(t, server.Options{MaxPayload: 4 << 10})
	s := open(t, srv.ClientURL(), natsstore.Options{})
	var changes []toolcache.Change
	for i := range 200 {
		changes = append(changes, put("server-"+strconv.Itoa(i), i))
	}
	if _, err := s.Commit(t.Context(), 0, changes); tool.KindOf(err) != tool.TooLarge {
		t.Errorf("commit: %v, want kind %s", err, tool.TooLarge)
	}
	if got := load(t, s); got.Generation != 0 || len(got.Entries) != 0 {
		t.Errorf("loaded %+v", got)
	}
}
