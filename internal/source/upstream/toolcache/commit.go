package toolcache

import (
	"context"
	"encoding/json"
	"errors"
	"math/rand/v2"
	"time"

	"collie/internal/sorting"
)

// How long is waited after a commit that failed, first and then always (8.6).
const (
	firstRetry = 5 * time.Second
	laterRetry = 30 * time.Second
	maxTries   = 20 // where the file system has no locks
)

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
	return c.flush(ctx)
}

func (c *Cache) flush(ctx context.Context) error { return c.commit(ctx) }

// commit writes what is pending to both places. What fails is counted and told, and stays
// pending.
func (c *Cache) commit(ctx context.Context) error {
	err := c.alone(ctx, func() (err error) {
		if c.file != nil {
			if err = c.timed(func() error { return c.commitFile(ctx) }); err != nil && ctx.Err() == nil {
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

// timed notes how long a commit took that had something to write.
func (c *Cache) timed(commit func() error) error {
	c.mu.Lock()
	before := c.count.Writes.OK
	c.mu.Unlock()
	start := time.Now()
	err := commit()
	took := time.Since(start)
	c.mu.Lock()
	defer c.mu.Unlock()
	if err != nil || c.count.Writes.OK > before {
		c.count.Write.add(took)
	}
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

// pending is one entry that has to be written.
type pending struct {
	name    string
	version uint64
	rec     *record // nil to delete
	raw     json.RawMessage
}

// commitFile writes to the file, joined with what others have written there meanwhile.
func (c *Cache) commitFile(ctx context.Context) error {
	if list, create := c.pending(); len(list) == 0 && !create {
		return nil
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel() // a file system that hangs may call join later, when it is too late
	for try := 0; ; try++ {
		var list []pending
		generation, err := c.file.update(ctx, func(s Snapshot, foreign bool) (changes []Change, err error) {
			list, changes, err = c.join(ctx, s, foreign)
			return changes, err
		})
		switch {
		case err == nil:
			c.settle(list, generation)
			return nil
		case errors.Is(err, errNothing):
			return nil
		case !errors.Is(err, ErrConflict) || try == maxTries:
			return err
		}
		if err := pause(ctx, try); err != nil {
			return err
		}
	}
}

var errNothing = errors.New("nothing to write")

// join takes over what others have written and returns what remains to be written then.
func (c *Cache) join(ctx context.Context, s Snapshot, foreign bool) ([]pending, []Change, error) {
	if err := ctx.Err(); err != nil {
		return nil, nil, context.Cause(ctx)
	}
	c.mu.Lock()
	known := !foreign && s.Generation == c.generation
	c.mu.Unlock()
	if !known {
		c.absorb(s)
	}
	list, create := c.pending()
	if len(list) == 0 && !create {
		return nil, nil, errNothing
	}
	changes := make([]Change, len(list))
	for i := range list {
		if p := &list[i]; p.rec != nil {
			p.raw = encodeRecord(&record{Entry: p.rec.Entry, extra: p.rec.extra}, c.opts.Key)
		}
		changes[i] = Change{list[i].name, list[i].raw}
	}
	return list, changes, nil
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

// pending is what the file does not have yet, by name.
func (c *Cache) pending() (list []pending, create bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for name, s := range c.slots {
		if !s.dirty() {
			continue
		}
		p := pending{name: name, version: s.version}
		if !s.gone {
			p.rec = s.rec
		} else if s.raw == nil { // it was never written
			delete(c.slots, name)
			continue
		}
		if p.rec == nil && !s.gone { // broken, and to be written again as it is
			p.raw = s.raw
		}
		list = append(list, p)
	}
	sorting.By(list, func(a, b pending) int {
		if a.name < b.name {
			return -1
		}
		return 1
	})
	return list, c.create
}

// settle notes what was written, and tells operators.
func (c *Cache) settle(list []pending, generation uint64) {
	c.mu.Lock()
	names, tools := make([]string, len(list)), 0
	for i, p := range list {
		names[i] = p.name
		if p.rec != nil {
			tools += len(p.rec.Tools)
		}
		s := c.slots[p.name]
		if s == nil {
			continue
		}
		if p.raw == nil {
			if s.version == p.version {
				delete(c.slots, p.name)
			} else { // it came back in the meantime
				s.raw, s.disk = nil, header{}
			}
			continue
		}
		s.raw, s.disk, s.saved = p.raw, readHeader(p.raw), p.version
	}
	c.generation, c.create = generation, false
	c.count.Writes.OK++
	c.count.Writes.Entries += uint64(len(list))
	c.mu.Unlock()
	c.log.Info("tool cache written", "servers", len(list), "tools", tools, "names", names, "generation", generation)
}

// reload takes over what others have written.
func (c *Cache) reload(ctx context.Context) error {
	err := c.alone(ctx, func() error {
		s, err := c.file.Load(ctx)
		if err == nil {
			c.absorb(s)
		}
		return err
	})
	c.tell()
	return err
}
