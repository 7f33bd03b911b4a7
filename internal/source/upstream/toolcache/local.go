package toolcache

import (
	"bytes"
	"context"
	"encoding/json"
	"maps"
	"slices"
	"time"
)

// This file merges memory and file.

// fileSide is the file as a side of one [Cache.sync], or of one load.
type fileSide struct {
	cache *Cache
	sent  map[string]pending // the last changes, by server
	wrote bool               // the last commit was written
}

// pending is one entry that has to be written.
type pending struct {
	version uint64
	rec     *record         // nil to delete the entry, or if it is broken
	old     json.RawMessage // the entry that it replaces
	raw     json.RawMessage // the bytes to write; nil to delete
}

// changes returns what the file does not have yet, by name. due is also true for a missing file.
func (l *fileSide) changes() (changes []Change, due bool) {
	c := l.cache
	c.mu.Lock()
	create := c.create
	l.sent = map[string]pending{}
	for name, s := range c.slots {
		switch {
		case !s.isDirty():
		case s.deleted && s.raw == nil: // it was never written
			delete(c.slots, name)
		case s.deleted:
			l.sent[name] = pending{version: s.version, old: s.raw}
		case s.rec == nil: // broken, and to be written again as it is
			l.sent[name] = pending{version: s.version, old: s.raw, raw: s.raw}
		default:
			l.sent[name] = pending{version: s.version, old: s.raw, rec: s.rec}
		}
	}
	c.mu.Unlock()
	for _, name := range slices.Sorted(maps.Keys(l.sent)) {
		p := l.sent[name]
		if p.rec != nil {
			p.raw = p.rec.encode(c.opts.Key)
			l.sent[name] = p
		}
		changes = append(changes, Change{name, p.old, p.raw})
	}
	return changes, create || len(changes) > 0
}

// commit writes the file and logs that.
func (l *fileSide) commit(ctx context.Context, list []Change) (Snapshot, error) {
	c, start := l.cache, time.Now()
	now, err := c.file.Commit(ctx, list)
	l.wrote = err == nil
	c.mu.Lock()
	c.count.Writes.countDuration(time.Since(start))
	if l.wrote {
		c.count.Writes.OK++
		c.count.Writes.Entries += uint64(len(list))
	}
	c.mu.Unlock()
	if !l.wrote {
		return now, err
	}
	names, tools := make([]string, len(list)), 0
	for i, change := range list {
		names[i] = change.Server
		if rec := l.sent[change.Server].rec; rec != nil {
			tools += len(rec.Tools)
		}
	}
	c.log.Info("tool cache written", "servers", len(list), "tools", tools, "names", names, "generation", now.Generation)
	return now, nil
}

// merge takes the content of the file into memory, entry by entry. again reports that memory now has entries to write
// that were not waiting before: the file holds older ones, or was deleted. Servers whose entries in memory changed are
// added to the notices for watchers.
func (l *fileSide) merge(now Snapshot) (again bool) {
	c, at := l.cache, l.cache.opts.Now()
	c.mu.Lock()
	defer c.mu.Unlock()
	// A lower generation means a different file: the old one was deleted, so what we know is written again. In the
	// same file, a missing entry was deleted.
	found := now.Generation
	if l.wrote { // our commit made it one more than the generation that was found
		found--
	}
	recreated := found < c.generation
	noticed := len(c.pendingNotices)
	for name, raw := range now.Entries {
		if !isServerName(name) {
			continue // stays in the file, unused
		}
		mine, sent := c.slots[name], l.sent[name]
		switch {
		case mine == nil:
			c.slots[name] = newSlot(raw, at)
			c.pendingNotices = append(c.pendingNotices, name)
		case sent.raw != nil && bytes.Equal(raw, sent.raw):
			mine.raw, mine.disk, mine.saved = raw, readHead(raw), sent.version
		default:
			dirty := mine.isDirty()
			if mine.takeOverLater(raw, at, c.opts.Key) {
				c.pendingNotices = append(c.pendingNotices, name)
			}
			again = again || !dirty && mine.isDirty()
		}
	}
	for name, mine := range c.slots {
		if now.Entries[name] != nil || mine.raw == nil {
			continue
		}
		isReadable := recreated && mine.parse(at) != nil
		dirty := mine.isDirty()
		mine.raw, mine.disk = nil, Entry{}
		switch {
		case mine.deleted:
			delete(c.slots, name)
		case isReadable: // goes into the new file
			again = true
			if !dirty {
				mine.version++ // makes it dirty
			}
		case !dirty || mine.broken != "": // deleted by another process
			delete(c.slots, name)
			c.pendingNotices = append(c.pendingNotices, name)
		}
	}
	if recreated || len(c.pendingNotices) > noticed {
		c.count.Merges++
	}
	c.generation = now.Generation
	c.create = c.file.Info().Missing
	return again
}

// takeOverLater takes over an entry of the file unless ours is later, and reports whether it did. The later one has the higher
// revision, or else the later confirmation. If they are equal in both, ours stays if it is not written yet, else the
// file's is taken.
func (s *slot) takeOverLater(raw json.RawMessage, now time.Time, key []byte) bool {
	if bytes.Equal(raw, s.raw) {
		return false
	}
	theirs := readHead(raw)
	order := compareVersions(s.written(), &theirs)
	if order > 0 || order == 0 && s.isDirty() {
		if !s.isDirty() { // another program has replaced the file by an older one
			s.parse(now)
			s.version++
		}
		if !s.deleted && s.rec != nil && bytes.Equal(raw, s.rec.encode(key)) {
			s.saved = s.version // our own commit, whose result was not seen
		}
		s.raw, s.disk = raw, theirs
		return false
	}
	*s = slot{raw: raw, disk: theirs, seen: now, version: s.version, saved: s.version}
	return true
}

// reload takes over what others have written.
func (c *Cache) reload(ctx context.Context) error {
	err := c.exclusively(ctx, func() error {
		now, err := c.file.Load(ctx)
		if err == nil {
			(&fileSide{cache: c}).merge(now)
		}
		return err
	})
	c.notifyWatcher()
	return err
}
