// Package dirstore keeps the tool cache in a folder that several gateways share, on a network
// file system too: it needs no locks and no equal clocks, only that the rename of a folder is
// atomic and fails where a folder of that name exists, which holds wherever files can be
// shared.
//
// Layout, all of it immutable once it is there:
//
//	generations/000000000042/head.json         what is kept: server, file, digest
//	generations/000000000042/github-<id>.json  one file per server that 42 changed
//	leases/github-<id>/000000000007/head.json  who may refresh github
//	…/.new-<random>/                           being written; becomes a version by its rename
//	…/.old-<random>/                           being removed
//
// A commit of generation 43 writes the changed entries and the new head into a folder of its
// own and renames that to 43. The rename is the commit: before it nothing is there, after it
// everything, and of two writers one finds the name taken and has the conflict. What a crash
// leaves is a .new- folder that nobody reads. A lease is the same game played with one file.
//
// [Open] is the entry point. What entries mean is left to package toolcache. On NFS another
// host's commits show when the client's attribute cache lets them: mount with a short
// acdirmax (a second or two) where others shall see them at once.
package dirstore

import (
	"context"
	"encoding/json"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"collie/internal/source/upstream/toolcache"
	"collie/internal/tool"
)

// Options of a [Store]. The zero value is useful.
type Options struct {
	// Mode of the files; folders can be entered by whom it lets read. 0 means 0600: users
	// who share the folder need 0660 and a umask that allows it.
	Mode fs.FileMode
	// Poll is how often Watch looks; default 1 s.
	Poll time.Duration
	// Keep is how long what was replaced stays for slow readers, and how old a folder of a
	// crashed writer must be to be removed; default 10 min.
	Keep time.Duration
	// Logger hears of damaged files and of failed cleaning; nil discards.
	Logger *slog.Logger
}

// Store is a [toolcache.Backend] in a folder. It is safe for concurrent use, by several
// processes and hosts.
type Store struct {
	opts        Options
	generations series
	leases      string // folder of one series per server

	slots   chan struct{}   // bounds the file work of calls whose context has ended
	life    context.Context //nolint:containedctx // it ends with Close, and is nobody's request
	end     context.CancelFunc
	running sync.WaitGroup

	own       own
	seen      atomic.Uint64 // generation last loaded or committed
	collected atomic.Int64  // Unix nanoseconds of the last cleaning

	mu       sync.Mutex // guards what follows, and running.Add against Close
	closed   bool
	observed map[string]sight           // by lease folder
	known    map[string]json.RawMessage // by digest, what was last loaded; replaced, never changed
}

var _ toolcache.Backend = (*Store)(nil)

// closing bounds how long Close waits for file work, which on a dead network mount never ends.
const closing = 2 * time.Second

// Open returns the store of a folder, which the first commit makes. It touches no disk and
// fails only for an empty path. The caller closes the Store.
func Open(dir string, opts Options) (*Store, error) {
	if dir == "" {
		return nil, &tool.Error{
			Op: "open shared tool cache", Kind: tool.Invalid, Message: "the path of the folder is empty",
			Hint: "give the folder that the gateways share, such as dir:///srv/collie/toolcache",
		}
	}
	if opts.Mode == 0 {
		opts.Mode = 0o600
	}
	if opts.Poll <= 0 {
		opts.Poll = time.Second
	}
	if opts.Keep <= 0 {
		opts.Keep = 10 * time.Minute
	}
	if opts.Logger == nil {
		opts.Logger = slog.New(slog.DiscardHandler)
	}
	life, end := context.WithCancel(context.Background())
	return &Store{
		opts:        opts,
		generations: series{filepath.Join(dir, "generations"), opts.Mode},
		leases:      filepath.Join(dir, "leases"),
		slots:       make(chan struct{}, 4),
		life:        life,
		end:         end,
		observed:    map[string]sight{},
	}, nil
}

// Close ends every call and waits for their file work, at most 2 s.
func (s *Store) Close() error {
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	s.end()
	ended := make(chan struct{})
	go func() { s.running.Wait(); close(ended) }()
	timer := time.NewTimer(closing)
	defer timer.Stop()
	select {
	case <-ended:
	case <-timer.C:
	}
	return nil
}

// do runs file work, which cannot be interrupted, so that its caller can leave when ctx ends;
// work then looks at its context between two steps.
func do[T any](ctx context.Context, s *Store, op string, work func(context.Context) (T, error)) (T, error) {
	type result struct {
		value T
		err   error
	}
	var none T
	select {
	case s.slots <- struct{}{}:
	case <-ctx.Done():
		return none, s.explain(op, context.Cause(ctx))
	}
	if err := ctx.Err(); err != nil { // both were ready
		<-s.slots
		return none, s.explain(op, err)
	}
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		<-s.slots
		return none, s.explain(op, os.ErrClosed)
	}
	s.running.Add(1)
	s.mu.Unlock()
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer context.AfterFunc(s.life, func() { cancel(os.ErrClosed) })()
	done := make(chan result, 1)
	go func() {
		defer s.running.Done()
		defer func() { <-s.slots }()
		value, err := work(ctx)
		done <- result{value, err}
	}()
	select {
	case r := <-done:
		return r.value, s.explain(op, r.err)
	case <-ctx.Done():
		return none, s.explain(op, context.Cause(ctx))
	}
}

// own is the newest run of commits of this handle that nobody else's interrupted, so that
// Watch is silent about them.
type own struct {
	mu       sync.Mutex
	from, to uint64
}

func (o *own) add(base, generation uint64) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if base != o.to || o.to == 0 {
		o.from = base
	}
	o.to = generation
}

// covers reports whether all commits after one generation up to another are ours.
func (o *own) covers(after, upTo uint64) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	if upTo < after { // the place was emptied, and counts anew
		o.from, o.to = 0, 0
		return false
	}
	return o.from <= after && upTo <= o.to
}
