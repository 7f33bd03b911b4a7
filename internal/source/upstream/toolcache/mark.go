package toolcache

// Mark sets the state of a server's entry and keeps its lists for diagnosis; a server without an entry is not an
// error.
func (c *Cache) Mark(server string, state State, reason string) {
	if c == nil {
		return
	}
	now := c.opts.Now()
	c.mu.Lock()
	defer c.mu.Unlock()
	s := c.slots[server]
	if s == nil || s.gone {
		return
	}
	if r := s.open(now); r == nil || r.State == state && r.StateReason == reason {
		return
	}
	c.mark(s, state, reason)
}

// mark changes the state of an entry that was read.
func (c *Cache) mark(s *slot, state State, reason string) {
	now := c.opts.Now()
	s.edit(true, func(e *Entry) {
		e.State, e.StateReason, e.StateAt = state, reason, plain(now)
	})
	c.changed()
}

// Failed notes the code of a refresh that failed; nothing else of the entry changes. The same
// code again is noted on disk at most once an hour.
func (c *Cache) Failed(server, code string) {
	if c == nil {
		return
	}
	now := c.opts.Now()
	c.mu.Lock()
	defer c.mu.Unlock()
	c.count.Refreshes.Failed++
	s := c.slots[server]
	if s == nil || s.gone || word(code) != nil {
		return
	}
	r := s.open(now)
	if r == nil || r.LastErrorCode == code && now.Sub(r.LastErrorAt) < touchEvery {
		return
	}
	s.edit(false, func(e *Entry) { e.LastErrorCode, e.LastErrorAt = code, plain(now) })
	c.changed()
}
