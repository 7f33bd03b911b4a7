package analytics

import (
	"bytes"
	"cmp"
	"encoding/json"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"collie/internal/event"
	"collie/internal/tool"
)

// This file subscribes to finished calls and writes an entry for each.

// Defaults of [Options].
const (
	defaultMaxFile   = 64 << 20
	defaultMaxFiles  = 16
	defaultRetention = 30 * 24 * time.Hour
)

const (
	gatherTime = 20 * time.Millisecond  // how long calls are gathered in the queue, except the first
	maxPending = 4 << 20                // bytes of lines that may wait for the disk
	flushBytes = 256 << 10              // the writer stops waiting once there are this many bytes
	batchTime  = 200 * time.Millisecond // how long the writer waits for more lines
	pruneEvery = 24 * time.Hour
)

// Options of [Open]. The zero value works.
type Options struct {
	// CaptureText keeps up to 20,000 characters each of a call's arguments and result, as Redactor returns
	// them. Without a Redactor no text is kept.
	CaptureText bool
	Redactor    Redactor
	// MaxFile bounds one file in bytes, MaxFiles the number of files per day; defaults 64 MiB and 16. Calls
	// beyond that are dropped and counted.
	MaxFile  int64
	MaxFiles int
	// Retention is how long files are kept; default 30 days.
	Retention time.Duration
	// Logger is told once when the files cannot be written, and once when they can again. Nil discards.
	Logger *slog.Logger
}

// Log writes a line for each published call to the files of a folder. It is safe for concurrent use. The
// caller calls Close.
type Log struct {
	folder  folder
	opts    Options
	sub     *event.Subscription[tool.CallDone]
	in      *inbox
	done    sync.WaitGroup
	close   func()        // closes closing, once
	closing chan struct{} // Close was called
	wake    chan struct{} // signals that there are lines; capacity 1
	full    chan struct{} // signals that there are many lines; capacity 1
	ended   chan struct{} // closed when no more lines will come

	lost atomic.Int64 // lines dropped since the last note

	mu      sync.Mutex
	pending []batch
	size    int // total bytes in pending
}

// batch holds lines of one day.
type batch struct {
	day   string
	lines []byte
}

// Open subscribes to calls that end on bus and records those of kind "call" in dir, which is created with the
// first line. No call ever waits. If more than 2,048 calls are waiting to be processed, the oldest are
// dropped and counted; if their arguments and results exceed 16 MiB, results are dropped.
func Open(dir string, bus *event.Bus[tool.CallDone], opts *Options) *Log {
	if opts == nil {
		opts = &Options{}
	}
	l := &Log{
		opts: *opts, in: newInbox(),
		wake: make(chan struct{}, 1), full: make(chan struct{}, 1), ended: make(chan struct{}), closing: make(chan struct{}),
	}
	l.close = sync.OnceFunc(func() { close(l.closing) })
	l.opts.Retention = cmp.Or(l.opts.Retention, defaultRetention)
	if l.opts.Logger == nil {
		l.opts.Logger = slog.New(slog.DiscardHandler)
	}
	l.folder = folder{dir, cmp.Or(l.opts.MaxFile, defaultMaxFile), cmp.Or(l.opts.MaxFiles, defaultMaxFiles)}
	// The calls are queued by the filter function and not by the subscription, because the subscription's
	// queue bounds the number of calls, but not the memory they use.
	l.sub = bus.SubscribeTo(1, func(d *tool.CallDone) bool {
		l.in.put(d)
		return false
	})
	l.done.Go(l.collect)
	l.done.Go(l.write)
	return l
}

// Close processes all calls published so far and waits until they are written. It may be called twice.
func (l *Log) Close() {
	l.close()
	l.sub.Close()
	l.in.close()
	l.done.Wait()
}

// collect turns calls into lines. It never waits for the disk, so that arguments and results are released
// soon.
func (l *Log) collect() {
	defer close(l.ended)
	c := collector{log: l}
	pause := time.NewTimer(0)
	defer pause.Stop()
	for done := l.in.next(); done != nil; done = l.in.next() {
		c.record(done)
		// Calls come in series, and waking up for each would cost more than its line.
		pause.Reset(gatherTime)
		select {
		case <-pause.C:
		case <-l.closing: // a command has its answer and is about to exit
		}
		for waiting := l.in.waiting(); waiting > 0; waiting-- {
			if next := l.in.next(); next != nil {
				c.record(next)
			}
		}
	}
	c.noteLost()
}

// collector holds the state of the goroutine that makes lines.
type collector struct {
	log     *Log
	seq     int64
	dropped int          // calls dropped by the inbox, as far as a note says so
	entry   []byte       // buffer for the line of a call
	line    bytes.Buffer // buffer for a note
	session session      // session of the last call

	day       string // day of the last line
	dayNumber int64  // days since 1970
}

// record makes a line for a call.
func (c *collector) record(done *tool.CallDone) {
	if done.Call == nil || done.Call.Kind != tool.KindCall {
		return
	}
	c.noteLost()
	c.add(done)
}

func (c *collector) add(done *tool.CallDone) {
	e, response := entryOf(done, &c.session)
	if l := c.log; l.opts.CaptureText && l.opts.Redactor != nil {
		captureTexts(&e, done.Call.Args, &response, l.opts.Redactor)
		e.ResponseTextTruncated = e.ResponseTextTruncated || resultDropped(done)
	}
	c.seq = nextSeq(c.seq, time.Now())
	e.Seq = c.seq
	var err error
	c.entry, err = appendEntry(c.entry[:0], &e)
	if err != nil || !c.log.enqueue(c.dayOf(e.TS), c.entry) { // the error is impossible: durations are finite
		c.log.lost.Add(1)
	}
}

// dayOf returns the day of a time in milliseconds.
func (c *collector) dayOf(ts int64) string {
	const length = 24 * 60 * 60 * 1000
	if n := ts / length; c.day == "" || n != c.dayNumber || ts < 0 {
		c.day, c.dayNumber = dayOf(ts), n
	}
	return c.day
}

// noteLost writes a note that says how many calls were dropped since the last note.
func (c *collector) noteLost() {
	dropped := c.log.in.lost()
	n := c.log.lost.Swap(0) + int64(dropped-c.dropped)
	c.dropped = dropped
	if n == 0 {
		return
	}
	now := time.Now()
	c.seq = nextSeq(c.seq, now)
	if !c.enqueueNote(noteLine{Seq: c.seq, TS: now.UnixMilli(), Note: noteDropped, Dropped: n}, now.UnixMilli()) {
		c.log.lost.Add(n)
	}
}

// enqueueNote encodes v, a note about dropped calls, as a line of the day of ts and hands it to the writer; false if there is no room.
func (c *collector) enqueueNote(v any, ts int64) bool {
	c.line.Reset()
	enc := json.NewEncoder(&c.line)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return false // impossible: a note has texts and numbers only
	}
	return c.log.enqueue(dayOf(ts), c.line.Bytes())
}

// enqueue queues a line for the writer; false if there is no room.
func (l *Log) enqueue(day string, line []byte) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.size+len(line) > maxPending {
		return false
	}
	if n := len(l.pending); n == 0 || l.pending[n-1].day != day {
		l.pending = append(l.pending, batch{day: day})
	}
	b := &l.pending[len(l.pending)-1]
	b.lines = append(b.lines, line...)
	l.size += len(line)
	signal(l.wake)
	if l.size >= flushBytes {
		signal(l.full)
	}
	return true
}

// drain returns and removes all queued lines.
func (l *Log) drain() []batch {
	l.mu.Lock()
	defer l.mu.Unlock()
	out := l.pending
	l.pending, l.size = nil, 0
	return out
}

// signal sends to c, a channel of capacity 1, unless a signal waits there already.
func signal(c chan<- struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// Redactor removes secrets from texts that are kept. It is safe for concurrent use.
type Redactor interface {
	// AppendJSON appends raw, which may be invalid JSON, as one line of JSON.
	AppendJSON(b, raw []byte) []byte
	// AppendText appends s as a JSON string.
	AppendText(b []byte, s string) []byte
}

const (
	maxText   = 20_000  // UTF-16 units that are kept of a text
	maxSource = 1 << 20 // bytes of a text that are looked at for that
)

// captureTexts stores the texts of a call in e, shortened and without secrets.
func captureTexts(e *Entry, args []byte, response *resultParts, by Redactor) {
	if len(args) <= maxSource {
		e.RequestText, e.RequestTextTruncated = truncateText(string(by.AppendJSON(nil, args)))
	} else {
		e.RequestTextTruncated = true
	}
	if response.bytes() > maxSource {
		e.ResponseTextTruncated = true
		return
	}
	var clean string
	if text := response.text(); text != "" && json.Unmarshal(by.AppendText(nil, text), &clean) == nil {
		e.ResponseText, e.ResponseTextTruncated = truncateText(clean)
	}
}

// truncateText keeps the first maxText UTF-16 units of s without splitting a rune.
func truncateText(s string) (kept string, truncated bool) {
	if len(s) <= maxText {
		return s, false
	}
	n := 0
	for i, r := range s {
		if n += unitsOf(r); n > maxText {
			return s[:i], true
		}
	}
	return s, false
}
