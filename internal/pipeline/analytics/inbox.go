package analytics

import (
	"sync"

	"collie/internal/tool"
)

// This file holds finished calls until they are counted, and drops some if there are too many.

const (
	queueLen = 2048     // calls that may wait to be processed
	maxHeld  = 16 << 20 // bytes of arguments and results that they may keep in memory
)

// inbox holds finished calls until they are processed. A caller of put never waits: if the inbox is full, the
// oldest call is dropped and counted; if it holds too many bytes, the result of the new call is dropped, and
// the call itself if it is still too large. It is safe for concurrent use.
type inbox struct {
	more chan struct{} // signals a new call or the end; capacity 1

	mu      sync.Mutex
	list    []*tool.CallDone
	held    int // bytes that list keeps in memory
	dropped int
	closed  bool
}

func newInbox() *inbox { return &inbox{more: make(chan struct{}, 1)} }

// weight returns how many bytes of arguments and results d keeps in memory.
func weight(d *tool.CallDone) int {
	n := len(d.Result)
	if d.Call != nil {
		n += len(d.Call.Args)
	}
	return n
}

// put adds a call. Calls after close are ignored.
func (b *inbox) put(d *tool.CallDone) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed {
		return
	}
	if b.held+weight(d) > maxHeld && len(d.Result) > 0 {
		without := *d
		without.Result = nil
		d = &without
	}
	n := weight(d)
	if b.held+n > maxHeld && b.held > 0 {
		b.dropped++
		return
	}
	if len(b.list) == queueLen {
		b.dropped++
		b.shift()
	}
	b.list = append(b.list, d)
	b.held += n
	signal(b.more)
}

// shift removes and returns the oldest call.
func (b *inbox) shift() *tool.CallDone {
	d := b.list[0]
	b.list[0] = nil
	b.list = b.list[1:]
	b.held -= weight(d)
	return d
}

// next waits for a call and returns the oldest one; nil once the inbox is closed and empty.
func (b *inbox) next() *tool.CallDone {
	for {
		b.mu.Lock()
		if len(b.list) > 0 {
			d := b.shift()
			b.mu.Unlock()
			return d
		}
		closed := b.closed
		b.mu.Unlock()
		if closed {
			return nil
		}
		<-b.more
	}
}

func (b *inbox) waiting() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.list)
}

// lost returns how many calls were dropped so far.
func (b *inbox) lost() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.dropped
}

// close stops accepting calls; next still returns those in the inbox.
func (b *inbox) close() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.closed = true
	signal(b.more)
}
