package mcp

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"strconv"
	"time"
)

// This file reads server-sent events.

// sseEvent is one server-sent event with data. The receiver may keep the data.
type sseEvent struct {
	name string // the event field; empty means "message"
	data []byte
}

// sseReader reads a text/event-stream as the WHATWG HTML standard defines it, in time linear in its length
// and with at most one copy of an event's data. It is more lenient in one point: an event at the regular end
// of the stream counts even without its blank line.
type sseReader struct {
	r   io.Reader
	max int // maximum bytes of one event
	// lastID is the value for Last-Event-ID: the id of the last complete event.
	lastID string
	// retry is the reconnection time that the server set; negative if it set none.
	retry time.Duration
	// alive is set when a field was understood; whoever uses it clears it.
	alive bool

	// buf[lo:hi] is read but not consumed. The offsets below count from lo.
	buf    []byte
	lo, hi int
	from   int  // begin of the current line
	scan   int  // there is no line end between from and scan
	lf     int  // there is no '\n' between scan and lf
	skipLF bool // the last line ended in '\r', so a following '\n' belongs to that end
	begun  bool
	err    error // error from r

	// The current event.
	name     string
	id       string
	hasData  bool // the event has data, in [begin:end)
	begin    int
	end      int
	skipping *FrameError // not nil: the event is too long and is being skipped
}

const (
	sseBuffer = 4 << 10
	sseSpare  = 64 << 10 // a longer buffer is not kept for the next event
)

// newSSEReader reads r. lastID is the position where an earlier connection ended.
func newSSEReader(r io.Reader, maxEvent int, lastID string) *sseReader {
	return &sseReader{r: r, max: maxEvent, lastID: lastID, id: lastID, retry: -1, buf: make([]byte, sseBuffer)}
}

// next returns the next event that has data. A [*FrameError] reports an event over the limit; the stream goes
// on after it. Any other error is the end of the stream.
func (r *sseReader) next() (sseEvent, error) {
	for {
		from, to, err := r.line()
		if err != nil {
			if errors.Is(err, io.EOF) && r.hasData && r.skipping == nil && r.from == r.hi-r.lo && r.end > r.begin {
				return r.event()
			}
			return sseEvent{}, err
		}
		if from == to {
			r.lastID = r.id
			if r.skipping == nil && (!r.hasData || r.begin == r.end) {
				r.reset()
				continue
			}
			return r.event()
		}
		if r.skipping == nil {
			r.field(from, to)
		}
		if !r.hasData {
			r.consume() // fields other than data are stored elsewhere
		}
	}
}

// line returns the bounds of the next line without its end.
func (r *sseReader) line() (from, to int, err error) {
	for {
		if r.skipLF && r.lo+r.scan < r.hi {
			r.skipLF = false
			if r.buf[r.lo+r.scan] == '\n' {
				r.scan++
				r.from++
			}
		}
		if end := r.lineEnd(); end >= 0 {
			from, to = r.from, end
			r.skipLF = r.buf[r.lo+end] == '\r'
			r.scan = end + 1
			r.from = r.scan
			return r.withoutBOM(from, to), to, nil
		}
		r.scan = r.hi - r.lo
		if err := r.fill(); err != nil {
			return 0, 0, err
		}
	}
}

// lineEnd returns where the current line ends, or -1. It remembers how far it has searched for '\n', because
// otherwise every line that ends in '\r' would cost a search through the rest.
func (r *sseReader) lineEnd() int {
	b := r.buf[r.lo:r.hi]
	r.lf = max(r.lf, r.scan)
	if i := bytes.IndexByte(b[r.lf:], '\n'); i >= 0 {
		r.lf += i
	} else {
		r.lf = len(b)
	}
	if i := bytes.IndexByte(b[r.scan:r.lf], '\r'); i >= 0 {
		return r.scan + i
	}
	if r.lf < len(b) {
		return r.lf
	}
	return -1
}

func (r *sseReader) withoutBOM(from, to int) int {
	if !r.begun {
		r.begun = true
		if bytes.HasPrefix(r.buf[r.lo+from:r.lo+to], []byte("\uFEFF")) {
			return from + len("\uFEFF")
		}
	}
	return from
}

// fill reads more bytes.
func (r *sseReader) fill() error {
	if r.err != nil {
		return r.err
	}
	if r.hi-r.lo > r.max || r.skipping != nil {
		r.skip()
	}
	if r.hi == len(r.buf) {
		r.room()
	}
	for range 100 {
		n, err := r.r.Read(r.buf[r.hi:])
		r.hi += n
		r.err = err
		if n > 0 {
			return nil
		}
		if err != nil {
			return err
		}
	}
	return io.ErrNoProgress
}

// room makes space after hi, by moving the unconsumed bytes to the front or else by growing buf.
func (r *sseReader) room() {
	if r.lo > 0 {
		copy(r.buf, r.buf[r.lo:r.hi])
	} else {
		grown := make([]byte, 2*len(r.buf))
		copy(grown, r.buf[:r.hi])
		r.buf = grown
	}
	r.lo, r.hi = 0, r.hi-r.lo
}

// skip drops the unconsumed bytes of an event that is too long. It keeps one byte of an unfinished line, so
// that its end is not taken for a blank line.
func (r *sseReader) skip() {
	if r.skipping == nil {
		begin, end := r.begin, r.end
		if !r.hasData {
			begin, end = r.from+len("data:"), r.hi-r.lo
		}
		r.skipping = r.tooLong(begin, end)
	}
	keep := min(1, r.hi-r.lo-r.from)
	r.lo = r.hi - keep
	r.from, r.scan, r.lf, r.hasData = 0, keep, keep, false
}

func (r *sseReader) tooLong(begin, end int) *FrameError {
	text := bytes.TrimLeft(r.buf[r.lo+min(begin, r.hi-r.lo):r.lo+end], " ")
	return cutFrameError(text, text, fmt.Errorf("event longer than %d bytes", r.max))
}

// field handles one line of an event.
func (r *sseReader) field(from, to int) {
	line := r.buf[r.lo+from : r.lo+to]
	name, value, _ := bytes.Cut(line, []byte(":"))
	value = bytes.TrimPrefix(value, []byte(" "))
	switch string(name) {
	case "data":
		r.data(to-len(value), to)
	case "event":
		r.name = string(value)
	case "id":
		if bytes.IndexByte(value, 0) >= 0 {
			return
		}
		r.id = string(value)
	case "retry":
		ms, err := strconv.ParseUint(string(value), 10, 31)
		if err != nil {
			return
		}
		r.retry = time.Duration(ms) * time.Millisecond
	default:
		return
	}
	r.alive = true
}

// data appends a line to the event's data in place. There is always space: the field name before it is longer
// than the '\n' that joins the lines.
func (r *sseReader) data(from, to int) {
	if !r.hasData {
		r.hasData, r.begin, r.end = true, from, to
		return
	}
	b := r.buf[r.lo:r.hi]
	b[r.end] = '\n'
	r.end += 1 + copy(b[r.end+1:], b[from:to])
}

// event returns the event that has just ended.
func (r *sseReader) event() (sseEvent, error) {
	if r.skipping == nil && r.scan > r.max {
		r.skipping = r.tooLong(r.begin, r.end)
	}
	if err := r.skipping; err != nil {
		r.reset()
		return sseEvent{}, err
	}
	ev := sseEvent{name: r.name, data: r.buf[r.lo+r.begin : r.lo+r.end : r.lo+r.end]}
	rest := r.buf[r.lo+r.scan : r.hi]
	switch {
	case len(ev.data) < len(r.buf)/4: // the buffer is kept and the data copied
		ev.data = bytes.Clone(ev.data)
		r.reset()
		if len(r.buf) <= sseSpare {
			return ev, nil
		}
	default: // the event takes the buffer
		r.reset()
	}
	fresh := make([]byte, max(sseBuffer, len(rest)))
	r.hi = copy(fresh, rest)
	r.buf, r.lo = fresh, 0
	return ev, nil
}

// reset prepares for the next event.
func (r *sseReader) reset() {
	r.name, r.hasData, r.skipping = "", false, nil
	r.consume()
}

// consume drops the lines that have been read.
func (r *sseReader) consume() {
	r.lo += r.from
	r.scan -= r.from
	r.lf = max(r.lf-r.from, 0)
	r.from = 0
}

// EventReader reads the messages of a text/event-stream, for programs that relay them. It is for one
// goroutine.
type EventReader struct{ r *sseReader }

// NewEventReader reads r. An event longer than maxEvent bytes is skipped; 0 means [DefaultMaxFrame]. lastID
// is the position where an earlier connection ended, empty for a new stream.
func NewEventReader(r io.Reader, maxEvent int, lastID string) *EventReader {
	maxEvent = cmp.Or(max(maxEvent, 0), DefaultMaxFrame)
	return &EventReader{newSSEReader(r, maxEvent, lastID)}
}

// Next returns the data of the next event that has any; the caller may keep it. A [*FrameError] reports an
// event over the limit; the stream goes on after it. Any other error is the end of the stream.
func (e *EventReader) Next() ([]byte, error) {
	ev, err := e.r.next()
	return ev.data, err
}

// LastID returns the Last-Event-ID with which to continue after the last event; empty if the stream cannot be
// continued.
func (e *EventReader) LastID() string { return e.r.lastID }

// Response returns the JSON-RPC error that answers the frame.
func (e *FrameError) Response() []byte {
	answer, id := frameAnswer(e)
	return AppendError(nil, id, answer.Object())
}
