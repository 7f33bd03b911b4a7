package toolcache

import (
	"cmp"
	"maps"
	"slices"
	"time"
)

// removedFor is how long the entry of a server that is gone is kept.
const removedFor = 30 * 24 * time.Hour

// Configured tells which servers are configured now, disabled ones included: entries of
// others are marked removed, and deleted after 30 days; an entry whose server has gone and whose
// hash a new name has moves to that name; an entry of a removed server that has come back is
// active again; one whose server has another hash is marked invalid, and is active again when
// the old hash returns. It returns the moves, old name by new name. It is called after Open and
// after each change of the configuration.
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
			c.move(from, w.Name)
			renamed[w.Name] = from
		}
	}
	for name, s := range c.slots {
		if w, ok := c.wants[name]; ok {
			c.reconcile(s, w)
		} else {
			c.remove(s)
		}
	}
	return renamed
}

// renamedFrom is the name under which the entry of a new server lies; empty if there is none.
// Of several the one that was confirmed last counts.
func (c *Cache) renamedFrom(w Want) string {
	if s := c.slots[w.Name]; w.Hash == "" || s != nil && !s.gone && s.head().ConfigHash == w.Hash {
		return ""
	}
	var found string
	for _, name := range slices.Sorted(maps.Keys(c.slots)) {
		s := c.slots[name]
		if _, configured := c.wants[name]; configured || s.gone || s.head().ConfigHash != w.Hash || s.broken != "" {
			continue
		}
		if found == "" || s.head().ValidatedAt.After(c.slots[found].head().ValidatedAt) {
			found = name
		}
	}
	if found == "" || c.slots[found].open(c.opts.Now()) == nil {
		return ""
	}
	return found
}

// move gives an entry to another server, in one commit with its removal from the old one.
func (c *Cache) move(from, to string) {
	old := c.slots[from]
	next := c.slots[to]
	if next == nil {
		next = &slot{}
		c.slots[to] = next
	}
	e := *old.rec.Entry
	e.Rev = max(e.Rev, next.written().Rev) + 1
	next.seen = old.seen
	next.set(&record{Entry: &e, extra: old.rec.extra})
	old.erase()
	c.changed()
}

// erase deletes the entry from the place it lies in.
func (s *slot) erase() {
	s.gone = true
	s.version++
}

// reconcile fits the state of an entry to its server's configuration.
func (c *Cache) reconcile(s *slot, w Want) {
	state, reason := s.head().State, s.head().StateReason
	same := s.head().ConfigHash == w.Hash
	foreign := reason == reasonImported // its hash is another program's
	var next State
	var why string
	switch {
	case s.gone || s.broken != "" || w.Hash == "":
		return
	case state == removed && (same || foreign) && reason == reasonEmpty:
		next, why = Empty, reasonEmpty
	case state == removed && foreign:
		next, why = active, reasonImported
	case state == removed && same, state == invalid && reason == reasonConfigChanged && same:
		next, why = active, ""
	case !same && !foreign && (state != invalid || reason != reasonConfigChanged):
		next, why = invalid, reasonConfigChanged
	default:
		return
	}
	if s.open(c.opts.Now()) != nil {
		c.mark(s, next, why)
	}
}

// remove marks the entry of a server that is not configured any more. What must be known when
// it comes back is kept as the reason.
func (c *Cache) remove(s *slot) {
	state, reason := s.head().State, s.head().StateReason
	now := c.opts.Now()
	switch {
	case s.gone:
		return
	case s.open(now) == nil:
		return // a broken entry stays for whoever wants to see why
	case state != removed:
		if state != Empty && reason != reasonImported {
			reason = ""
		} else if state == Empty {
			reason = reasonEmpty
		}
		c.mark(s, removed, cmp.Or(reason, "not_configured"))
	case now.Sub(cmp.Or(s.rec.StateAt, s.rec.ValidatedAt)) > removedFor:
		s.erase()
		c.changed()
	}
}
