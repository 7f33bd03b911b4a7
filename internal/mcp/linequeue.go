package mcp

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// This file writes messages to a client on stdio that may read slowly: answers wait, notifications may be dropped.

const (
	// maxJoined is the number of bytes up to which waiting lines are joined in one buffer, to be written
	// together.
	maxJoined = 256 << 10
	// maxNotes bounds the notifications that wait for the client to read, in bytes. Beyond it notifications
	// are left out, and the client is told so.
	maxNotes = 8 << 20
	// maxBacklog bounds the answers that wait for a slow client, in bytes. Beyond it no further request of
	// the client is begun.
	maxBacklog = 16 << 20
	// defaultStall is how long a client may read nothing while there is something to read.
	defaultStall = time.Minute
	// writeSize is how many bytes are written at once. A client that takes one such piece within the stall time counts
	// as reading.
	writeSize = 256 << 10
)

// lineQueue writes messages as lines to a client that may read slowly. Answers and questions block their
// sender until they are written, so that a client that does not read uses no more memory than the answers to
// its requests in flight. Notifications never block their sender, which serves other clients too. If a client
// reads nothing for too long, its connection is ended.
//
// If nothing else is being written, a sender writes its line itself. What arrives meanwhile is written by a
// goroutine that ends when nothing is left.
type lineQueue struct {
	w     io.Writer
	stall time.Duration
	// onBroken is called once, on its own goroutine, when the client cannot be reached any more.
	onBroken func(error)
	written  atomic.Uint64 // number of pieces written
	held     atomic.Int64  // total bytes of turns

	mu      sync.Mutex
	writing bool
	pending []byte // lines that will be written together
	spare   []byte
	turns   []*waitingLine
	before  int                 // bytes of all lines before pending
	signals map[string]struct{} // the signals in pending
	gap     droppedCount
	err     error
	less    chan struct{} // closed when held has become small; nil if nobody waits for that
	idle    chan struct{} // closed when everything was written; nil if no caller waits for that
	watch   *time.Timer
	watched bool
	seen    uint64 // value of written at the last check of the watch; since is when it was first seen
	since   time.Time
}

// Output writes messages as lines to a client that may read slowly, for programs that relay messages. It is
// safe for concurrent use.
type Output struct{ q *lineQueue }

// NewOutput returns an Output to w. A client that reads nothing for stall (0 means 1 min) is given up. broken
// is then called once, on its own goroutine; its error has [ErrNotReading] in its chain or is the one that a
// write returned.
func NewOutput(w io.Writer, stall time.Duration, broken func(error)) *Output {
	return &Output{newLineQueue(w, stall, broken)}
}

// Write sends one message; it does not keep raw. It blocks while other messages are being written to a slow
// client. It fails once the client was given up.
func (o *Output) Write(raw []byte) error { return o.q.deliver(outgoing{head: raw}) }

// Room waits until few enough answers are waiting that another request may be begun, or until ctx ends.
func (o *Output) Room(ctx context.Context) error { return o.q.awaitRoom(ctx) }

// Close waits until everything is written or the client was given up.
func (o *Output) Close() { o.q.finish() }

// Busy reports whether something is being written.
func (o *Output) Busy() bool {
	o.q.mu.Lock()
	defer o.q.mu.Unlock()
	return o.q.writing && o.q.err == nil
}

// waitingLine is a line whose sender waits until it is written; before holds the lines that precede it.
type waitingLine struct {
	before []byte
	m      outgoing
	done   chan error
}

func newLineQueue(w io.Writer, stall time.Duration, broken func(error)) *lineQueue {
	stall = cmp.Or(max(stall, 0), defaultStall)
	return &lineQueue{w: w, stall: stall, onBroken: broken}
}

// deliver writes a line that must arrive. It returns when the line is written, or earlier if the line is
// small and queued behind one being written.
func (q *lineQueue) deliver(m outgoing) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.err != nil {
		return q.err
	}
	size := m.size()
	if !q.writing {
		q.beginWriting()
		var err error
		if size < maxJoined {
			q.pending = append(m.appendLine(q.pending[:0]), '\n')
			err = q.flush()
		} else {
			err = q.writeWaiting(&waitingLine{m: m})
		}
		q.passOn(err)
		return err
	}
	if len(q.turns) == 0 && len(q.pending)+size <= maxJoined {
		q.pending = append(m.appendLine(q.pending), '\n')
		return nil
	}
	t := &waitingLine{before: q.pending, m: m, done: make(chan error, 1)}
	q.turns = append(q.turns, t)
	q.before += len(t.before)
	q.pending = nil
	clear(q.signals)
	q.held.Add(int64(size))
	q.mu.Unlock()
	err := <-t.done
	q.mu.Lock()
	return err
}

// post queues a notification and does not wait until it is written.
func (q *lineQueue) post(raw []byte, k kind) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.err != nil || !q.admitNotification(raw, k) {
		return
	}
	m := outgoing{head: raw}
	q.pending = append(m.appendLine(q.pending), '\n')
	if !q.writing {
		q.beginWriting()
		go q.drain() // ends when everything is written or the client is given up
	}
}

// admitNotification decides whether there is room for a notification.
func (q *lineQueue) admitNotification(raw []byte, k kind) bool {
	size := q.before + len(q.pending) + len(raw)
	switch {
	case !q.writing:
	case k == signal:
		if _, waits := q.signals[string(raw)]; waits {
			return false
		}
		if size > 2*maxNotes {
			q.gap.add(raw)
			return false
		}
		if q.signals == nil {
			q.signals = map[string]struct{}{}
		}
		q.signals[string(raw)] = struct{}{}
	case k == progressKind:
		return size <= maxNotes/2
	case k == mayBeDropped && size > maxNotes:
		q.gap.add(raw)
		return false
	case k == mayBeDropped:
		q.reportGap(size)
	}
	return true
}

// reportGap adds the message about left-out notifications, if there is room again.
func (q *lineQueue) reportGap(size int) {
	if q.gap.n > 0 && size <= maxNotes/2 {
		raw, _ := q.gap.gapNotice()
		q.pending = append(append(q.pending, raw...), '\n')
	}
}

// beginWriting takes the right to write and starts the watch for a client that does not read. The caller holds q.mu.
func (q *lineQueue) beginWriting() {
	q.writing = true
	if q.watched {
		return
	}
	q.watched, q.seen, q.since = true, q.written.Load(), time.Now()
	if q.watch == nil {
		q.watch = time.AfterFunc(q.stall/4, q.checkStalled)
	} else {
		q.watch.Reset(q.stall / 4)
	}
}

// passOn gives up the right to write, or passes it to a goroutine that writes what has arrived meanwhile.
func (q *lineQueue) passOn(err error) {
	switch {
	case err != nil:
		q.giveUp(err)
	case len(q.pending) > 0 || len(q.turns) > 0 || q.gap.n > 0:
		go q.drain() // ends when everything is written or the client is given up
	default:
		q.endWriting()
	}
}

// endWriting gives up the right to write.
func (q *lineQueue) endWriting() {
	q.writing = false
	if q.idle != nil {
		close(q.idle)
		q.idle = nil
	}
}

// drain writes everything that is queued, in order.
func (q *lineQueue) drain() {
	q.mu.Lock()
	defer q.mu.Unlock()
	for q.err == nil && (len(q.pending) > 0 || len(q.turns) > 0 || q.gap.n > 0) {
		if len(q.turns) == 0 {
			q.reportGap(len(q.pending))
			if err := q.flush(); err != nil {
				q.giveUp(err)
			}
			continue
		}
		t := q.turns[0]
		q.turns[0] = nil
		q.turns = q.turns[1:]
		err := q.writeWaiting(t)
		q.before -= len(t.before)
		q.subtractHeld(t.m.size())
		t.done <- err
		if err != nil {
			q.giveUp(err)
		}
	}
	q.endWriting()
}

// subtractHeld records that n bytes fewer are waiting.
func (q *lineQueue) subtractHeld(n int) {
	if q.held.Add(-int64(n)) <= maxBacklog && q.less != nil {
		close(q.less)
		q.less = nil
	}
}

// flush writes the joined lines; it releases the lock meanwhile.
func (q *lineQueue) flush() error {
	if len(q.pending) == 0 {
		return nil
	}
	buf := q.pending
	q.pending, q.spare = q.spare[:0], nil
	clear(q.signals)
	q.mu.Unlock()
	err := q.writeChunks(buf)
	q.mu.Lock()
	if cap(buf) <= maxSpare {
		q.spare = buf
	}
	return err
}

// writeWaiting writes t's line and the lines before it; it releases the lock meanwhile.
func (q *lineQueue) writeWaiting(t *waitingLine) error {
	q.mu.Unlock()
	defer q.mu.Lock()
	if err := q.writeChunks(t.before); err != nil {
		return err
	}
	if err := t.m.eachPiece(writeSize, q.write); err != nil {
		return err
	}
	return q.write([]byte{'\n'})
}

func (q *lineQueue) writeChunks(b []byte) error {
	for part := range slices.Chunk(b, writeSize) {
		if err := q.write(part); err != nil {
			return err
		}
	}
	return nil
}

func (q *lineQueue) write(b []byte) error {
	_, err := q.w.Write(b)
	q.written.Add(1)
	return err
}

// giveUp gives the client up.
func (q *lineQueue) giveUp(err error) {
	if q.err != nil {
		return
	}
	q.err = err
	for _, t := range q.turns {
		q.subtractHeld(t.m.size())
		t.done <- err
	}
	q.turns, q.pending, q.spare, q.signals = nil, nil, nil, nil
	for _, waiting := range []*chan struct{}{&q.less, &q.idle} {
		if *waiting != nil {
			close(*waiting)
			*waiting = nil
		}
	}
	if d, ok := q.w.(interface{ SetWriteDeadline(time.Time) error }); ok {
		_ = d.SetWriteDeadline(time.Unix(1, 0)) // ends a blocked write, if the system supports that
	}
	if q.onBroken != nil {
		go q.onBroken(err)
	}
}

// checkStalled gives up a client that has read nothing for too long.
func (q *lineQueue) checkStalled() {
	q.mu.Lock()
	defer q.mu.Unlock()
	now, moved := time.Now(), q.written.Load()
	switch {
	case q.err != nil || !q.writing:
		q.watched = false
		return
	case moved != q.seen:
		q.seen, q.since = moved, now
	case now.Sub(q.since) >= q.stall:
		q.giveUp(fmt.Errorf("%w: nothing was taken for %v", ErrNotReading, q.stall))
		return
	}
	q.watch.Reset(q.stall / 4)
}

// awaitRoom waits until few enough answers are waiting that another request may be begun.
func (q *lineQueue) awaitRoom(ctx context.Context) error {
	for q.held.Load() > maxBacklog {
		q.mu.Lock()
		if q.err != nil || q.held.Load() <= maxBacklog {
			q.mu.Unlock()
			break
		}
		if q.less == nil {
			q.less = make(chan struct{})
		}
		less := q.less
		q.mu.Unlock()
		select {
		case <-less:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	return nil
}

// hasUnread reports whether answers are waiting to be written to a client that was not given up.
func (q *lineQueue) hasUnread() bool { return q.held.Load() > 0 }

// finish waits until everything is written or the client is given up, and ends the watch.
func (q *lineQueue) finish() {
	q.mu.Lock()
	defer q.mu.Unlock()
	for q.writing && q.err == nil {
		if q.idle == nil {
			q.idle = make(chan struct{})
		}
		idle := q.idle
		q.mu.Unlock()
		<-idle
		q.mu.Lock()
	}
	if q.watch != nil {
		q.watch.Stop()
	}
}
