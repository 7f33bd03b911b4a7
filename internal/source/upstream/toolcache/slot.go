package toolcache

import (
	"cmp"
	"encoding/json"
	"errors"
	"slices"
	"time"
)

// slot is what the cache has of one server. It is guarded by the Cache's mutex; records and
// entries in it are never changed, only replaced.
type slot struct {
	raw  json.RawMessage // as it lies in the file; nil before it is written
	disk Entry           // the head of raw

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
	return &slot{raw: raw, disk: readHead(raw), seen: now}
}

func (s *slot) dirty() bool { return s.version != s.saved }

// open reads the entry if nobody has looked at it yet.
func (s *slot) open(now time.Time) *record {
	if s.rec == nil && s.broken == "" && s.raw != nil {
		s.rec, s.broken, s.why = openEntry(s.raw, now)
	}
	return s.rec
}

// head is the entry in memory, or what is known of that in the file before all of it is read.
func (s *slot) head() *Entry {
	if s.rec == nil {
		return &s.disk
	}
	return s.rec.Entry
}

// written is head, but where only the time of the last look at the server is newer in memory it is that
// of the file.
func (s *slot) written() *Entry {
	if !s.dirty() {
		return &s.disk
	}
	return s.head()
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

// laterOf is positive if a is the later one of two versions.
func laterOf(a, b *Entry) int {
	return cmp.Or(cmp.Compare(a.Rev, b.Rev), a.ValidatedAt.Compare(b.ValidatedAt))
}

// headFields are what must be known of an entry before all of it is read.
var headFields = []string{"rev", "validatedAt", "lastUpdated", "configHash", "state", "stateReason"}

// readHead reads those fields alone; [record.encode] puts them first. What is wrong with them is the business of
// who reads the whole entry.
func readHead(raw json.RawMessage) Entry {
	r, nobody := &record{Entry: &Entry{}}, reporter{list: new([]Finding)}
	s := newScanner(raw)
	_, _ = s.object(func(name string) error {
		if r.ConfigHash != "" && listNamed(name) != nil { // nobody but us writes the lists last
			return errEnough
		}
		v, err := s.value()
		if err == nil && slices.Contains(headFields, name) {
			read(fields, r, name, v, nobody)
		}
		return err
	})
	r.complete()
	return *r.Entry
}

var errEnough = errors.New("the rest is not needed")
