package toolcache

import (
	"cmp"
	"maps"
	"slices"
	"time"
)

// This file follows which servers the settings have: entries of removed servers are kept for a while.

// removedFor is how long the entry of a removed server is kept.
const removedFor = 30 * 24 * time.Hour

// Configured tells the cache which servers are configured now, disabled ones included. It is called after Open and
// after each change of the configuration.
//
// Entries of other servers are marked removed, and deleted after 30 days. If a removed server's hash appears under a
// new name, its entry moves to that name. The entry of a server that has come back becomes active again. The entry of
// a server with a different hash is marked invalid, until the old hash returns. Configured returns the moves, old
// name by new name.
func (c *Cache) Configured(all []Want) (renamed map[string]string) {
	renamed = map[string]string{}
	if c == nil {
		return renamed
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	clear(c.wants)
	for _, w := range all {
		c.wants[w.Name] = w
	}
	for _, w := range all {
		if from := c.renamedFrom(w); from != "" {
			c.moveEntry(from, w.Name)
			renamed[w.Name] = from
		}
	}
	for name, s := range c.slots {
		if w, ok := c.wants[name]; ok {
			c.reconcile(s, w)
		} else {
			c.markRemoved(s)
		}
	}
	return renamed
}

// renamedFrom returns the name under which a new server's entry is stored, empty if there is none. Of several it is
// the one that was confirmed last.
func (c *Cache) renamedFrom(w Want) string {
	if s := c.slots[w.Name]; w.Hash == "" || s != nil && !s.deleted && s.head().ConfigHash == w.Hash {
		return ""
	}
	var found string
	for _, name := range slices.Sorted(maps.Keys(c.slots)) {
		s := c.slots[name]
		if _, configured := c.wants[name]; configured || s.deleted || s.head().ConfigHash != w.Hash || s.broken != "" {
			continue
		}
		if found == "" || s.head().ValidatedAt.After(c.slots[found].head().ValidatedAt) {
			found = name
		}
	}
	if found == "" || c.slots[found].parse(c.opts.Now()) == nil {
		return ""
	}
	return found
}

// moveEntry gives an entry to another server. Its removal from the old name is in the same commit.
func (c *Cache) moveEntry(from, to string) {
	old := c.slots[from]
	next := c.slots[to]
	if next == nil {
		next = &slot{}
		c.slots[to] = next
	}
	e := *old.rec.Entry
	e.Rev = max(e.Rev, next.written().Rev) + 1
	next.seen = old.seen
	next.replace(&record{Entry: &e, extra: old.rec.extra})
	old.markDeleted()
	c.wakeWriter()
}

// markDeleted marks the entry to be deleted from the file.
func (s *slot) markDeleted() {
	s.deleted = true
	s.version++
}

// reconcile updates the state of an entry to its server's configuration.
func (c *Cache) reconcile(s *slot, w Want) {
	state, reason := s.head().State, s.head().StateReason
	unchanged := s.head().ConfigHash == w.Hash
	foreign := reason == reasonImported // its hash was made by another program
	var next State
	var why string
	switch {
	case s.deleted || s.broken != "" || w.Hash == "":
		return
	case state == removed && (unchanged || foreign) && reason == reasonEmpty:
		next, why = Empty, reasonEmpty
	case state == removed && foreign:
		next, why = active, reasonImported
	case state == removed && unchanged, state == invalid && reason == reasonConfigChanged && unchanged:
		next, why = active, ""
	case !unchanged && !foreign && (state != invalid || reason != reasonConfigChanged):
		next, why = invalid, reasonConfigChanged
	default:
		return
	}
	if s.parse(c.opts.Now()) != nil {
		c.mark(s, next, why)
	}
}

// markRemoved marks the entry of a server that is no longer configured, and deletes it if that was long ago. The state
// to restore when the server comes back is stored in the reason.
func (c *Cache) markRemoved(s *slot) {
	state, reason := s.head().State, s.head().StateReason
	now := c.opts.Now()
	switch {
	case s.deleted:
		return
	case s.parse(now) == nil:
		return // a broken entry stays for diagnosis
	case state != removed:
		if state != Empty && reason != reasonImported {
			reason = ""
		} else if state == Empty {
			reason = reasonEmpty
		}
		c.mark(s, removed, cmp.Or(reason, "not_configured"))
	case now.Sub(cmp.Or(s.rec.StateAt, s.rec.ValidatedAt)) > removedFor:
		s.markDeleted()
		c.wakeWriter()
	}
}
