package toolcache

// Lookup returns what is kept of a server and what it is worth. The Entry is not nil for Hit and
// Stale; reason is a stable code for the other verdicts and for Stale: "no_entry",
// "config_changed", "too_old", "fingerprint", "clock", "principal", "removed", "empty",
// "invalid", "tampered", "imported", or "no_hash" for a server without an identity.
func (c *Cache) Lookup(w Want) (e *Entry, v Verdict, reason string) {
	if c == nil {
		return nil, Miss, reasonNoEntry
	}
	if c.shared != nil {
		c.shared.adopt(w)
	}
	now := c.opts.Now()
	c.mu.Lock()
	s := c.slots[w.Name]
	unread := s != nil && s.rec == nil && s.broken == ""
	v, reason = s.judge(w, now, c.opts.TrustImported)
	c.count.lookup(v, reason)
	if v == Hit || v == Stale {
		e = s.rec.Entry
	}
	var why Finding
	if unread {
		why = s.why
	}
	c.mu.Unlock()
	if why.Message != "" {
		c.warner.warn("entry_"+w.Name, "an entry of the tool cache is not used; a live server will replace it",
			"server", w.Name, "reason", reason, "pointer", why.Pointer, "error", why.Message)
	}
	return e, v, reason
}
