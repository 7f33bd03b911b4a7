package toolcache

import (
	"cmp"
	"encoding/json"
	"errors"
	"slices"
	"time"
)

// This file holds the entry of one server in memory, parsed when it is first used.

// slot is the cache's entry of one server, guarded by the Cache's mutex. Its records and entries are replaced, never
// changed.
type slot struct {
	raw  json.RawMessage // bytes in the file; nil before it is written
	disk Entry           // the head fields of raw

	rec    *record // nil before the first look-up, or if broken
	broken string  // invalid or tampered; empty if not broken
	why    Finding // what is broken

	// seen is when the entry was loaded or stored. Ages count from there by the monotonic clock, so that setting the
	// clock does not change them.
	seen time.Time

	live           bool   // a live server told it to this process
	deleted        bool   // to be deleted
	version, saved uint64 // of the entry in memory, and in the file
}

// newSlot returns a slot with an entry from the file.
func newSlot(raw json.RawMessage, now time.Time) *slot {
	return &slot{raw: raw, disk: readHead(raw), seen: now}
}

// isDirty reports whether memory has changes that are not in the file.
func (s *slot) isDirty() bool { return s.version != s.saved }

// parse parses the entry at its first use.
func (s *slot) parse(now time.Time) *record {
	if s.rec == nil && s.broken == "" && s.raw != nil {
		s.rec, s.broken, s.why = parseEntry(s.raw, now)
	}
	return s.rec
}

// head returns the entry in memory, or the head fields of an unparsed one.
func (s *slot) head() *Entry {
	if s.rec == nil {
		return &s.disk
	}
	return s.rec.Entry
}

// written returns head as it is in the file, if memory differs only in the time of the last confirmation.
func (s *slot) written() *Entry {
	if !s.isDirty() {
		return &s.disk
	}
	return s.head()
}

// replace replaces the entry, which then has to be written.
func (s *slot) replace(r *record) {
	s.rec, s.broken, s.deleted = r, "", false
	s.version++
}

// editAsNew replaces the entry by a changed copy with a new revision, which takes precedence over the old one
// everywhere.
func (s *slot) editAsNew(change func(*Entry)) {
	s.edit(func(e *Entry) {
		change(e)
		e.Rev++
	})
}

// edit replaces the entry by a changed copy of the same revision.
func (s *slot) edit(change func(*Entry)) {
	e := *s.rec.Entry
	change(&e)
	s.replace(&record{Entry: &e, extra: s.rec.extra})
}

// age returns how long ago a live server confirmed the entry; negative if that is in the future by the clock.
func (s *slot) age(now time.Time) time.Duration {
	return now.Sub(s.seen) + s.seen.Round(0).Sub(s.rec.ValidatedAt)
}

// compareVersions is positive if a is the later of two versions.
func compareVersions(a, b *Entry) int {
	return cmp.Or(cmp.Compare(a.Rev, b.Rev), a.ValidatedAt.Compare(b.ValidatedAt))
}

// headFields are the fields needed before an entry is parsed.
var headFields = []string{"rev", "validatedAt", "lastUpdated", "configHash", "state", "stateReason"}

// readHead reads only headFields, which [record.encode] writes before the lists. It ignores errors, because parsing the
// whole entry reports them.
func readHead(raw json.RawMessage) Entry {
	r, nobody := &record{Entry: &Entry{}}, findingReporter{list: new([]Finding)}
	s := newScanner(raw)
	_, _ = s.walkObject(func(name string) error {
		if r.ConfigHash != "" && findList(name) != nil { // the lists come last in every file of ours
			return errEnough
		}
		v, err := s.readValue()
		if err == nil && slices.Contains(headFields, name) {
			decodeField(fields, r, name, v, nobody)
		}
		return err
	})
	r.fillIn()
	return *r.Entry
}

var errEnough = errors.New("the rest is not needed")
