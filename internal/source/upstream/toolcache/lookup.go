package toolcache

import (
	"crypto/hmac"
	"encoding/json"
	"time"
)

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
	if known, ok := c.wants[w.Name]; ok && known.Hash == w.Hash { // statistics judge by all of it
		c.wants[w.Name] = w
	}
	s := c.slots[w.Name]
	unread := s != nil && s.rec == nil && s.broken == ""
	if unread && s.raw != nil { // several may be read at once: that is most of a start
		raw := s.raw
		c.mu.Unlock()
		rec, broken, why := openEntry(raw, now)
		c.mu.Lock()
		if now := c.slots[w.Name]; now == s && s.rec == nil && s.broken == "" && sameBytes(s.raw, raw) {
			s.rec, s.broken, s.why = rec, broken, why
		} else {
			s = now
		}
	}
	v, reason = s.judge(w, now, c.opts.TrustImported)
	c.count.lookup(v, reason)
	if v == Hit || v == Stale {
		sealed := *s.rec.Entry
		sealed.Sealed = s.rec.whole && len(c.opts.Key) > 0 && hmac.Equal([]byte(s.rec.mac), []byte(signSeal(c.opts.Key, s.rec.seal)))
		e = &sealed
	}
	var why Finding
	if unread && s != nil {
		why = s.why
	}
	c.mu.Unlock()
	if why.Message != "" {
		c.warner.warn("entry_"+w.Name, "an entry of the tool cache is not used; a live server will replace it",
			"server", w.Name, "reason", reason, "pointer", why.Pointer, "error", why.Message)
	}
	return e, v, reason
}

// sameBytes reports whether two entries lie in the same place of memory.
func sameBytes(a, b json.RawMessage) bool {
	return len(a) == len(b) && (len(a) == 0 || &a[0] == &b[0])
}

// judge says what an entry is worth to w. Where several reasons hold, the first of this
// order is told.
func (s *slot) judge(w Want, now time.Time, trustImported bool) (Verdict, string) {
	if s == nil || s.gone {
		return Miss, reasonNoEntry
	}
	r := s.open(now)
	switch {
	case r == nil:
		return Miss, s.broken
	case r.State == removed:
		return Miss, reasonRemoved
	case r.State == Empty:
		return Miss, reasonEmpty
	case r.State == invalid && r.StateReason != reasonConfigChanged:
		return Miss, reasonInvalid
	case r.StateReason == reasonImported:
		return imported(trustImported)
	case w.Hash == "":
		return Miss, reasonNoHash
	case r.ConfigHash != w.Hash:
		return Miss, reasonConfigChanged
	case r.Principal != w.Principal:
		return Miss, reasonPrincipal
	}
	return s.freshness(w, now)
}

// imported lists have no hash of ours and never will; a person decides whether to trust them.
func imported(trust bool) (Verdict, string) {
	if trust {
		return Stale, reasonImported
	}
	return Miss, reasonImported
}

// freshness judges an entry that is the right one.
func (s *slot) freshness(w Want, now time.Time) (Verdict, string) {
	fresh := w.MaxAge
	if s.rec.TTL > 0 {
		fresh = s.rec.TTL
	}
	age := s.age(now)
	reason := ""
	switch {
	case age > fresh && age > w.MaxStale:
		return Expired, reasonTooOld
	case age > fresh:
		reason = reasonTooOld
	case age < -ahead, s.rec.LastUpdated.After(now.Add(ahead)):
		reason = reasonClock
	case s.rec.Fingerprint != w.Fingerprint:
		reason = reasonFingerprint
	default:
		return Hit, ""
	}
	if w.MaxStale <= 0 { // the strict rule: what is not fresh is not served
		return Expired, reason
	}
	return Stale, reason
}

// The stable codes that [Cache.Lookup] gives as reasons, and that entries keep as theirs.
const (
	reasonNoEntry       = "no_entry"
	reasonNoHash        = "no_hash"
	reasonConfigChanged = "config_changed"
	reasonTooOld        = "too_old"
	reasonFingerprint   = "fingerprint"
	reasonClock         = "clock"
	reasonPrincipal     = "principal"
	reasonRemoved       = "removed"
	reasonEmpty         = "empty"
	reasonInvalid       = "invalid"
	reasonTampered      = "tampered"
	reasonImported      = "imported"
)
