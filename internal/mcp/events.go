package mcp

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// This file keeps the events of one SSE stream for a client that reads slowly or comes back after a broken connection.

const (
	// maxUnread bounds notifications, in bytes, while no client reads the stream.
	maxUnread = 1 << 20
	// maxEventBytes bounds, in bytes, the events already read that a running stream keeps for a client that
	// loses its connection. maxOwnBytes does so for a session's own stream, which never ends.
	maxEventBytes = 8 << 20
	maxOwnBytes   = 256 << 10
	// heartbeatInterval is how often a stream without messages sends a comment, so that it is not taken for dead.
	heartbeatInterval = 25 * time.Second
	// reconnectDelay is how long a client that lost a stream should wait before it reconnects (the SSE retry
	// field).
	reconnectDelay = time.Second
	// slowReaderDelay is how long the sender of a log message is delayed if the client is reading but has fallen
	// behind.
	slowReaderDelay = 250 * time.Millisecond
)

// eventStream is one SSE stream: a numbered list of messages. A client reads them as they come, and can read again
// from where it lost the connection.
type eventStream struct {
	id        string        // empty: events have no ids and cannot be read again
	primed    bool          // begin with an empty event, so that the client knows an id from the start (SEP-1699)
	ofSession bool          // the stream belongs to a session, not to a request
	keeper    *replayBudget // bounds the memory of all streams; may be nil
	session   *session      // the session it belongs to, if the session keeps it
	stall     time.Duration
	log       *slog.Logger

	mu           sync.Mutex
	list         []sentEvent // consecutive numbers
	last         int         // number of the newest event
	bytes        int         // size of list
	waiting      int         // size of the events in list that were not written to a reader
	signals      map[string]int
	gap          droppedCount
	ended        bool
	dropped      bool          // list was discarded
	final        bool          // no client can resume it
	more         chan struct{} // closed and replaced when an event is added
	less         chan struct{} // closed when an event was read; nil if nobody waits for that
	reader       int           // number of the active reader; 0: none; readerComing: one will begin soon
	readerCount  int           // number of readers so far; a new one replaces the old
	lastGiven    int           // number of the newest event that a reader was given
	lastWritten  int           // number of the newest event that was written to a reader
	readerLeftAt time.Time     // when the last reader left
	lastWriteAt  time.Time     // time of the last successful write
	readerBehind bool          // addSlowly waited for the reader in vain
}

type sentEvent struct {
	n int
	m outgoing
}

func newEvents(id string) *eventStream {
	return &eventStream{id: id, more: make(chan struct{}), stall: defaultStall, log: slog.New(slog.DiscardHandler)}
}

// add appends a message. It reports whether the stream still accepts messages, which it does not after its
// end. A notification for which there is no room is left out; see [kind].
func (s *eventStream) add(m outgoing, k kind) bool {
	s.mu.Lock()
	if s.ended || s.dropped {
		s.mu.Unlock()
		return false
	}
	before := s.bytes
	if s.admitOrDrop(m, k) {
		s.appendEvent(m)
		s.wakeReader()
	}
	s.trim()
	grown := s.bytes - before
	s.mu.Unlock()
	s.keeper.grow(grown)
	return true
}

// addSlowly is like add for a notification of a call. If the client reads but has fallen behind, it waits a
// moment, which slows down a sender that is faster than the client.
func (s *eventStream) addSlowly(m outgoing, k kind) bool {
	for k == mayBeDropped {
		s.mu.Lock()
		if s.waiting+m.size() <= maxNotes || s.reader == 0 || s.readerBehind || s.ended || time.Since(s.lastWriteAt) > time.Second {
			s.mu.Unlock()
			break
		}
		if s.less == nil {
			s.less = make(chan struct{})
		}
		less := s.less
		s.mu.Unlock()
		late := time.NewTimer(slowReaderDelay)
		select {
		case <-less:
		case <-late.C:
			s.mu.Lock()
			s.readerBehind = true
			s.mu.Unlock()
		}
		late.Stop()
	}
	return s.add(m, k)
}

// ask appends a request to the client.
func (s *eventStream) ask(raw []byte) bool { return s.add(outgoing{head: raw}, mustArrive) }

// admitOrDrop decides whether there is room for a message.
func (s *eventStream) admitOrDrop(m outgoing, k kind) bool {
	limit := maxNotes
	if s.reader == 0 {
		limit = maxUnread
	}
	size := s.waiting + m.size()
	switch k {
	case signal:
		// A notification that is being written cannot replace this one: its client may have looked already. Numbers
		// start at 1, so 0 means none.
		if s.signals[string(m.head)] > s.lastGiven {
			return false
		}
		if size > 2*limit {
			s.gap.add(m.head)
			return false
		}
		if s.signals == nil || len(s.signals) > 10_000 {
			s.signals = map[string]int{}
		}
		s.signals[string(m.head)] = s.last + 1
	case progressKind:
		return size <= limit/2
	case mayBeDropped:
		if size > limit || s.gap.n > 0 && size > limit/2 {
			s.gap.add(m.head)
			return false
		}
		s.tellGap()
	case mustArrive:
		s.tellGap()
	}
	return true
}

// tellGap adds a log message that tells the client how many messages were left out.
func (s *eventStream) tellGap() {
	if raw, ok := s.gap.gapNotice(); ok {
		s.appendEvent(outgoing{head: raw})
	}
}

func (s *eventStream) appendEvent(m outgoing) {
	s.last++
	s.list = append(s.list, sentEvent{s.last, m})
	s.bytes += m.size()
	s.waiting += m.size()
}

// trim drops events that were read, unless they are kept for a client that may come back.
func (s *eventStream) trim() {
	keep := maxEventBytes
	switch {
	case s.id == "":
		keep = 0
	case s.ofSession:
		keep = maxOwnBytes
	}
	n, held := 0, s.bytes-s.waiting
	if s.ended && keep > 0 {
		return // the keeper decides when to drop a complete answer
	}
	for n < len(s.list) && s.list[n].n <= s.lastWritten && held > keep {
		size := s.list[n].m.size()
		held -= size
		s.bytes -= size
		s.list[n] = sentEvent{}
		n++
	}
	s.list = s.list[n:]
}

func (s *eventStream) wakeReader() {
	close(s.more)
	s.more = make(chan struct{})
}

// end marks the end of the stream: no more messages will be added.
func (s *eventStream) end() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ended {
		return
	}
	s.tellGap()
	s.ended = true
	s.wakeReader()
}

// unreadSince returns when the last reader left a stream that has ended. ok is false if the stream has not ended or
// is being read.
func (s *eventStream) unreadSince() (at time.Time, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.readerLeftAt, s.ended && s.reader == 0
}

// holdsAfter reports whether all events after number from are still in memory.
func (s *eventStream) holdsAfter(from int) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return !s.dropped && from >= s.last-len(s.list)
}

// dropKept discards the kept events unless they are being read, and reports whether it did. final means that
// no client can resume the stream; if it is being read, it is discarded when the reader leaves.
func (s *eventStream) dropKept(final bool) (bytes int, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.final = s.final || final
	if s.reader != 0 || s.dropped {
		return 0, false
	}
	bytes = s.bytes
	s.dropped, s.list, s.bytes, s.waiting, s.signals = true, nil, 0, 0, nil
	s.wakeReader()
	return bytes, true
}

// isRead reports whether a client is reading the stream.
func (s *eventStream) isRead() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.reader != 0 && !s.ended
}

// readerWait is how long a request to the client waits on a stream without a reader, in case the client is
// just opening it.
const readerWait = 5 * time.Second

// awaitReader waits up to readerWait for a reader and reports whether there is one.
func (s *eventStream) awaitReader(ctx context.Context) bool {
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
		case <-more: // a new reader closes this channel too
		case <-limit.C:
			return false
		case <-ctx.Done():
			return false
		}
	}
}

// readerComing is the value of reader between the request for a stream and its first read.
const readerComing = -1

// fromUnread, as serve's argument from, means to start at the first event that no reader was given.
const fromUnread = -1

// serve writes the events after number from to w. It returns when the stream or ctx has ended, another reader
// takes over, or the client has taken nothing for too long. It reports whether everything was written.
func (s *eventStream) serve(ctx context.Context, w http.ResponseWriter, from int) bool {
	h := w.Header()
	h.Set("Content-Type", "text/event-stream")
	h.Set("Cache-Control", "no-cache, no-transform")
	h.Set("X-Accel-Buffering", "no")
	w.WriteHeader(http.StatusOK)
	out := newSlowWriter(w, s.stall)
	defer out.done()
	me, from := s.attachReader(from)
	defer s.detachReader(me)
	var buf []byte
	if s.primed && from == 0 {
		buf = fmt.Appendf(buf, "id: %s_0\nretry: %d\ndata: \n\n", s.id, reconnectDelay.Milliseconds())
	}
	if s.recordWrite(out.write(buf)) || s.recordWrite(out.flush()) {
		return false
	}
	alive := time.NewTicker(heartbeatInterval)
	defer alive.Stop()
	for {
		s.mu.Lock()
		if s.reader != me || s.dropped {
			s.mu.Unlock()
			return false
		}
		batch := s.nextBatch(from)
		before := s.lastGiven
		if len(batch) > 0 {
			from = batch[len(batch)-1].n
			s.lastGiven = max(s.lastGiven, from)
		}
		ended, more := s.ended, s.more
		s.mu.Unlock()
		if len(batch) > 0 {
			if s.recordWrite(s.writeBatch(out, &buf, batch)) {
				s.mu.Lock()
				s.lastGiven = before
				s.mu.Unlock()
				return false
			}
			s.recordDelivered(from)
			continue
		}
		if ended {
			return true
		}
		select {
		case <-more:
		case <-ctx.Done():
			return false
		case <-alive.C:
			if s.recordWrite(out.write([]byte(":\n\n"))) || s.recordWrite(out.flush()) {
				return false
			}
		}
	}
}

// recordWrite reports whether err is a failed write, and logs it if the client did not read.
func (s *eventStream) recordWrite(err error) (failed bool) {
	if errors.Is(err, os.ErrDeadlineExceeded) {
		s.log.Warn("a client does not read: its connection was closed", "waited", s.stall)
	}
	return err != nil
}

// attachReader makes the caller the reader of the stream.
func (s *eventStream) attachReader(from int) (me, begin int) {
	s.mu.Lock()
	s.readerCount++
	me = s.readerCount
	s.reader = me
	s.lastWriteAt, s.readerBehind = time.Now(), false
	if from == fromUnread {
		from = s.lastGiven
	}
	if s.ofSession && from < s.last-len(s.list) { // the client asks for events that are no longer kept
		s.gap.n += s.last - len(s.list) - from
		from = s.last - len(s.list)
		s.tellGap()
	}
	s.wakeReader() // makes an earlier reader leave
	s.mu.Unlock()
	s.keeper.takeForReading(s)
	return me, from
}

// detachReader ends reading; another reader may attach.
func (s *eventStream) detachReader(me int) {
	s.mu.Lock()
	last := s.reader == me
	if last {
		s.reader = 0
	}
	s.readerLeftAt = time.Now()
	complete, final := s.ended && s.lastWritten == s.last, s.final
	s.mu.Unlock()
	switch {
	case !last:
	case final:
		s.keeper.forget(s)
	default:
		s.keeper.addUnread(s, complete)
	}
}

// nextBatch returns the events after number from that are to be written together.
func (s *eventStream) nextBatch(from int) []sentEvent {
	i := max(0, from-(s.last-len(s.list)))
	if i >= len(s.list) {
		return nil
	}
	j, size := i+1, s.list[i].m.size()
	for j < len(s.list) && size+s.list[j].m.size() <= writeSize {
		size += s.list[j].m.size()
		j++
	}
	return slices.Clone(s.list[i:j])
}

// writeBatch writes events. It does not copy large ones.
func (s *eventStream) writeBatch(out *slowWriter, buf *[]byte, batch []sentEvent) error {
	b := (*buf)[:0]
	for _, e := range batch {
		if s.id != "" {
			b = append(append(append(b, "id: "...), s.id...), '_')
			b = append(strconv.AppendInt(b, int64(e.n), 10), '\n')
		}
		b = append(b, "event: message\ndata: "...)
		if e.m.size() < splitSize {
			b = e.m.appendLine(b)
		} else {
			if err := out.write(b); err != nil {
				return err
			}
			if err := e.m.eachPiece(writeSize, out.write); err != nil {
				return err
			}
			b = b[:0]
		}
		b = append(b, "\n\n"...)
	}
	*buf = b
	if err := out.write(b); err != nil {
		return err
	}
	return out.flush()
}

// recordDelivered records that all events up to number n were written.
func (s *eventStream) recordDelivered(n int) {
	s.mu.Lock()
	before := s.bytes
	first := s.last - len(s.list)
	for i := max(s.lastWritten, first); i < n; i++ {
		s.waiting -= s.list[i-first].m.size()
	}
	s.lastWritten = max(s.lastWritten, n)
	s.lastWriteAt = time.Now()
	s.readerBehind = s.readerBehind && s.waiting > maxNotes/2
	if s.less != nil {
		close(s.less)
		s.less = nil
	}
	if s.waiting == 0 {
		s.tellGap()
	}
	s.trim()
	grown := s.bytes - before
	s.mu.Unlock()
	s.keeper.grow(grown)
}

// splitEventID splits the id of an event into stream and number.
func splitEventID(id string) (stream string, n int, ok bool) {
	i := strings.LastIndexByte(id, '_')
	if i < 0 {
		return "", 0, false
	}
	n, err := strconv.Atoi(id[i+1:])
	return id[:i], n, err == nil && n >= 0
}
