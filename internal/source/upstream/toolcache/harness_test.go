package toolcache_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"collie/internal/source/upstream/toolcache"
)

// cacheFile is a cache file, and the clock and the log of the caches that tests open on it.
type cacheFile struct {
	path string
	log  *log

	mu  sync.Mutex
	now time.Time
}

// newCacheFile returns one that does not exist yet, whose clock is at a fixed time.
func newCacheFile(t *testing.T) *cacheFile {
	t.Helper()
	return &cacheFile{
		path: filepath.Join(t.TempDir(), "collie.cache.json"),
		log:  &log{}, now: time.Date(2026, 11, 21, 9, 0, 0, 0, time.UTC),
	}
}

func (b *cacheFile) clock() time.Time {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.now
}

// advance moves the clock by d, forward or back.
func (b *cacheFile) advance(d time.Duration) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.now = b.now.Add(d)
}

// open opens the cache as a new process would. It is closed when the test ends.
func (b *cacheFile) open(t *testing.T, with ...func(*toolcache.Options)) *toolcache.Cache {
	t.Helper()
	o := toolcache.Options{
		Path: b.path, Now: b.clock, Collect: 2 * time.Millisecond, AppVersion: "1.2.3",
		Logger: slog.New(slog.NewTextHandler(b.log, &slog.HandlerOptions{Level: slog.LevelDebug})),
	}
	toolcache.WithInstance(&o, "test")
	for _, f := range with {
		f(&o)
	}
	c := toolcache.Open(t.Context(), o)
	t.Cleanup(func() { _ = c.Close() })
	return c
}

// noBackgroundWrites leaves writing to Flush and Close.
func noBackgroundWrites(o *toolcache.Options) { o.Collect = time.Hour }

// write replaces the file as an editor would.
func (b *cacheFile) write(t *testing.T, data string) {
	t.Helper()
	if err := os.WriteFile(b.path, []byte(data), 0o600); err != nil {
		t.Fatal(err)
	}
}

func (b *cacheFile) read(t *testing.T) string {
	t.Helper()
	data, err := os.ReadFile(b.path)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// edit replaces old, which must occur, in the text of the file.
func (b *cacheFile) edit(t *testing.T, old, new string) {
	t.Helper()
	text := b.read(t)
	if !strings.Contains(text, old) {
		t.Fatalf("%q is not in the file:\n%s", old, text)
	}
	b.write(t, strings.ReplaceAll(text, old, new))
}

// log keeps what was logged.
type log struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *log) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *log) count(s string) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.Count(l.b.String(), s)
}

func (l *log) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

const day = 24 * time.Hour

// nthHash returns the n-th of a series of hashes.
func nthHash(n int) string { return fmt.Sprintf("%064x", n) }

// newWant returns what a lookup of a server asks for: the n-th configuration hash and the default ages.
func newWant(name string, n int) toolcache.Want {
	return toolcache.Want{Name: name, Hash: nthHash(n), MaxAge: day, MaxStale: 30 * day}
}

// newEntry returns an entry with the n-th configuration hash and these tools.
func newEntry(n int, tools ...string) *toolcache.Entry {
	e := &toolcache.Entry{
		ConfigHash: nthHash(n), Era: "legacy", ProtocolVersion: "2025-11-25", Transport: "stdio",
		ServerConfig: json.RawMessage(`{"type":"stdio","command":"npx","args":["-y","p"],"env":{"K":"***"}}`),
		Capabilities: json.RawMessage(`{"tools":{}}`),
	}
	for _, name := range tools {
		e.Tools = append(e.Tools, definition(name))
	}
	return e
}

// definition returns a definition with unusual spaces and order, which shows whether its bytes are kept.
func definition(name string) json.RawMessage {
	return json.RawMessage(fmt.Sprintf(
		`{"title":"查 %[1]s", "name":%[1]q,"description":"Does %[1]s & more","inputSchema": {"type":"object","properties":{"查询":{"type":"string"}}},"x-n":12345678901234567890}`, name))
}

func mustFlush(t *testing.T, c *toolcache.Cache) {
	t.Helper()
	if err := c.Flush(t.Context()); err != nil {
		t.Fatalf("flush: %v", err)
	}
}

func mustClose(t *testing.T, c *toolcache.Cache) {
	t.Helper()
	if err := c.Close(); err != nil {
		t.Fatalf("close: %v", err)
	}
}

// wantVerdict looks up a server and checks verdict and reason.
func wantVerdict(t *testing.T, c *toolcache.Cache, w toolcache.Want, verdict toolcache.Verdict, reason string) *toolcache.Entry {
	t.Helper()
	e, v, r := c.Lookup(w)
	if v != verdict || r != reason {
		t.Errorf("lookup of %s: %s %q, want %s %q", w.Name, v, r, verdict, reason)
	}
	if (e != nil) != (v == toolcache.Hit || v == toolcache.Stale) {
		t.Errorf("lookup of %s: %s with entry %v", w.Name, v, e)
	}
	return e
}
