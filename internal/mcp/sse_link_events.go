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

// sseEvent is one server-sent event that has data. The data is the receiver's to keep.
type sseEvent struct {
	name string // the event field; empty is the same as "message"
	data []byte
}

// sseReader reads a text/event-stream as the WHATWG HTML standard defines it, in time
// linear to its length and with one copy of an event's data at most. One thing is more
// lenient: an event that lacks only its blank line at the clean end of the stream counts.
type sseReader struct {
	r   io.Reader
	max int // bytes of one event's text
	// lastID is what Last-Event-ID should say: the id of the last complete event.
	lastID string
	// retry is the wait that the server asked for, negative if it did not.
	retry time.Duration
	// alive is set with every field that was understood; its reader clears it.
	alive bool

	// buf[lo:hi] is read and not consumed. The offsets below count from lo.
	buf    []byte
	lo, hi int
	from   int  // begin of the current line
	scan   int  // no line ends between from and scan
	lf     int  // no '\n' between scan and lf
	skipLF bool // the last line ended in '\r', so a '\n' that follows belongs to it
	begun  bool
	err    error // of r

	// The event being read.
	name     string
	id       string
	has      bool // it has data, at [begin:end)
	begin    int
	end      int
	skipping *FrameError // it is too long and only its end is of interest
}

const (
	sseBuffer = 4 << 10
	sseSpare  = 64 << 10 // a longer buffer is not kept for the next event
)

// newSSEReader reads r; lastID is where an earlier connection got to.
func newSSEReader(r io.Reader, maxEvent int, lastID string) *sseReader {
	return &sseReader{r: r, max: maxEvent, lastID: lastID, id: lastID, retry: -1, buf: make([]byte, sseBuffer)}
}

// next returns the next event that has data. A [*FrameError] reports an event over the
// limit, and the stream goes on; any other error is the end of it.
func (r *sseReader) next() (sseEvent, error) {
	for {
		from, to, err := r.line()
		if err != nil {
			if errors.Is(err, io.EOF) && r.has && r.skipping == nil && r.from == r.hi-r.lo && r.end > r.begin {
				return r.event()
			}
			return sseEvent{}, err
		}
		if from == to {
			r.lastID = r.id
			if r.skipping == nil && (!r.has || r.begin == r.end) {
				r.reset()
				continue
			}
			return r.event()
		}
		if r.skipping == nil {
			r.field(from, to)
		}
		if !r.has {
			r.consume() // what is not data is kept elsewhere
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

// lineEnd returns where the current line ends, or -1. It remembers how far it has looked
// for '\n': a stream of lines ended by '\r' must not cost a search of the rest each.
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

// fill reads more.
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

// room makes place behind hi: by moving what is pending to the front, else by growing.
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

// skip drops what is pending of an event that is too long, but for one byte of a line that
// has begun, so that its end is not taken for a blank line.
func (r *sseReader) skip() {
	if r.skipping == nil {
		begin, end := r.begin, r.end
		if !r.has {
			begin, end = r.from+len("data:"), r.hi-r.lo
		}
		r.skipping = r.tooLong(begin, end)
	}
	keep := min(1, r.hi-r.lo-r.from)
	r.lo = r.hi - keep
	r.from, r.scan, r.lf, r.has = 0, keep, keep, false
}

func (r *sseReader) tooLong(begin, end int) *FrameError {
	text := bytes.TrimLeft(r.buf[r.lo+min(begin, r.hi-r.lo):r.lo+end], " ")
	return cutFrame(text, text, fmt.Errorf("event longer than %d bytes", r.max))
}

// field takes one line of an event in.
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

// data adds a line to the event's data, in place: the text before it is always longer than
// the one '\n' that joins them.
func (r *sseReader) data(from, to int) {
	if !r.has {
		r.has, r.begin, r.end = true, from, to
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
	case len(ev.data) < len(r.buf)/4: // the buffer stays
		ev.data = bytes.Clone(ev.data)
		r.reset()
		if len(r.buf) <= sseSpare {
			return ev, nil
		}
	default: // the event keeps the buffer
		r.reset()
	}
	fresh := make([]byte, max(sseBuffer, len(rest)))
	r.hi = copy(fresh, rest)
	r.buf, r.lo = fresh, 0
	return ev, nil
}

// reset makes ready for the next event.
func (r *sseReader) reset() {
	r.name, r.has, r.skipping = "", false, nil
	r.consume()
}

// consume drops the lines that have been read.
func (r *sseReader) consume() {
	r.lo += r.from
	r.scan -= r.from
	r.lf = max(r.lf-r.from, 0)
	r.from = 0
}

// EventReader reads the messages of a text/event-stream, for programs that pass them on.
// It is used by one goroutine.
type EventReader struct{ r *sseReader }

// NewEventReader reads r. An event of more than maxEvent bytes is skipped; 0 means
// [DefaultMaxFrame]. lastID is where an earlier connection got to, empty for a new stream.
func NewEventReader(r io.Reader, maxEvent int, lastID string) *EventReader {
	maxEvent = cmp.Or(max(maxEvent, 0), DefaultMaxFrame)
	return &EventReader{newSSEReader(r, maxEvent, lastID)}
}

// Next returns the data of the next event that has any, which is the caller's to keep. A
// [*FrameError] reports an event over the limit, and the stream goes on; any other error is
// the end of it.
func (e *EventReader) Next() ([]byte, error) {
	ev, err := e.r.next()
	return ev.data, err
}

// LastID is what Last-Event-ID should say to go on behind the last event, empty if the
// stream cannot be gone on with.
func (e *EventReader) LastID() string { return e.r.lastID }

// Response is the JSON-RPC error that answers the frame.
func (e *FrameError) Response() []byte {
	answer, id := frameAnswer(e)
	return AppendError(nil, id, answer.Object())
}
