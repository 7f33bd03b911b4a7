package toolcache

import (
	"cmp"
	"encoding/json"
	"errors"
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

// header is what must be known of an entry before all of it is read.
type header struct {
	rev       uint64
	validated time.Time
	hash      string
	state     State
	reason    string
}

// compare is positive if h is the later one of two versions.
func (h header) compare(other header) int {
	return cmp.Or(cmp.Compare(h.rev, other.rev), h.validated.Compare(other.validated))
}

// readHeader reads the header alone; encodeRecord puts it first. What is wrong is the business of
// who reads the whole entry, and stays zero here.
func readHeader(raw json.RawMessage) header {
	h := header{state: active}
	var updated time.Time
	s := newScanner(raw)
	_, _ = s.object(func(name string) error {
		if h.hash != "" && listNamed(name) != nil { // nobody but us writes the lists last
			return errEnough
		}
		v, err := s.value()
		if err != nil {
			return err
		}
		switch name {
		case "rev":
			h.rev, _ = parseCount(v)
		case "validatedAt":
			h.validated, _ = parseTime(v)
		case "lastUpdated":
			updated, _ = parseTime(v)
		case "configHash":
			h.hash, _ = unquote(v)
		case "state":
			text, _ := unquote(v)
			h.state = State(text)
		case "stateReason":
			h.reason, _ = unquote(v)
		}
		return nil
	})
	if h.validated.IsZero() {
		h.validated = updated
	}
	return h
}

func headerOf(e *Entry) header {
	return header{e.Rev, e.ValidatedAt, e.ConfigHash, e.State, e.StateReason}
}

var errEnough = errors.New("the rest is not needed")
