package audit

import (
	"bytes"
	"fmt"
	"time"
)

// This file writes records to disk, many at a time, and begins a new segment or chain when needed.

const (
	// batchTime is how long the writer waits for more records after the first.
	batchTime = 10 * time.Millisecond
	// commitTime is the time between the first uncommitted write and the sync. With batchTime and the sync
	// itself it stays under 200 ms.
	commitTime = 150 * time.Millisecond
	// retryTime is the time between two attempts after a failure.
	retryTime = time.Second

	// flushBytes is the size of encoded lines from which they are written without waiting for more.
	flushBytes = 256 << 10
)

// writer is the state of the goroutine that writes a Log. Nobody else uses its fields.
type writer struct {
	log    *Log
	opts   Options
	redact *Redactor

	batch []item         // taken from the queue
	next  int            // index of the first record in batch that is not encoded yet
	buf   []byte         // encoded lines that are not written yet
	ahead readAheadState // read before the chain is made
	chain *chain         // nil until the first record

	waiters []chan<- error // of records that are encoded but not synced
	failed  bool
	timer   *time.Timer // for the commit, or the retry after a failure
	armed   bool
}

func (w *writer) run() {
	defer close(w.log.done)
	w.timer = time.NewTimer(time.Hour)
	w.timer.Stop()
	for !w.log.isClosed() {
		due := false
		select {
		case <-w.log.wake:
			w.prepare()
			if w.failed {
				continue // the timer starts the next attempt
			}
			w.awaitMore()
		case <-w.timer.C:
			due, w.armed = true, false
		}
		w.nextBatch()
		if w.writeAndCommit(due) && w.chain != nil {
			w.chain.syncEntries()
		}
	}
	w.finish()
}

// prepare reads ahead for the chain if Prepare was called and there is no chain.
func (w *writer) prepare() {
	l := w.log
	l.mu.Lock()
	asked := l.readAhead
	l.readAhead = false
	l.mu.Unlock()
	if asked && w.chain == nil {
		w.ahead = readAhead(l.dir)
	}
}

// awaitMore waits for more records, so that many calls share one wake-up and one write.
func (w *writer) awaitMore() {
	t := time.NewTimer(batchTime)
	defer t.Stop()
	for {
		w.log.mu.Lock()
		urgent := w.log.isUrgent()
		w.log.mu.Unlock()
		if urgent {
			return
		}
		select {
		case <-t.C:
			return
		case <-w.log.wake:
		}
	}
}

// nextBatch takes the queue as the new batch if the old one is done. It reports whether there is anything to
// write.
func (w *writer) nextBatch() bool {
	if w.next < len(w.batch) {
		return true
	}
	spare := w.batch
	clear(spare) // releases what it points to
	if cap(spare) > softRecords && len(spare) < cap(spare)/4 {
		spare = nil // releases a large array after a burst
	}
	l := w.log
	l.mu.Lock()
	w.batch, w.next = l.queue, 0
	l.queue, l.bytes, l.waiting = spare[:0], 0, false
	if l.lost > 0 {
		w.batch = append(w.batch, item{rec: gapRecord(l.lost)})
		l.lost = 0
	}
	l.cond.Broadcast()
	l.mu.Unlock()
	return len(w.batch) > 0 || len(w.buf) > 0
}

// writeAndCommit writes the batch and commits if that is due or somebody waits. It tells the Log whether that worked.
func (w *writer) writeAndCommit(commit bool) bool {
	err := w.write()
	if err == nil && w.chain != nil && (commit || len(w.waiters) > 0) {
		err = w.commit()
	}
	if err != nil {
		w.recordFailure(fmt.Errorf("write audit log: %w", err))
		return false
	}
	w.recordSuccess()
	return true
}

// write writes the batch to the segment, without syncing.
func (w *writer) write() error {
	if w.next == len(w.batch) && len(w.buf) == 0 && !w.failed {
		return nil
	}
	if err := w.ensureChain(); err != nil {
		return err
	}
	for ; w.next < len(w.batch); w.next++ {
		if w.chain.size+int64(len(w.buf)) >= w.opts.SegmentBytes {
			if err := w.rotate(); err != nil {
				return err
			}
		}
		it := &w.batch[w.next]
		w.buf = w.chain.enc.appendLine(w.buf, &it.rec)
		if it.synced != nil {
			w.waiters = append(w.waiters, it.synced)
			it.synced = nil
		}
		if len(w.buf) >= flushBytes {
			if err := w.flush(); err != nil {
				w.next++
				return err
			}
		}
	}
	return w.flush()
}

// ensureChain makes sure that there is a chain with a segment that can be written: it begins a chain if there is none, and
// the next segment if the present one is full, old or broken.
func (w *writer) ensureChain() error {
	if w.chain == nil {
		a := w.ahead
		w.ahead = readAheadState{} // it may be the reason of the failure: the next attempt reads anew
		c, start, err := newChain(w.log.dir, w.startTime(), w.redact, &w.opts, a)
		if err != nil {
			return err
		}
		w.chain, w.buf = c, c.enc.appendLine(w.buf, &start)
	}
	switch {
	case w.chain.mustRotate || w.chain.seg == nil:
		return w.chain.nextSegment()
	case time.Since(w.chain.createdAt) >= w.opts.SegmentAge:
		return w.rotate()
	}
	return nil
}

// startTime returns the start time of a chain that begins with the batch: that of its oldest record, or now.
func (w *writer) startTime() time.Time {
	t := time.Now()
	for i := range w.batch {
		if w.batch[i].rec.Time.Before(t) {
			t = w.batch[i].rec.Time
		}
	}
	return t
}

func (w *writer) rotate() error {
	if err := w.flush(); err != nil {
		return err
	}
	if err := w.commit(); err != nil {
		return err
	}
	return w.chain.nextSegment()
}

// flush writes buf to the segment. If a write fails half way, the whole lines count and the rest is cut off,
// so that the segment always ends with a whole line.
func (w *writer) flush() error {
	if len(w.buf) == 0 {
		return nil
	}
	n, err := w.chain.seg.Write(w.buf)
	if err != nil {
		n = bytes.LastIndexByte(w.buf[:n], '\n') + 1
	}
	w.chain.size += int64(n)
	w.chain.dirty = w.chain.dirty || n > 0
	w.buf = w.buf[:copy(w.buf, w.buf[n:])]
	if cap(w.buf) > 4*flushBytes {
		w.buf = bytes.Clone(w.buf) // releases a large buffer after a burst
	}
	if err != nil {
		w.chain.mustRotate = true
		_ = w.chain.seg.Truncate(w.chain.size) // if that fails, readers cope with the incomplete line
		return err
	}
	w.arm(commitTime)
	return nil
}

// commit syncs what was written: first the segment, then the head.
func (w *writer) commit() error {
	if err := w.chain.sync(); err != nil {
		return err
	}
	for _, synced := range w.waiters {
		synced <- nil
	}
	w.waiters = w.waiters[:0]
	w.disarm()
	return w.chain.writeHead(w.log.isClosed())
}

// arm starts the timer, unless it runs already.
func (w *writer) arm(d time.Duration) {
	if !w.armed {
		w.timer.Reset(d)
		w.armed = true
	}
}

func (w *writer) disarm() {
	w.timer.Stop()
	w.armed = false
}

// finish completes Close: it writes the rest, tries once more after a failure, and ends the chain.
func (w *writer) finish() {
	defer w.disarm()
	for w.nextBatch() || w.failed {
		if !w.writeAndCommit(w.failed) {
			break
		}
	}
	if w.chain == nil {
		return
	}
	if !w.failed {
		w.batch, w.next = append(w.batch[:0], item{rec: endRecord()}), 0
		w.writeAndCommit(true)
	}
	w.chain.close()
}
