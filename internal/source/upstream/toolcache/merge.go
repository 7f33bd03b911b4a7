package toolcache

import (
	"cmp"
	"encoding/json"
	"errors"
	"time"
)

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
	h := header{state: Active}
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
