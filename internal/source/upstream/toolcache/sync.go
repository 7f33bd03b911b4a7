package toolcache

import (
	"context"
	"encoding/json"
	"errors"
	"math/rand/v2"
	"time"
)

// Backend keeps encoded entries by name: the file of this host, or the place that gateways share.
// Every Backend passes toolcachetest.RunBackend. All methods are safe for concurrent use, by several
// processes too, and return when ctx ends, at the latest.
//
// Entries are opaque but for being JSON objects: a Backend returns the very bytes that it was given,
// or an equal JSON value where its format lays them out again. Names have letters, digits, _ and -.
type Backend interface {
	// Load returns everything that is kept. Nothing kept is an empty Snapshot and no error.
	Load(ctx context.Context) (Snapshot, error)
	// Commit makes changes, each of which says what it replaces. If something else is kept there by
	// now, the error matches [ErrConflict] and that change is not made; whether the others are is the
	// Backend's choice, but each is made as a whole. With that error, as without one, the Snapshot is
	// what is kept afterwards. A Commit that fails otherwise may have taken effect.
	Commit(ctx context.Context, changes []Change) (Snapshot, error)
	// Watch calls f, serially, within 2 s after commits of others, and may do so after our own;
	// several commits may be told as one. What others have committed since this handle's last
	// Load is told too, even if Watch began later. It returns when ctx ends or why it cannot watch.
	Watch(ctx context.Context, f func()) error
	// Close frees what the Backend holds. It may be called twice.
	Close() error
}

// Shared is a [Backend] that several gateways share.
type Shared interface {
	Backend
	// Lease asks for the only right to refresh a server for d. The holder asks again to renew
	// it, and with d = 0 to give it back. ok is false while another holder has it.
	Lease(ctx context.Context, server, holder string, d time.Duration) (ok bool, err error)
}

// Snapshot is everything a [Backend] keeps at one moment.
type Snapshot struct {
	// Generation of a file grows with each commit, and is 0 where nothing was ever committed. Other
	// places have none.
	Generation uint64
	Entries    map[string]json.RawMessage
}

// Change is one entry to put, or to delete where Entry is nil. Old is the entry that it replaces, as
// the last Snapshot has it; nil where there is none.
type Change struct {
	Server     string
	Old, Entry json.RawMessage
}

// ErrConflict is what [Backend.Commit] returns when somebody else has changed an entry in between.
var ErrConflict = errors.New("toolcache: changed by another writer")

// How long is waited after a commit that failed, first and then always.
const (
	firstRetry = 5 * time.Second
	laterRetry = 30 * time.Second
	maxTries   = 20 // of one commit where others are faster
)

// side is what a Cache is kept in step with: its file, or the place that gateways share.
type side interface {
	// changes are what this side does not have yet. due says whether anything is to be written, which
	// may be so without changes.
	changes() (list []Change, due bool)
	commit(ctx context.Context, list []Change) (Snapshot, error)
	// merge takes over what this side has and is later than what we know. again says that this side
	// has lost something, which is to be written once more.
	merge(now Snapshot) (again bool)
}

// sync writes what a side does not have yet. Where somebody else was faster, what lies there now is
// merged, and the rest is tried again.
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
		if err := pause(ctx, try); err != nil {
			return err
		}
	}
}

// pause waits a random while that grows with each try.
func pause(ctx context.Context, try int) error {
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

// changed wakes the goroutine that writes.
func (c *Cache) changed() {
	select {
	case c.wake <- struct{}{}:
	default: // it is awake already
	}
}

// run writes what changes: gathered for a while after the last change, at most ten times that
// after the first.
func (c *Cache) run() {
	timer := time.NewTimer(time.Hour)
	timer.Stop()
	defer timer.Stop()
	var first time.Time // of the changes that wait; zero if none does
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

// Flush writes what is pending and returns why that failed.
func (c *Cache) Flush(ctx context.Context) error {
	if c == nil {
		return nil
	}
	return c.commit(ctx)
}

// commit writes what is pending to both places. What fails is counted and told, and stays
// pending. The error is that of the file.
func (c *Cache) commit(ctx context.Context) error {
	err := c.alone(ctx, func() (err error) {
		if c.file != nil {
			if err = c.sync(ctx, &local{cache: c}); err != nil && ctx.Err() == nil {
				c.failed("write", err)
			}
		}
		if c.shared != nil && c.shared.push(ctx) {
			c.unshared.Store(true)
		}
		return err
	})
	c.tell()
	return err
}

// alone runs f while nobody else reads or writes the places.
func (c *Cache) alone(ctx context.Context, f func() error) error {
	select {
	case c.committing <- struct{}{}:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	defer func() { <-c.committing }()
	return f()
}
