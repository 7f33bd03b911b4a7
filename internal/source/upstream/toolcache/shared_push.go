package toolcache

import (
	"context"
	"errors"
	"time"
)

// sharedTries is how often a commit is tried again after a conflict.
const sharedTries = 3

// push commits what this gateway has heard itself and the shared place does not have. It
// reports whether something stays to be done.
func (s *shared) push(ctx context.Context) (pending bool) {
	list := s.cache.live()
	if len(list) == 0 {
		return false
	}
	if s.skipped() || !s.isLoaded() && !s.load(ctx, sharedLimit) {
		return true
	}
	for try := 0; ; try++ {
		changes, base := s.missing(list)
		if len(changes) == 0 {
			return false
		}
		err := s.commit(ctx, base, changes)
		if err == nil {
			return false
		}
		if !errors.Is(err, ErrConflict) {
			s.failed("shared_write", err)
			return true
		}
		if try == sharedTries { // it is busy, not dead
			s.cache.counted("shared_write", err)
			return true
		}
		if !s.load(ctx, sharedLimit) || pause(ctx, try) != nil {
			return true
		}
	}
}

func (s *shared) isLoaded() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.loaded
}

func (s *shared) commit(ctx context.Context, base uint64, changes []Change) error {
	ctx, cancel := context.WithTimeout(ctx, sharedLimit)
	defer cancel()
	generation, err := s.backend.Commit(ctx, base, changes)
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.generation = generation
	for _, c := range changes {
		s.entries[c.Server] = c.Entry
		delete(s.opened, c.Server)
	}
	c := s.cache
	c.mu.Lock()
	defer c.mu.Unlock()
	c.count.Shared.Pushed += uint64(len(changes))
	return nil
}

// live are the entries that a live server has told this gateway.
func (c *Cache) live() map[string]*record {
	c.mu.Lock()
	defer c.mu.Unlock()
	list := map[string]*record{}
	for name, s := range c.slots {
		if s.live && !s.gone && s.rec != nil && s.rec.State == Active && s.rec.StateReason == "" {
			list[name] = s.rec
		}
	}
	return list
}

// missing are the entries of a list that the shared place has not, or older.
func (s *shared) missing(list map[string]*record) (changes []Change, base uint64) {
	for name, ours := range list {
		e := outward(ours.Entry)
		at := sharedName(name, e.ConfigHash, e.Principal)
		theirs := s.openNamed(at)
		if theirs != nil && !worthPushing(e, theirs.Entry) {
			continue
		}
		raw, err := sign(s.key, at, encodeRecord(&record{Entry: e}, nil))
		if err == nil {
			changes = append(changes, Change{at, raw})
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return changes, s.generation
}

func worthPushing(ours, theirs *Entry) bool {
	if sameOffer(theirs, ours) {
		return ours.ValidatedAt.Sub(theirs.ValidatedAt) >= touchAfter(ours, 0)
	}
	return ours.ValidatedAt.After(theirs.ValidatedAt)
}

// outward leaves out what is of this host only, and whose it is where it is everybody's.
func outward(e *Entry) *Entry {
	out := *e
	out.Fingerprint, out.ServerConfig = "", nil
	out.LastErrorCode, out.LastErrorAt = "", time.Time{}
	if isPublic(e) {
		out.Principal = ""
	}
	return &out
}
