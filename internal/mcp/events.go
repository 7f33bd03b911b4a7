package mcp

import (
	"context"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"
)

const (
	// maxEvents and maxEventBytes bound what an SSE stream keeps for a client that does
	// not read or may come back; the oldest notifications are dropped first.
	maxEvents     = 512
	maxEventBytes = 8 << 20
	// heartbeat is how often a silent stream shows that it lives.
	heartbeat = 25 * time.Second
	// comeBack is how long a client that lost a stream is asked to wait.
	comeBack = time.Second
)

// events is one SSE stream: an ordered list of messages that a client reads as they come,
// and again from where it lost them.
type events struct {
	id     string // empty: events carry no ids and cannot be read again
	prime  bool   // begin with an empty event, so that the client has an id (SEP-1699)
	mu     sync.Mutex
	list   []sent
	last   int // number of the newest event
	bytes  int
	ended  bool
	more   chan struct{} // closed and replaced when something was added
	reader int           // number of the reader at work, 0 if there is none
	came   int           // readers so far: a new one takes over
	told   int           // number of the newest event written to a reader
	used   time.Time     // when the last reader left
}

type sent struct {
	n   int
	raw []byte
}

func newEvents(id string) *events { return &events{id: id, more: make(chan struct{})} }

// add appends a message and reports whether it will be read, which it is not after the end.
func (s *events) add(raw []byte) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ended {
		return false
	}
	s.last++
	s.list = append(s.list, sent{s.last, raw})
	s.bytes += len(raw)
	for len(s.list) > 1 && (len(s.list) > maxEvents || s.bytes > maxEventBytes) {
		s.bytes -= len(s.list[0].raw)
		s.list = s.list[1:]
	}
	s.wake()
	return true
}

func (s *events) wake() {
	close(s.more)
	s.more = make(chan struct{})
}

// end says that nothing more will come.
func (s *events) end() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.ended {
		s.ended = true
		s.wake()
	}
}

// left reports when the last reader of a stream that has ended left, and how many bytes the
// stream holds; ok is false while it goes on or is read.
func (s *events) left() (at time.Time, bytes int, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.used, s.bytes, s.ended && s.reader == 0
}

// read reports whether somebody reads the stream.
func (s *events) read() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.reader != 0 && !s.ended
}

// readerWait is how long a question on a stream that nobody reads waits for a client that is
// just opening it.
const readerWait = 5 * time.Second

// awaitReader waits a moment for somebody to read the stream, and reports whether anybody does.
func (s *events) awaitReader(ctx context.Context) bool {
	limit := time.NewTimer(readerWait)
	defer limit.Stop()
	for {
		s.mu.Lock()
		reader, ended, more := s.reader, s.ended, s.more
		s.mu.Unlock()
		switch {
		case ended:
			return false
		case reader != 0:
			return true
		}
		select {
		case <-more: // a reader that comes says so too
		case <-limit.C:
			return false
		case <-ctx.Done():
			return false
		}
	}
}

// unread stands for the number of the newest event that a reader has got.
const unread = -1

// serve writes the events after number from to w until the stream has ended, ctx has, or
// another reader takes over. It reports whether everything has been written.
func (s *events) serve(ctx context.Context, w http.ResponseWriter, from int) bool {
	h := w.Header()
	h.Set("Content-Type", "text/event-stream")
	h.Set("Cache-Control", "no-cache, no-transform")
	h.Set("X-Accel-Buffering", "no")
	w.WriteHeader(http.StatusOK)
	flush := http.NewResponseController(w)
	s.mu.Lock()
	s.came++
	me := s.came
	s.reader = me
	if from == unread {
		from = s.told
	}
	s.wake() // an earlier reader lets go
	s.mu.Unlock()
	defer func() {
		s.mu.Lock()
		if s.reader == me {
			s.reader = 0
		}
		s.used = time.Now()
		s.mu.Unlock()
	}()
	var buf []byte
	if s.prime && from == 0 {
		buf = fmt.Appendf(buf, "id: %s_0\nretry: %d\ndata: \n\n", s.id, comeBack.Milliseconds())
	}
	if _, err := w.Write(buf); err != nil || flush.Flush() != nil {
		return false
	}
	alive := time.NewTicker(heartbeat)
	defer alive.Stop()
	for {
		s.mu.Lock()
		if s.reader != me {
			s.mu.Unlock()
			return false
		}
		buf = buf[:0]
		for _, e := range s.list {
			if e.n > from {
				buf = s.append(buf, e)
				from = e.n
			}
		}
		before := s.told
		s.told = max(s.told, from)
		ended, more := s.ended, s.more
		s.mu.Unlock()
		if len(buf) > 0 {
			if _, err := w.Write(buf); err != nil || flush.Flush() != nil {
				s.mu.Lock()
				s.told = before
				s.mu.Unlock()
				return false
			}
		}
		if ended {
			return true
		}
		select {
		case <-more:
		case <-ctx.Done():
			return false
		case <-alive.C:
			if _, err := w.Write([]byte(":\n\n")); err != nil || flush.Flush() != nil {
				return false
			}
		}
	}
}

func (s *events) append(buf []byte, e sent) []byte {
	if s.id != "" {
		buf = append(append(append(buf, "id: "...), s.id...), '_')
		buf = append(strconv.AppendInt(buf, int64(e.n), 10), '\n')
	}
	buf = append(buf, "event: message\ndata: "...)
	buf = append(buf, oneLine(e.raw)...)
	return append(buf, "\n\n"...)
}

// eventID takes an event's id apart.
func eventID(id string) (stream string, n int, ok bool) {
	i := strings.LastIndexByte(id, '_')
	if i < 0 {
		return "", 0, false
	}
	n, err := strconv.Atoi(id[i+1:])
	return id[:i], n, err == nil && n >= 0
}
