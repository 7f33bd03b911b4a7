package toolcache

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"
)

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
	timer := time.NewTimer(rand.N(limit)) //nolint:gosec // it spreads load, it keeps no secret
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
