package toolcache

import "time"

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
	case r.State == Removed:
		return Miss, reasonRemoved
	case r.State == Empty:
		return Miss, reasonEmpty
	case r.State == Invalid && r.StateReason != reasonConfigChanged:
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
