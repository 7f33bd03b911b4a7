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

	"collie/internal/atomicfile"
)

// This file keeps the entries in a file that several processes share.

// file is the [Backend] for the processes of one host: a JSON file that people can read, with a lock beside it. It
// never blocks its callers for long: file work is abandoned after 2 s, a commit after 4 s, and while abandoned work hangs,
// further calls fail at once. A symbolic link is resolved once and its target is written. A file that is not a valid cache is
// renamed to <file>.corrupt-<time>, and <file>.bak takes its place.
type file struct {
	opts   Options
	path   string
	limit  time.Duration   // time limit for file work
	before func(op string) // called before file work, in tests
	work   chan struct{}   // held during file work; guards the fields below

	target   string    // path with links resolved; empty before the first work
	doc      *document // as last read or written; nil if there is no file
	stamp    stamp     // of the file from which doc was read
	began    bool      // the first load is done
	original []byte    // the file's bytes if its format is old
	unlocked bool      // the file system has no locks

	hanging atomic.Int32 // abandoned operations that still run
	info    atomic.Pointer[FileInfo]
	closed  context.Context //nolint:containedctx // it ends its own work, nobody's request
	close   context.CancelFunc
	tasks   sync.WaitGroup
}

// FileInfo describes a cache file.
type FileInfo struct {
	Path       string    `json:"path"`
	Format     string    `json:"format"`     // version of the format; empty without a file
	Size       int64     `json:"size"`       // on disk
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

// fileLimit bounds file work other than a commit, which may take twice as long, and the wait for the lock.
const fileLimit = 2 * time.Second

// newFile returns the file of a cache. It reads and creates nothing yet.
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

// Load reads the file, unless it is the version that was last read or written. The first Load also removes what
// killed processes left behind.
func (f *file) Load(ctx context.Context) (Snapshot, error) {
	return withTimeout(ctx, f, f.limit, "load", func() (Snapshot, error) {
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

// Commit writes the file with all changes, or with none on failure; see [Backend]. A commit without changes creates a
// missing file, and converts one of an older format.
func (f *file) Commit(ctx context.Context, changes []Change) (Snapshot, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel() // abandoned work must not write later
	return withTimeout(ctx, f, 2*f.limit, "commit", func() (Snapshot, error) {
		err := f.commit(ctx, changes)
		if err != nil && !errors.Is(err, ErrConflict) {
			return Snapshot{}, err
		}
		return f.snapshot(), err
	})
}

// Info describes the file as it was last read or written.
func (f *file) Info() FileInfo { return *f.info.Load() }

// Close stops watching and waits for background work, 2 s at most.
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
	case <-timer.C: // the file system hangs
	}
	return nil
}

// withTimeout runs file work in its own goroutine and abandons it after limit, or at the deadline of ctx if that is
// earlier. One operation runs at a time. While an abandoned one hangs, others fail without waiting.
func withTimeout[T any](ctx context.Context, f *file, limit time.Duration, op string, work func() (T, error)) (T, error) {
	var none T
	if f.closed.Err() != nil {
		return none, fmt.Errorf("use tool cache %q: %w", f.path, fs.ErrClosed)
	}
	if err := ctx.Err(); err != nil {
		return none, context.Cause(ctx)
	}
	if f.hanging.Load() > 0 {
		return none, f.slowError()
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	select {
	case f.work <- struct{}{}:
	case <-ctx.Done():
		return none, f.abandonedError(ctx)
	}
	type result struct {
		value T
		err   error
	}
	done := make(chan result, 1)
	go func() {
		defer func() { <-f.work }()
		if f.target == "" {
			f.target = atomicfile.FollowLinks(f.path)
		}
		f.before(op)
		v, err := work()
		done <- result{v, err}
	}()
	select {
	case r := <-done:
		return r.value, r.err
	case <-ctx.Done():
	}
	if errors.Is(context.Cause(ctx), context.DeadlineExceeded) {
		f.hanging.Add(1)
		go func() {
			<-done
			f.hanging.Add(-1)
		}()
	}
	return none, f.abandonedError(ctx)
}

// abandonedError returns the error of work that was not done before ctx ended.
func (f *file) abandonedError(ctx context.Context) error {
	if cause := context.Cause(ctx); !errors.Is(cause, context.DeadlineExceeded) {
		return cause
	}
	return f.slowError()
}

// slowError returns the error for work that takes longer than its limit.
func (f *file) slowError() error {
	return newCaused(causeSlow, "use tool cache", f.path,
		"the file system does not answer within "+f.limit.String(),
		"put the file on a local disk: COLLIE_CACHE_FILE", nil)
}

// ChoosePath returns the path of the cache file: path, or fallback if the folder of path cannot be written and has no such
// file. An existing file is used even if it is read-only, since a container image may contain one. An empty fallback
// always gives path.
func ChoosePath(path, fallback string) (chosen string, fellBack bool) {
	if path == "" || fallback == "" {
		return path, false
	}
	if _, err := os.Stat(path); err == nil || CanCreate(path) {
		return path, false
	}
	return fallback, true
}

// CanCreate reports whether the folder of a file can be written or, if it is missing, created.
func CanCreate(path string) bool {
	dir := filepath.Dir(path)
	for {
		info, err := os.Stat(dir)
		if errors.Is(err, fs.ErrNotExist) && dir != filepath.Dir(dir) {
			dir = filepath.Dir(dir) // it can be created if its parent can be written
			continue
		}
		return err == nil && info.IsDir() && mayWrite(dir, info)
	}
}
