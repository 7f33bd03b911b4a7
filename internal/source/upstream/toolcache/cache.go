// Package toolcache stores what MCP servers offer on disk, so that after a restart every tool is listed before any
// server runs.
//
// A [Cache] is what one gateway knows: entries by server name, loaded once at start, changed in memory at once and
// written in the background. A [Backend] stores them: the file beside the configuration, and optionally a place that
// several gateways share. The gateway works without the cache: whatever fails in it is a warning and a counter.
//
// Changes are merged with those of other processes that write the file. The file stays whole if a process is killed,
// and is put aside if it is broken. [Verify], [Migrate] and [Cache.Import] are for people's commands on such files.
// Entries stay bytes until they are looked up, so that a start makes one pass over the file. A list that was tampered
// with is noticed at its look-up and not served.
//
// Package upstream decides whether a server is started, what a list means and what clients see. Package entry defines
// the identity of a server.
package toolcache

import (
	"cmp"
	"context"
	"crypto/rand"
	"io/fs"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"
)

// Verdict says whether an entry can be served.
type Verdict string

// The verdicts.
const (
	Hit     Verdict = "hit"     // served; the server need not be asked
	Stale   Verdict = "stale"   // served, and to be refreshed
	Expired Verdict = "expired" // not served: older than MaxStale
	Miss    Verdict = "miss"    // not served
)

// Options of a [Cache]. The zero value keeps everything in memory.
type Options struct {
	// Path of the cache file; empty keeps everything in memory.
	Path string
	// Key for signatures and identity hashes, 32 bytes; see [LoadKey].
	Key []byte
	// Shared is a second place that several gateways use; nil for none. It requires a Key. Close closes it.
	Shared Shared
	// Mode of a new file; 0 means 0600. An existing file with a stricter mode keeps it.
	Mode fs.FileMode
	// Compression is auto (default: gzip above 1 MiB), none or gzip.
	Compression string
	// TrustImported serves entries imported from another program's cache.
	TrustImported bool
	// AppVersion names the writer in the file.
	AppVersion string
	// PollOnly does not use the system's notices of changes. It is for processes that end soon: Linux needs ten
	// milliseconds to end a process that has asked for notices, and two otherwise.
	PollOnly bool
	// Collect is how long changes are gathered into one write; default 200 ms, and at most ten times that after the
	// first change. Now replaces time.Now in tests.
	Collect time.Duration
	Now     func() time.Time
	Logger  *slog.Logger // nil discards

	file     *file  // tests supply their own
	instance string // distinguishes this process among writers and lease holders
}

// Want describes a configured server to the cache.
type Want struct {
	Name        string
	Hash        string // entry.ConfigHash
	Fingerprint string
	Principal   string
	// MaxAge is the age up to which a list is fresh, MaxStale the age up to which it is served. MaxStale 0 serves
	// fresh lists only.
	MaxAge, MaxStale time.Duration
}

// Cache is what one gateway knows of its servers' offers. It is safe for concurrent use. A nil *Cache stores nothing:
// every look-up is a miss. Close writes what is pending.
//
// All methods except [Cache.Flush], [Cache.Lease] and [Cache.Close] work in memory only. One goroutine writes what
// has changed. Failed writes stay pending and are tried again after 5 s, then every 30 s, and by Close.
type Cache struct {
	opts   Options
	log    *slog.Logger
	warner *warner
	file   *file   // nil if in memory only
	shared *shared // nil if there is none

	life  context.Context //nolint:containedctx // the Cache's own goroutines end with it
	stop  context.CancelFunc
	tasks sync.WaitGroup
	wake  chan struct{}

	commitLock chan struct{} // held while file or shared place is read or written
	notifyMu   sync.Mutex    // held while the watcher is called, one server at a time
	unshared   atomic.Bool   // a change is not in the shared place yet

	mu             sync.Mutex
	slots          map[string]*slot
	wants          map[string]Want
	generation     uint64 // of the file, as last seen
	create         bool   // the file is missing
	closed         bool
	watcher        func(string)
	watching       bool     // file and shared place are watched
	pendingNotices []string // servers whose changes were not reported to the watcher yet
	count          Stats    // except figures computed by Stats
}

const (
	defaultCollect = 200 * time.Millisecond
	openLimit      = 2 * time.Second
)

// Open loads the cache and always returns one. A problem of the file is logged once, counted, and shown by
// [Cache.Stats]; a broken file is put aside. Open takes at most 2 s, and at most 200 ms for a shared place.
func Open(ctx context.Context, opts Options) *Cache {
	c := newCache(opts)
	start := time.Now()
	var shared sync.WaitGroup
	if c.shared != nil {
		shared.Go(func() { c.shared.fetch(ctx, sharedOpenLimit) })
	}
	if c.file != nil {
		ctx, cancel := context.WithTimeout(ctx, openLimit)
		defer cancel()
		c.load(ctx)
	}
	shared.Wait()
	c.mu.Lock()
	c.count.LoadMillis = millis(time.Since(start))
	missing := c.create
	c.mu.Unlock()
	c.tasks.Go(c.run)
	if missing {
		c.wakeWriter()
	}
	return c
}

// setDefaults fills in what was left out.
func (o *Options) setDefaults() {
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Collect <= 0 {
		o.Collect = defaultCollect
	}
	o.instance = cmp.Or(o.instance, rand.Text())
}

func newCache(opts Options) *Cache {
	opts.setDefaults()
	c := &Cache{
		opts: opts, log: opts.Logger, warner: newWarner(opts.Logger, opts.Now), file: opts.file,
		slots: map[string]*slot{}, wants: map[string]Want{},
		wake: make(chan struct{}, 1), commitLock: make(chan struct{}, 1), count: newStats(),
	}
	if c.file == nil && opts.Path != "" {
		c.file = newFile(opts)
	}
	c.shared = newShared(c)
	c.life, c.stop = context.WithCancel(context.Background())
	return c
}

// load fills an empty cache.
func (c *Cache) load(ctx context.Context) {
	s, err := c.file.Load(ctx)
	if err != nil {
		c.reportFailure("read", err)
	}
	now := c.opts.Now()
	c.mu.Lock()
	defer c.mu.Unlock()
	for name, raw := range s.Entries {
		if isServerName(name) {
			c.slots[name] = newSlot(raw, now)
		}
	}
	c.generation = s.Generation
	c.create = err == nil && c.file.Info().Missing
}

// countFailure counts a failure of the file or the shared place, and returns its code.
func (c *Cache) countFailure(operation string, err error) (cause string) {
	cause = causeOf(err)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.count.countFailure(operation, cause, err.Error())
	return cause
}

// reportFailure counts and logs a failure of the file or the shared place.
func (c *Cache) reportFailure(operation string, err error) {
	cause := c.countFailure(operation, err)
	c.warner.warn(operation+"_"+cause, "the tool cache could not be used; tool lists are kept in memory", "what", operation, "error", err)
}

// Close writes what is pending, within 2 s, and stops all background work. It may be called twice.
func (c *Cache) Close() error {
	if c == nil {
		return nil
	}
	c.mu.Lock()
	again := c.closed
	c.closed = true
	c.mu.Unlock()
	if again {
		c.tasks.Wait()
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), openLimit)
	defer cancel()
	err := c.commit(ctx)
	c.stop()
	c.tasks.Wait()
	if c.file != nil {
		_ = c.file.Close() // returns no error
	}
	if c.shared != nil {
		_ = c.shared.backend.Close() // nothing can be done about an error
	}
	return err
}
