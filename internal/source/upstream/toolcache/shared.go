package toolcache

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"sync"
	"time"
)

// The limits of a shared place: a dead one costs one call's wait, then it is skipped (8.13).
const (
	sharedOpenLimit = 200 * time.Millisecond // while somebody waits
	sharedLimit     = 2 * time.Second        // in the background
	sharedSkip      = 30 * time.Second
)

// shared is the place that several gateways use. What is in it is believed only under our key's
// signature, and is taken over into the local cache when it is looked up. What goes into it is
// what this gateway has heard from a live server itself.
type shared struct {
	cache   *Cache
	backend Backend
	key     []byte

	mu         sync.Mutex
	generation uint64
	loaded     bool
	entries    map[string]json.RawMessage // by sharedName
	opened     map[string]*record         // those that were looked at; nil for one not to be used
	down       time.Time                  // until when it is skipped
}

// newShared returns nil where there is no shared place, or no key to sign with.
func newShared(c *Cache) *shared {
	if c.opts.Shared == nil {
		return nil
	}
	if len(c.opts.Key) == 0 {
		c.log.Warn("the shared tool cache is not used: there is no key to sign with")
		_ = c.opts.Shared.Close() // it was never used
		return nil
	}
	return &shared{
		cache: c, backend: c.opts.Shared, key: c.opts.Key,
		entries: map[string]json.RawMessage{}, opened: map[string]*record{},
	}
}

// sharedName is where the entry of a server lies: what has another identity is another server,
// and lists that are somebody's own are apart from everybody's.
func sharedName(name, hash, principal string) string {
	if principal == "" {
		return name + "-" + hash
	}
	return name + "-" + hash + "-" + principalTag(principal)
}

// principalTag is short and fit for a name, whatever a principal looks like.
func principalTag(principal string) string {
	sum, err := canonicalSum(quote(principal))
	if err != nil {
		return "x"
	}
	return sum[:16]
}

// load fetches everything within limit.
func (s *shared) load(ctx context.Context, limit time.Duration) bool {
	if s.skipped() {
		return false
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	snapshot, err := s.backend.Load(ctx)
	if err != nil {
		s.failed("shared_read", err)
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for name := range s.opened {
		if string(snapshot.Entries[name]) != string(s.entries[name]) {
			delete(s.opened, name)
		}
	}
	s.generation, s.entries, s.loaded = snapshot.Generation, maps.Clone(snapshot.Entries), true
	if s.entries == nil {
		s.entries = map[string]json.RawMessage{}
	}
	return true
}

func (s *shared) skipped() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.cache.opts.Now().Before(s.down)
}

func (s *shared) failed(what string, err error) {
	s.mu.Lock()
	s.down = s.cache.opts.Now().Add(sharedSkip)
	s.mu.Unlock()
	s.cache.failed(what, err)
}

// open returns an entry that is signed, whole and allowed for w, nil if there is none.
func (s *shared) open(w Want) *record {
	for _, name := range []string{sharedName(w.Name, w.Hash, ""), sharedName(w.Name, w.Hash, w.Principal)} {
		r := s.openNamed(name)
		if r != nil && r.ConfigHash == w.Hash && (isPublic(r.Entry) || r.Principal == w.Principal) {
			return r
		}
	}
	return nil
}

// isPublic reports whether a list is the same for everybody (R-RD-4).
func isPublic(e *Entry) bool {
	return e.CacheScope == "public" || e.Principal == "" && e.CacheScope != "private"
}

func (s *shared) openNamed(name string) *record {
	s.mu.Lock()
	defer s.mu.Unlock()
	if r, known := s.opened[name]; known {
		return r
	}
	raw := s.entries[name]
	if raw == nil {
		return nil
	}
	plain, err := verified(s.key, name, raw)
	var r *record
	if err == nil {
		r, _, _ = openEntry(plain, s.cache.opts.Now())
	}
	if r == nil {
		s.cache.dropped(name)
	}
	s.opened[name] = r
	return r
}

// dropped counts an entry of the shared place that cannot be believed.
func (c *Cache) dropped(name string) {
	c.mu.Lock()
	c.count.Shared.Dropped++
	c.mu.Unlock()
	c.warner.warn("shared_signature", "an entry of the shared tool cache is not signed with our key and is not used", "entry", name)
}

// adopt takes over what the shared place has of a server, if that is newer, and reports whether
// the cache has other lists now.
func (s *shared) adopt(w Want) (changed bool) {
	if w.Hash == "" {
		return false
	}
	r := s.open(w)
	if r == nil {
		return false
	}
	c := s.cache
	now := c.opts.Now()
	if r.ValidatedAt.After(now.Add(ahead)) {
		return false
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	local := c.slots[w.Name]
	if local == nil {
		local = &slot{}
		c.slots[w.Name] = local
	}
	old := local.open(now)
	if old != nil && !local.gone && old.ConfigHash == w.Hash && old.Principal == w.Principal && old.StateReason != reasonImported &&
		!r.ValidatedAt.After(later(old.ValidatedAt, old.StateAt)) {
		return false
	}
	e := *r.Entry
	e.Fingerprint, e.Principal = w.Fingerprint, w.Principal // ours: files differ between hosts
	e.Rev = local.disk.rev + 1
	next := &record{Entry: &e}
	if old != nil {
		next.extra = old.extra
		e.Rev = max(e.Rev, old.Rev+1)
		e.ServerConfig = old.ServerConfig
	}
	changed = old == nil || local.gone || !sameOffer(old.Entry, &e)
	local.seen, local.live = now, false
	local.set(next)
	c.count.Shared.Adopted++
	c.changed()
	return changed
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// refresh loads again and takes over what is newer.
func (s *shared) refresh() {
	if !s.load(s.cache.life, sharedLimit) {
		return
	}
	c := s.cache
	c.mu.Lock()
	wants := slices.Collect(maps.Values(c.wants))
	c.mu.Unlock()
	for _, w := range wants {
		if s.adopt(w) {
			c.mu.Lock()
			c.untold = append(c.untold, w.Name)
			c.mu.Unlock()
		}
	}
	c.tell()
}

func (s *shared) close() { _ = s.backend.Close() } // there is nothing left to do about an error
