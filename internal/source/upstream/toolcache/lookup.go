package toolcache

import (
	"crypto/hmac"
	"encoding/json"
	"time"
)

// This file decides whether an entry may be used: fresh, stale, or not at all.

// Lookup returns the stored entry of a server and a verdict. The Entry is not nil for Hit and Stale. For all verdicts
// but Hit, reason is a stable code: "no_entry", "config_changed", "too_old", "fingerprint", "clock", "principal",
// "removed", "empty", "invalid", "tampered", "imported", or "no_hash" for a server without an identity.
func (c *Cache) Lookup(w Want) (e *Entry, v Verdict, reason string) {
	if c == nil {
		return nil, Miss, reasonNoEntry
	}
	if c.shared != nil {
		c.shared.adopt(w)
	}
	now := c.opts.Now()
	c.mu.Lock()
	if known, ok := c.wants[w.Name]; ok && known.Hash == w.Hash { // w has more fields, for the statistics
		c.wants[w.Name] = w
	}
	s := c.slots[w.Name]
	unread := s != nil && s.rec == nil && s.broken == ""
	if unread && s.raw != nil { // parse it without the lock, so that several entries are parsed at once during a start
		raw := s.raw
		c.mu.Unlock()
		rec, broken, why := parseEntry(raw, now)
		c.mu.Lock()
		if current := c.slots[w.Name]; current == s && s.rec == nil && s.broken == "" && sameMemory(s.raw, raw) {
			s.rec, s.broken, s.why = rec, broken, why
		} else {
			s = current // it was replaced meanwhile
		}
	}
	v, reason = s.judge(w, now, c.opts.TrustImported)
	c.count.countLookup(v, reason)
	if v == Hit || v == Stale {
		sealed := *s.rec.Entry
		sealed.Sealed = s.rec.sealValid && len(c.opts.Key) > 0 && hmac.Equal([]byte(s.rec.mac), []byte(signSeal(c.opts.Key, s.rec.seal)))
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

// sameMemory reports whether two entries share the same memory.
func sameMemory(a, b json.RawMessage) bool {
	return len(a) == len(b) && (len(a) == 0 || &a[0] == &b[0])
}

// judge returns the verdict on an entry for w. If several reasons apply, it gives the first in its order.
func (s *slot) judge(w Want, now time.Time, trustImported bool) (Verdict, string) {
	if s == nil || s.deleted {
		return Miss, reasonNoEntry
	}
	r := s.parse(now)
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
		return importedVerdict(trustImported)
	case w.Hash == "":
		return Miss, reasonNoHash
	case r.ConfigHash != w.Hash:
		return Miss, reasonConfigChanged
	case r.Principal != w.Principal:
		return Miss, reasonPrincipal
	}
	return s.freshness(w, now)
}

// importedVerdict returns the verdict on an imported list. It has no hash of ours, so the user decides whether to trust
// it.
func importedVerdict(trust bool) (Verdict, string) {
	if trust {
		return Stale, reasonImported
	}
	return Miss, reasonImported
}

// freshness returns the verdict on a valid entry by its age.
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
	case age < -maxClockSkew, s.rec.LastUpdated.After(now.Add(maxClockSkew)):
		reason = reasonClock
	case s.rec.Fingerprint != w.Fingerprint:
		reason = reasonFingerprint
	default:
		return Hit, ""
	}
	if w.MaxStale <= 0 { // only fresh lists are served
		return Expired, reason
	}
	return Stale, reason
}

// The stable codes that [Cache.Lookup] returns as reasons, and that entries store.
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
