package toolcache

import (
	"context"
	"encoding/json"
	"errors"
	"math/rand/v2"
	"time"
)

// This file writes changes to the file and the shared place: load, merge, write if nobody else did, try again.

// Backend stores encoded entries by name: the file of this host, or the place that gateways share. Every Backend
// passes toolcachetest.RunBackend. All methods are safe for concurrent use, also by several processes, and return
// when ctx ends at the latest.
//
// A Backend does not interpret entries, which are JSON objects. It returns the exact bytes that it was given, or an
// equal JSON value if its format lays them out differently. Names consist of letters, digits, _ and -.
type Backend interface {
	// Load returns all entries. An empty store gives an empty Snapshot and no error.
	Load(ctx context.Context) (Snapshot, error)
	// Commit makes changes, each of which names the entry it replaces. If another entry is stored there by now, that
	// change is not made and the error matches [ErrConflict]; the Backend chooses whether to make the others, but
	// each is made as a whole. With that error, and without one, the Snapshot is the content afterwards. A Commit
	// that fails otherwise may have taken effect.
	Commit(ctx context.Context, changes []Change) (Snapshot, error)
	// Watch calls f within 2 s after commits by others, one call at a time. It may also call f after our own commits,
	// and once for several commits. Commits by others since this handle's last Load count even if Watch began later.
	// Watch returns when ctx ends, or with the reason why it cannot watch.
	Watch(ctx context.Context, f func()) error
	// Close releases resources. It may be called twice.
	Close() error
}

// Shared is a [Backend] that several gateways share.
type Shared interface {
	Backend
	// Lease requests the exclusive right to refresh a server for the time d. The holder calls it again to renew the
	// lease, and with d = 0 to give it back. ok is false while another holder has it.
	Lease(ctx context.Context, server, holder string, d time.Duration) (ok bool, err error)
}

// Snapshot is the whole content of a [Backend] at one moment.
type Snapshot struct {
	// Generation of a file rises with each commit, and is 0 before the first. Other backends have none.
	Generation uint64
	Entries    map[string]json.RawMessage
}

// Change is one entry to store, or to delete if Entry is nil. Old is the entry that it replaces, as in the last
// Snapshot; nil if there is none.
type Change struct {
	Server     string
	Old, Entry json.RawMessage
}

// ErrConflict says that somebody else has changed an entry since it was loaded.
var ErrConflict = errors.New("toolcache: changed by another writer")

// Waits after a failed commit: the first one, and all others.
const (
	firstRetry = 5 * time.Second
	laterRetry = 30 * time.Second
	maxTries   = 20 // for one commit, if others are faster
)

// side is what a Cache synchronises with: its file, or the place that gateways share.
type side interface {
	// changes returns what this side lacks. due says whether to write at all, which may be needed without changes.
	changes() (list []Change, due bool)
	commit(ctx context.Context, list []Change) (Snapshot, error)
	// merge takes over what this side has in a later version. again says that this side has lost entries that must be
	// written again.
	merge(now Snapshot) (again bool)
}

// sync writes what a side lacks. If somebody else was faster, it merges the content that is there now and tries the
// rest again.
func (c *Cache) sync(ctx context.Context, to side) error {
	for try := 0; ; try++ {
		list, due := to.changes()
		if !due {
			return nil
		}
		now, err := to.commit(ctx, list)
		if err != nil && !errors.Is(err, ErrConflict) {
			return err
		}
		again := to.merge(now)
		if err == nil && !again || try == maxTries {
			return err
		}
		if err := backOff(ctx, try); err != nil {
			return err
		}
	}
}

// backOff waits for a random time, longer with each try.
func backOff(ctx context.Context, try int) error {
	limit := time.Millisecond << min(try, 6)
	timer := time.NewTimer(rand.N(limit)) // spreads load
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// wakeWriter wakes the writing goroutine.
func (c *Cache) wakeWriter() {
	select {
	case c.wake <- struct{}{}:
	default: // already awake
	}
}

// run writes changes in the background, after they were gathered for Collect from the last one, and at most ten times
// that from the first.
func (c *Cache) run() {
	timer := time.NewTimer(time.Hour)
	timer.Stop()
	defer timer.Stop()
	var first time.Time // time of the first pending change; zero if there is none
	retry := firstRetry
	for {
		select {
		case <-c.life.Done():
			return
		case <-c.wake:
			if first.IsZero() {
				first = time.Now()
			}
			timer.Reset(min(c.opts.Collect, max(0, 10*c.opts.Collect-time.Since(first))))
			continue
		case <-timer.C:
		}
		first = time.Time{}
		c.unshared.Store(false)
		if err := c.commit(c.life); (err != nil || c.unshared.Load()) && c.life.Err() == nil {
			timer.Reset(retry)
			retry = laterRetry
		} else {
			retry = firstRetry
		}
	}
}

// Flush writes what is pending, and returns why that failed.
func (c *Cache) Flush(ctx context.Context) error {
	if c == nil {
		return nil
	}
	return c.commit(ctx)
}

// commit writes what is pending to file and shared place. A failure is counted and logged, and the changes stay
// pending. The error is that of the file.
func (c *Cache) commit(ctx context.Context) error {
	err := c.exclusively(ctx, func() (err error) {
		if c.file != nil {
			if err = c.sync(ctx, &fileSide{cache: c}); err != nil && ctx.Err() == nil {
				c.reportFailure("write", err)
			}
		}
		if c.shared != nil && c.shared.push(ctx) {
			c.unshared.Store(true)
		}
		return err
	})
	c.notifyWatcher()
	return err
}

// exclusively runs f while nobody else reads or writes file and shared place.
func (c *Cache) exclusively(ctx context.Context, f func() error) error {
	select {
	case c.commitLock <- struct{}{}:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	defer func() { <-c.commitLock }()
	return f()
}
