package toolcache

import (
	"bytes"
	"encoding/json"
	"slices"
	"time"
)

// This file stores the lists that a running server has given.

// confirmEvery is how often the confirmation of an unchanged list is written: writing the file at each start would wake
// disks and backup programs.
const confirmEvery = time.Hour

// Store stores the complete, non-empty lists that a live server has just given. It does not wait for the disk. It
// reports whether lists, instructions or capabilities differ from the stored ones, or whether those were not served.
// An equal list only updates ValidatedAt, on disk at most once an hour.
//
// Store rejects entries that could not be read back: one without a hash, one with a definition that no server may
// offer, and an empty one. A list without tools does not replace one with tools, since servers often give an empty
// list before they are ready.
func (c *Cache) Store(server string, e *Entry) (changed bool) {
	if c == nil {
		return true
	}
	sum, err := hashTools(e.Tools)
	if why := storeRefusal(server, e); why != "" || err != nil {
		c.refuse(server, why, err)
		return false
	}
	now := c.opts.Now()
	c.mu.Lock()
	defer c.mu.Unlock()
	s := c.slots[server]
	if s == nil {
		s = &slot{}
		c.slots[server] = s
	}
	old := s.parse(now)
	if old != nil && len(e.Tools) == 0 && len(old.Tools) > 0 && !s.deleted {
		c.count.Refused["no_tools"]++
		return false
	}
	r := newRecord(e, sum, old, now)
	r.Rev = max(r.Rev, s.disk.Rev+1)
	isConfirmation := false // the same list from the same server
	switch {
	case old == nil || s.deleted || !sameOffer(old.Entry, r.Entry):
		changed = true
	case sameOrigin(old.Entry, r.Entry):
		isConfirmation = true
		r = &record{Entry: withValidation(old.Entry, now), extra: old.extra}
	default:
		r.LastUpdated = earlier(old.LastUpdated, r.ValidatedAt)
		shareLists(r.Entry, old.Entry)
	}
	c.count.countRefresh(changed)
	s.seen, s.live = now, true
	since := now.Sub(s.disk.ValidatedAt)
	if isConfirmation && !s.isDirty() && old.LastErrorCode == "" && since >= 0 && since < confirmAfter(r.Entry, c.wants[server].MaxAge) {
		s.rec = r // confirmed in memory only
		return false
	}
	s.replace(r)
	c.wakeWriter()
	return changed
}

// confirmAfter returns how long a confirmation may stay in memory only: an hour, or less if the list is fresh for less, so
// that readers of the file do not take a fresh list for a stale one.
func confirmAfter(e *Entry, maxAge time.Duration) time.Duration {
	limit := confirmEvery
	if e.TTL > 0 {
		maxAge = e.TTL
	}
	if maxAge > 0 {
		limit = max(time.Minute, min(limit, maxAge))
	}
	return limit
}

// refuse counts and logs a list that is not stored.
func (c *Cache) refuse(server, why string, err error) {
	if why == "" {
		why = "definition"
	}
	c.mu.Lock()
	c.count.Refused[why]++
	c.mu.Unlock()
	c.log.Debug("list not kept", "server", server, "reason", why, "error", err)
}

// storeRefusal returns why an entry cannot be stored; empty if it can.
func storeRefusal(server string, e *Entry) string {
	switch {
	case !isServerName(server):
		return "name"
	case checkHash(e.ConfigHash) != nil:
		return reasonNoHash // the list could not be matched to a server
	case len(e.Tools)+len(e.Prompts)+len(e.Resources)+len(e.ResourceTemplates) == 0:
		return reasonEmpty
	case checkLists(e) != nil:
		return "definition"
	}
	return ""
}

// newRecord returns the entry to store after old, which is nil for the first one.
func newRecord(e *Entry, sum string, old *record, now time.Time) *record {
	fresh := *e
	fresh.State, fresh.StateReason, fresh.StateAt = active, "", time.Time{}
	fresh.LastErrorCode, fresh.LastErrorAt = "", time.Time{}
	fresh.ToolsHash, fresh.Rev = sum, 1
	fresh.LastUpdated, fresh.ValidatedAt = roundTime(now), roundTime(now)
	r := &record{Entry: &fresh}
	if old != nil {
		r.extra = old.extra
		fresh.Rev = old.Rev + 1
		if fresh.ServerConfig == nil {
			fresh.ServerConfig = old.ServerConfig
		}
	}
	return r
}

// roundTime returns a time with the precision of the file.
func roundTime(t time.Time) time.Time { return t.UTC().Truncate(time.Millisecond).Round(0) }

// withValidation returns an entry that a live server has just confirmed.
func withValidation(old *Entry, now time.Time) *Entry {
	e := *old
	e.ValidatedAt = roundTime(now)
	e.LastUpdated = earlier(e.LastUpdated, e.ValidatedAt)
	e.LastErrorCode, e.LastErrorAt = "", time.Time{}
	return &e
}

// earlier returns the earlier of two times. A clock that was set back since may have left a time in the future, and
// content that was just confirmed did not change in the future.
func earlier(a, b time.Time) time.Time {
	if a.After(b) {
		return b
	}
	return a
}

// sameOffer reports whether two entries look the same to clients.
func sameOffer(a, b *Entry) bool {
	return a.State == active && a.StateReason == "" && a.Instructions == b.Instructions && a.ToolsHash == b.ToolsHash &&
		sameJSON(a.Capabilities, b.Capabilities) && sameJSON(a.ServerInfo, b.ServerInfo) &&
		sameList(a.Prompts, b.Prompts) && sameList(a.Resources, b.Resources) && sameList(a.ResourceTemplates, b.ResourceTemplates)
}

// sameOrigin reports whether both came from the same server, reached in the same way.
func sameOrigin(a, b *Entry) bool {
	return a.ConfigHash == b.ConfigHash && a.Fingerprint == b.Fingerprint && a.Principal == b.Principal &&
		a.Era == b.Era && a.Eras == b.Eras && a.ProtocolVersion == b.ProtocolVersion && a.Transport == b.Transport &&
		a.TTL == b.TTL && a.CacheScope == b.CacheScope && a.Truncated == b.Truncated &&
		slices.Equal(a.Dropped, b.Dropped) && sameJSON(a.ServerConfig, b.ServerConfig)
}

// shareLists makes e share the memory of old's equal lists.
func shareLists(e, old *Entry) {
	for _, l := range lists {
		*l.at(e) = *l.at(old)
	}
}

func sameList(a, b []json.RawMessage) bool { return slices.EqualFunc(a, b, sameJSON) }

// sameJSON compares values, ignoring the order of fields and white space.
func sameJSON(a, b json.RawMessage) bool {
	if bytes.Equal(a, b) {
		return true
	}
	if len(a) == 0 || len(b) == 0 {
		return false
	}
	x, err := canonical(a)
	if err != nil {
		return false
	}
	y, err := canonical(b)
	return err == nil && bytes.Equal(x, y)
}

// Mark sets the state of a server's entry and keeps its lists for diagnosis. It does nothing for a server without an
// entry.
func (c *Cache) Mark(server string, state State, reason string) {
	if c == nil {
		return
	}
	now := c.opts.Now()
	c.mu.Lock()
	defer c.mu.Unlock()
	s := c.slots[server]
	if s == nil || s.deleted {
		return
	}
	if r := s.parse(now); r == nil || r.State == state && r.StateReason == reason {
		return
	}
	c.mark(s, state, reason)
}

// mark changes the state of a parsed entry.
func (c *Cache) mark(s *slot, state State, reason string) {
	now := c.opts.Now()
	s.editAsNew(func(e *Entry) {
		e.State, e.StateReason, e.StateAt = state, reason, roundTime(now)
	})
	c.wakeWriter()
}

// Failed records the code of a failed refresh; the rest of the entry stays. The same code is written to disk again at
// most once an hour.
func (c *Cache) Failed(server, code string) {
	if c == nil {
		return
	}
	now := c.opts.Now()
	c.mu.Lock()
	defer c.mu.Unlock()
	c.count.Refreshes.Failed++
	s := c.slots[server]
	if s == nil || s.deleted || checkWord(code) != nil {
		return
	}
	r := s.parse(now)
	if r == nil || r.LastErrorCode == code && now.Sub(r.LastErrorAt) < confirmEvery {
		return
	}
	s.edit(func(e *Entry) { e.LastErrorCode, e.LastErrorAt = code, roundTime(now) })
	c.wakeWriter()
}
