package toolcache

import (
	"bytes"
	"encoding/json"
	"time"
)

// absorb joins what is in memory with what lies in the file now (8.6). Who watches is still to
// be told of the servers whose entries are other ones afterwards.
func (c *Cache) absorb(s Snapshot) {
	now := c.opts.Now()
	c.mu.Lock()
	defer c.mu.Unlock()
	c.count.Merges++
	// A lower generation is another file: the old one was removed, and what we know is
	// written again (situation 40). In the same file, what is missing was deleted.
	recreated := s.Generation < c.generation
	for name, raw := range s.Entries {
		if !serverName.MatchString(name) {
			continue // it stays in the file and is used by nobody
		}
		mine := c.slots[name]
		if mine == nil {
			c.slots[name] = newSlot(raw, now)
			c.untold = append(c.untold, name)
		} else if mine.join(raw, now, c.opts.Key) {
			c.untold = append(c.untold, name)
		}
	}
	for name, mine := range c.slots {
		if s.Entries[name] != nil || mine.raw == nil {
			continue
		}
		known := recreated && mine.open(now) != nil
		dirty := mine.dirty()
		mine.raw, mine.disk = nil, header{}
		switch {
		case mine.gone:
			delete(c.slots, name)
		case known && !dirty:
			mine.version++
		case !known && (!dirty || mine.broken != ""):
			delete(c.slots, name)
			c.untold = append(c.untold, name)
		}
	}
	c.generation = s.Generation
	c.create = c.file.Info().Missing
}

// join takes over an entry of the file unless ours is later, and reports whether it did.
func (s *slot) join(raw json.RawMessage, now time.Time, key []byte) bool {
	if bytes.Equal(raw, s.raw) {
		return false
	}
	theirs := readHeader(raw)
	order := s.header().compare(theirs)
	if order > 0 || order == 0 && s.dirty() {
		if !s.dirty() { // an older file was put in the place of ours
			s.open(now)
			s.version++
		}
		if !s.gone && s.rec != nil && bytes.Equal(raw, encodeRecord(&record{Entry: s.rec.Entry, extra: s.rec.extra}, key)) {
			s.saved = s.version // our own commit, whose answer was lost
		}
		s.raw, s.disk = raw, theirs
		return false
	}
	*s = slot{raw: raw, disk: theirs, seen: now, version: s.version, saved: s.version}
	return true
}
