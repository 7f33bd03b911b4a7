package toolcache

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"
)

// file is the [Backend] of the processes of one host: a JSON file that people can read,
// and a lock beside it. It is never in the way: all work with files ends within 2 s or is left
// alone, and while such work hangs everything fails at once. A symbolic link is resolved
// once and its target is written. What cannot be read as a cache file is renamed to
// <file>.corrupt-<time> and <file>.bak takes its place.
type file struct {
	opts   Options
	path   string
	limit  time.Duration   // of file work
	before func(op string) // is called before it
	work   chan struct{}   // held by who does file work, and guards what follows

	target   string    // path without links; empty until the first work
	doc      *document // as last read or written; nil if there is no file
	stamp    stamp     // of what doc was read from
	began    bool      // the first load is over
	original []byte    // the file that is still in an old format
	unlocked bool      // the file system has no locks

	hanging atomic.Int32 // pieces of work that were left alone
	info    atomic.Pointer[FileInfo]
	closed  context.Context //nolint:containedctx // it ends its own work, nobody's request
	close   context.CancelFunc
	tasks   sync.WaitGroup
}

// FileInfo is what is known of a cache file.
type FileInfo struct {
	Path       string    `json:"path"`
	Format     string    `json:"format"`     // version of the file, empty if there is none
	Size       int64     `json:"size"`       // as it lies on the disk
	PlainSize  int64     `json:"plainSize"`  // before compression
	Compressed bool      `json:"compressed"` //
	Writable   bool      `json:"writable"`
	Generation uint64    `json:"generation"`
	Total      uint64    `json:"totalWrites"`
	Writes     uint64    `json:"fileWrites"`
	Created    time.Time `json:"createdAt,omitzero"`
	Updated    time.Time `json:"lastGlobalUpdate,omitzero"`
	Servers    int       `json:"serverCount"`
	Missing    bool      `json:"missing"` // there is no file now
	LockWaits  uint64    `json:"-"`       // commits that found the lock taken
}

// fileLimit is how long file work may take, and how long one waits for the lock.
const fileLimit = 2 * time.Second

// newFile makes the file of a cache; nothing is read or made yet.
func newFile(o Options) *file {
	path := o.Path
	if abs, err := filepath.Abs(path); err == nil {
		path = abs
	}
	f := &file{opts: o, path: path, limit: fileLimit, before: func(string) {}, work: make(chan struct{}, 1)}
	f.closed, f.close = context.WithCancel(context.Background())
	f.info.Store(&FileInfo{Path: path, Writable: true, Missing: true})
	return f
}

// Load reads the file, unless it is the one that was read or written last. At the first time it
// also clears away what killed processes left.
func (f *file) Load(ctx context.Context) (Snapshot, error) {
	return within(ctx, f, f.limit, "load", func() (Snapshot, error) {
		if err := f.load(); err != nil {
			return Snapshot{}, err
		}
		return f.snapshot(), nil
	})
}

func (f *file) snapshot() Snapshot {
	if f.doc == nil {
		return Snapshot{Entries: map[string]json.RawMessage{}}
	}
	return Snapshot{Generation: f.doc.generation, Entries: maps.Clone(f.doc.entries)}
}

// Commit writes the file, with all changes or none; see [Backend]. A commit without changes makes a
// file that is missing and brings one of an older format up to date.
func (f *file) Commit(ctx context.Context, changes []Change) (Snapshot, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel() // work that was left alone must not write later
	return within(ctx, f, 2*f.limit, "commit", func() (Snapshot, error) {
		err := f.commit(ctx, changes)
		if err != nil && !errors.Is(err, ErrConflict) {
			return Snapshot{}, err
		}
		return f.snapshot(), err
	})
}

// Info is what is known of the file since it was last read or written.
func (f *file) Info() FileInfo { return *f.info.Load() }

// Close ends watching and waits for work in the background, 2 s at most.
func (f *file) Close() error {
	f.close()
	done := make(chan struct{})
	go func() {
		f.tasks.Wait()
		close(done)
	}()
	timer := time.NewTimer(f.limit)
	defer timer.Stop()
	select {
	case <-done:
	case <-timer.C: // a file system that hangs
	}
	return nil
}

// within does file work in a goroutine of its own and leaves it alone after limit. One works at
// a time; while somebody hangs, nobody waits for him.
func within[T any](ctx context.Context, f *file, limit time.Duration, op string, work func() (T, error)) (T, error) {
	var none T
	if f.closed.Err() != nil {
		return none, fmt.Errorf("use tool cache %q: %w", f.path, fs.ErrClosed)
	}
	if err := ctx.Err(); err != nil {
		return none, context.Cause(ctx)
	}
	if f.hanging.Load() > 0 {
		return none, f.slow()
	}
	timer := time.NewTimer(limit)
	defer timer.Stop()
	select {
	case f.work <- struct{}{}:
	case <-ctx.Done():
		return none, context.Cause(ctx)
	case <-timer.C:
		return none, f.slow()
	}
	type result struct {
		value T
		err   error
	}
	done := make(chan result, 1)
	go func() {
		defer func() { <-f.work }()
		if f.target == "" {
			f.target = resolve(f.path)
		}
		f.before(op)
		v, err := work()
		done <- result{v, err}
	}()
	select {
	case r := <-done:
		return r.value, r.err
	case <-ctx.Done():
		return none, context.Cause(ctx)
	case <-timer.C:
	}
	f.hanging.Add(1)
	go func() {
		<-done
		f.hanging.Add(-1)
	}()
	return none, f.slow()
}

func (f *file) slow() error {
	return newCaused(causeSlow, "use tool cache", f.path,
		"the file system does not answer within "+f.limit.String(),
		"put the file on a local disk: COLLIE_CACHE_FILE", nil)
}

// Place decides where the cache file lies: at path, or at fallback where the folder of path
// cannot be written and no file is there. A file that is there is used, read-only or not:
// a container image may come with one. An empty fallback leaves no choice.
func Place(path, fallback string) (chosen string, fellBack bool) {
	if path == "" || fallback == "" {
		return path, false
	}
	if _, err := os.Stat(path); err == nil {
		return path, false
	}
	for dir := filepath.Dir(path); ; dir = filepath.Dir(dir) {
		info, err := os.Stat(dir)
		if errors.Is(err, fs.ErrNotExist) && dir != filepath.Dir(dir) {
			continue // it can be made if the one above can be written
		}
		if err == nil && info.IsDir() && mayWrite(dir, info) {
			return path, false
		}
		return fallback, true
	}
}
