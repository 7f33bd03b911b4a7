package analytics

import (
	"sync"

	"collie/internal/tool"
)

const (
	queueLen = 2048     // calls that may wait to be looked at
	maxHeld  = 16 << 20 // bytes of arguments and results that they may keep in memory
)

// inbox holds calls that have ended until they are looked at. Whoever puts one in never waits: where it is full the
// oldest goes and is counted, and of what would keep too many bytes in memory the result is let go of. It is safe for
// concurrent use.
type inbox struct {
	more chan struct{} // there is something, or it was closed; holds one

	mu      sync.Mutex
	list    []*tool.CallDone
	held    int // bytes that list keeps
	dropped int
	closed  bool
}

func newInbox() *inbox { return &inbox{more: make(chan struct{}, 1)} }

func weight(d *tool.CallDone) int {
	n := len(d.Result)
	if d.Call != nil {
		n += len(d.Call.Args)
	}
	return n
}

// put takes in a call. What was put after close is not looked at.
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

// shift removes the oldest.
func (b *inbox) shift() *tool.CallDone {
	d := b.list[0]
	b.list[0] = nil
	b.list = b.list[1:]
	b.held -= weight(d)
	return d
}

// next is the oldest call; it waits for one, and is nil once the inbox is closed and empty.
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

// lost is how many calls were given up until now.
func (b *inbox) lost() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.dropped
}

// close lets what is in the inbox be looked at, and takes in no more.
func (b *inbox) close() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.closed = true
	signal(b.more)
}
