package toolcache

import (
	"context"
	"sync"
	"time"
)

// Own is the newest run of commits of one handle of a [Backend] that nobody else's interrupted,
// so that its Watch is silent about them. The zero value has none. It is safe for concurrent use.
type Own struct {
	mu       sync.Mutex
	from, to uint64
	flying   int           // commits that have no answer yet
	landed   chan struct{} // closed when there are none
}

// Begin notes that a commit is on its way. The caller calls end when it has its answer:
// generation is 0 if it failed.
func (o *Own) Begin(base uint64) (end func(generation uint64)) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.flying == 0 {
		o.landed = make(chan struct{})
	}
	o.flying++
	return func(generation uint64) {
		o.mu.Lock()
		defer o.mu.Unlock()
		if generation != 0 {
			if base != o.to || o.to == 0 {
				o.from = base
			}
			o.to = generation
		}
		if o.flying--; o.flying == 0 {
			close(o.landed)
		}
	}
}

// Covers reports whether all commits after one generation up to another are ours. The event
// of a commit often overtakes its answer, for which Covers waits, at most patience.
func (o *Own) Covers(ctx context.Context, after, upTo uint64, patience time.Duration) bool {
	o.mu.Lock()
	flying, landed := o.flying, o.landed
	o.mu.Unlock()
	if flying > 0 {
		timer := time.NewTimer(patience)
		defer timer.Stop()
		select {
		case <-landed:
		case <-timer.C:
		case <-ctx.Done():
		}
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if upTo < after { // the place was emptied, and counts anew
		o.from, o.to = 0, 0
		return false
	}
	return o.from <= after && upTo <= o.to
}
