package toolcache

import (
	"encoding/json"
	"time"
)

// slot is what the cache has of one server. It is guarded by the Cache's mutex; records and
// entries in it are never changed, only replaced.
type slot struct {
	raw  json.RawMessage // as it lies in the file; nil before it is written
	disk header          // of raw

	rec    *record // nil until it is looked at for the first time, or broken
	broken string  // invalid or tampered; empty if it is neither
	why    Finding // what is broken

	// seen is when it was loaded or stored. Ages go on from there by the monotonic clock, so
	// that setting the clock makes nothing old or young.
	seen time.Time

	live           bool   // a live server has told it to this process
	gone           bool   // it is to be deleted
	version, saved uint64 // of what is in memory, and in the file
}

// newSlot holds an entry as it came from a place.
func newSlot(raw json.RawMessage, now time.Time) *slot {
	return &slot{raw: raw, disk: readHeader(raw), seen: now}
}

func (s *slot) dirty() bool { return s.version != s.saved }

// open reads the entry if nobody has looked at it yet.
func (s *slot) open(now time.Time) *record {
	if s.rec == nil && s.broken == "" && s.raw != nil {
		s.rec, s.broken, s.why = openEntry(s.raw, now)
	}
	return s.rec
}

// header is that of what is in memory. Where only the time of the last look at the server is
// newer there, it is that of the file.
func (s *slot) header() header {
	if s.rec == nil || !s.dirty() {
		return s.disk
	}
	return headerOf(s.rec.Entry)
}

// set replaces the entry; it has to be written then.
func (s *slot) set(r *record) {
	s.rec, s.broken, s.gone = r, "", false
	s.version++
}

// edit changes a copy of the entry. With bump it is a new revision, which wins over the old one
// wherever they meet.
func (s *slot) edit(bump bool, f func(*Entry)) {
	e := *s.rec.Entry
	f(&e)
	if bump {
		e.Rev++
	}
	s.set(&record{Entry: &e, extra: s.rec.extra})
}

// age is how long ago a live server confirmed the entry; negative where the clock says that it
// is going to be.
func (s *slot) age(now time.Time) time.Duration {
	return now.Sub(s.seen) + s.seen.Round(0).Sub(s.rec.ValidatedAt)
}
