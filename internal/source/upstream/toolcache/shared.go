package toolcache

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"sync"
	"time"
)

// This file shares entries with gateways on other machines.

// Limits for a shared place: a dead one delays one call and is then skipped for a while.
const (
	sharedOpenLimit = 200 * time.Millisecond // while somebody waits
	sharedLimit     = 2 * time.Second        // in the background
	sharedSkip      = 30 * time.Second
)

// shared is the place that several gateways use, as a side of [Cache.sync]. Its entries are accepted only with a
// signature by our key, and are copied into the local cache when they are looked up. Only what this gateway heard
// from a live server itself is written to it.
type shared struct {
	cache   *Cache
	backend Shared
	key     []byte

	mu        sync.Mutex
	loaded    bool
	hasMissed bool                       // it reported changes that could not be fetched
	entries   map[string]json.RawMessage // by sharedName
	opened    map[string]*record         // entries that were verified; nil for an invalid one
	skipUntil time.Time                  // skipped until then
}

// newShared returns nil if there is no shared place, or no key to sign with.
func newShared(c *Cache) *shared {
	if c.opts.Shared == nil {
		return nil
	}
	if len(c.opts.Key) == 0 {
		c.log.Warn("the shared tool cache is not used: there is no key to sign with")
		_ = c.opts.Shared.Close() // it was never used
		return nil
	}
	c.count.Shared = &SharedCount{Failures: map[string]uint64{}}
	return &shared{
		cache: c, backend: c.opts.Shared, key: c.opts.Key,
		entries: map[string]json.RawMessage{}, opened: map[string]*record{},
	}
}

// sharedName returns the name of an entry in a shared place. It depends on the server's identity, and on the
// principal for lists that are not the same for everybody.
func sharedName(name, hash, principal string) string {
	if principal == "" {
		return name + "-" + hash
	}
	return name + "-" + hash + "-" + principalTag(principal)
}

// principalTag returns a short digest of a principal that is valid in a name.
func principalTag(principal string) string {
	sum, err := canonicalSum(quote(principal))
	if err != nil {
		return "x"
	}
	return sum[:16]
}

// fetch fetches all entries within limit and takes over those that are later than ours.
func (s *shared) fetch(ctx context.Context, limit time.Duration) bool {
	if s.isSkipped() {
		return false
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	now, err := s.backend.Load(ctx)
	if err != nil {
		s.skipAfter("shared_read", err)
		return false
	}
	s.merge(now)
	return true
}

// merge takes over the entries of the shared place that are later than ours. It always returns false, because changes
// finds the entries that the place has lost.
func (s *shared) merge(now Snapshot) (again bool) {
	s.mu.Lock()
	for name := range s.opened {
		if string(now.Entries[name]) != string(s.entries[name]) {
			delete(s.opened, name)
		}
	}
	s.entries, s.loaded, s.hasMissed = now.Entries, true, false
	s.mu.Unlock()
	c := s.cache
	c.mu.Lock()
	wants := slices.Collect(maps.Values(c.wants))
	c.mu.Unlock()
	for _, w := range wants {
		if s.adopt(w) {
			c.mu.Lock()
			c.pendingNotices = append(c.pendingNotices, w.Name)
			c.mu.Unlock()
		}
	}
	return false
}

// isSkipped reports whether the place has failed a short time ago.
func (s *shared) isSkipped() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.cache.opts.Now().Before(s.skipUntil)
}

// skipAfter counts and logs a failure of the place, which is then not used for sharedSkip.
func (s *shared) skipAfter(operation string, err error) {
	s.mu.Lock()
	s.skipUntil = s.cache.opts.Now().Add(sharedSkip)
	s.mu.Unlock()
	s.cache.reportFailure(operation, err)
}

// openFor returns an entry that is signed, valid and usable for w; nil if there is none.
func (s *shared) openFor(w Want) *record {
	for _, name := range []string{sharedName(w.Name, w.Hash, ""), sharedName(w.Name, w.Hash, w.Principal)} {
		r := s.openNamed(name)
		if r != nil && r.ConfigHash == w.Hash && (isPublic(r.Entry) || r.Principal == w.Principal) {
			return r
		}
	}
	return nil
}

// isPublic reports whether a list is the same for everybody.
func isPublic(e *Entry) bool {
	return e.CacheScope == "public" || e.Principal == "" && e.CacheScope != "private"
}

// openNamed returns the entry of that name in the place, nil if it is missing or not valid. Each is verified once.
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
	plain, err := verifySignature(s.key, name, raw)
	var r *record
	if err == nil {
		r, _, _ = parseEntry(plain, s.cache.opts.Now())
	}
	if r == nil {
		s.cache.countRejected(name)
	}
	s.opened[name] = r
	return r
}

// countRejected counts an entry of the shared place that failed verification.
func (c *Cache) countRejected(name string) {
	c.mu.Lock()
	c.count.Shared.Dropped++
	c.mu.Unlock()
	c.warner.warn("shared_signature", "an entry of the shared tool cache is not signed with our key and is not used", "entry", name)
}

// adopt takes over the shared entry of a server if it is newer than ours, and reports whether the lists in the cache
// have changed.
func (s *shared) adopt(w Want) (changed bool) {
	if w.Hash == "" {
		return false
	}
	r := s.openFor(w)
	if r == nil {
		return false
	}
	c := s.cache
	if s.isAhead(r) {
		return false
	}
	now := c.opts.Now()
	c.mu.Lock()
	defer c.mu.Unlock()
	local := c.slots[w.Name]
	if local == nil {
		local = &slot{}
		c.slots[w.Name] = local
	}
	old := local.parse(now)
	if old != nil && !local.deleted && old.ConfigHash == w.Hash && old.Principal == w.Principal && old.StateReason != reasonImported &&
		!r.ValidatedAt.After(laterTime(old.ValidatedAt, old.StateAt)) {
		return false
	}
	e := *r.Entry
	e.Fingerprint, e.Principal = w.Fingerprint, w.Principal // replaced by ours: files differ between hosts
	e.Rev = local.disk.Rev + 1
	next := &record{Entry: &e}
	if old != nil {
		next.extra = old.extra
		e.Rev = max(e.Rev, old.Rev+1)
		e.ServerConfig = old.ServerConfig
	}
	changed = old == nil || local.deleted || !sameOffer(old.Entry, &e)
	local.seen, local.live = now, false
	local.replace(next)
	c.count.Shared.Adopted++
	c.wakeWriter()
	return changed
}

// isAhead reports whether an entry is dated in the future, because its writer's clock or ours is wrong. Such an entry
// is neither taken over nor allowed to block newer ones until our clock gets there.
func (s *shared) isAhead(r *record) bool {
	return r.ValidatedAt.After(s.cache.opts.Now().Add(maxClockSkew))
}

func laterTime(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// refresh takes over what others have shared. If it cannot be fetched now, the next push fetches it, since the place
// will not report it again.
func (s *shared) refresh() {
	if !s.fetch(s.cache.life, sharedLimit) {
		s.mu.Lock()
		s.hasMissed = true
		s.mu.Unlock()
		s.cache.wakeWriter()
	}
	s.cache.notifyWatcher()
}

// push writes the entries that this gateway has fetched and the shared place lacks, and fetches those that
// refresh could not. It reports whether something is left to do.
func (s *shared) push(ctx context.Context) (pending bool) {
	s.mu.Lock()
	loaded, missed := s.loaded, s.hasMissed
	s.mu.Unlock()
	if !missed && len(s.cache.liveEntries()) == 0 {
		return false
	}
	if s.isSkipped() || (missed || !loaded) && !s.fetch(ctx, sharedLimit) {
		return true
	}
	err := s.cache.sync(ctx, s)
	switch {
	case err == nil:
		return false
	case errors.Is(err, ErrConflict): // busy, not dead
		s.cache.countFailure("shared_write", err)
	default:
		s.skipAfter("shared_write", err)
	}
	return true
}

// commit writes to the place and counts the entries that were stored.
func (s *shared) commit(ctx context.Context, list []Change) (Snapshot, error) {
	ctx, cancel := context.WithTimeout(ctx, sharedLimit)
	defer cancel()
	now, err := s.backend.Commit(ctx, list)
	if err != nil {
		return now, err
	}
	c := s.cache
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, change := range list {
		if bytes.Equal(now.Entries[change.Server], change.Entry) { // not an entry that is too large for the place
			c.count.Shared.Pushed++
		}
	}
	return now, nil
}

// liveEntries returns the entries that a live server told this gateway.
func (c *Cache) liveEntries() map[string]*record {
	c.mu.Lock()
	defer c.mu.Unlock()
	list := map[string]*record{}
	for name, s := range c.slots {
		if s.live && !s.deleted && s.rec != nil && s.rec.State == active && s.rec.StateReason == "" {
			list[name] = s.rec
		}
	}
	return list
}

// changes returns the entries that this gateway heard itself and that the shared place lacks, or has in an older
// version.
func (s *shared) changes() (changes []Change, due bool) {
	for name, ours := range s.cache.liveEntries() {
		e := sharedForm(ours.Entry)
		at := sharedName(name, e.ConfigHash, e.Principal)
		theirs := s.openNamed(at)
		if theirs != nil && !s.isAhead(theirs) && !isWorthPushing(e, theirs.Entry) {
			continue
		}
		raw, err := sign(s.key, at, (&record{Entry: e}).encode(nil))
		if err != nil {
			continue
		}
		s.mu.Lock()
		old := s.entries[at]
		s.mu.Unlock()
		changes = append(changes, Change{at, old, raw})
	}
	return changes, len(changes) > 0
}

// isWorthPushing reports whether our entry is newer than that of the place: another list, or one confirmed so much later
// that readers would take theirs for stale.
func isWorthPushing(ours, theirs *Entry) bool {
	if sameOffer(theirs, ours) {
		return ours.ValidatedAt.Sub(theirs.ValidatedAt) >= confirmAfter(ours, 0)
	}
	return ours.ValidatedAt.After(theirs.ValidatedAt)
}

// sharedForm returns the entry for the shared place: without what only concerns this host, and without the principal if
// it is the same for everybody.
func sharedForm(e *Entry) *Entry {
	out := *e
	out.Fingerprint, out.ServerConfig = "", nil
	out.LastErrorCode, out.LastErrorAt = "", time.Time{}
	if isPublic(e) {
		out.Principal = ""
	}
	return &out
}

const (
	leaseFor   = 60 * time.Second
	leaseRenew = leaseFor / 3
)

// Lease reports whether this gateway may refresh a server now. It always may without a shared place, or if that does
// not answer. The lease is renewed until release is called, which may be called twice.
func (c *Cache) Lease(ctx context.Context, server string) (release func(), ok bool) {
	if c == nil || c.shared == nil || c.shared.isSkipped() {
		return func() {}, true
	}
	c.mu.Lock()
	w := c.wants[server]
	c.mu.Unlock()
	name := sharedName(server, w.Hash, w.Principal)
	ok, err := c.shared.lease(ctx, name, leaseFor, sharedOpenLimit)
	if err != nil {
		c.shared.skipAfter("shared_lease", err)
		return func() {}, true
	}
	if !ok {
		return func() {}, false
	}
	c.shared.refresh() // the previous holder may have fetched the list just now
	ended := make(chan struct{})
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.closed {
		c.tasks.Go(func() { c.renewLease(name, ended) })
	}
	return sync.OnceFunc(func() { close(ended) }), true
}

func (s *shared) lease(ctx context.Context, name string, d, limit time.Duration) (bool, error) {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	return s.backend.Lease(ctx, name, s.cache.opts.instance, d)
}

// renewLease renews a lease until ended is closed, and gives it back.
func (c *Cache) renewLease(name string, ended <-chan struct{}) {
	renew := time.NewTicker(leaseRenew)
	defer renew.Stop()
	for {
		select {
		case <-renew.C:
			if _, err := c.shared.lease(c.life, name, leaseFor, sharedLimit); err != nil {
				c.log.Debug("lease not renewed", "lease", name, "error", err)
			}
			continue
		case <-ended:
		case <-c.life.Done():
		}
		if _, err := c.shared.lease(context.Background(), name, 0, sharedOpenLimit); err != nil {
			c.log.Debug("lease not given back, it runs out by itself", "lease", name, "error", err)
		}
		return
	}
}
