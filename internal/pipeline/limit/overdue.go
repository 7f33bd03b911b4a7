package limit

import (
	"context"
	"sync"
	"time"
)

const (
	// patrol is how often calls are looked at for having run too long.
	patrol = time.Second
	// precise limits have a timer of their own; longer ones may be a patrol late.
	precise = 2 * time.Minute
)

// watch ends calls that run longer than their limit. One timer looks at all of them now and
// then: a timer for each call would cost more than the rest of the stage, since each new
// earliest timer wakes the runtime's network poller.
type watch struct {
	mu    sync.Mutex
	first *running // a ring without order
	timer *time.Timer
	armed bool
}

// running is a call under a limit. It is its context, so that the limit shows as a deadline.
type running struct {
	context.Context
	cancel     context.CancelCauseFunc
	own        bool   // the context was made for the limit
	stop       func() // ends a context with a timer of its own; such a call is not in the ring
	over       *overtime
	begun, at  time.Time
	prev, next *running
}

// Deadline is when the call is ended at the latest, but for one patrol.
func (r *running) Deadline() (time.Time, bool) {
	if at, ok := r.Context.Deadline(); ok && at.Before(r.at) {
		return at, true
	}
	return r.at, true
}

// begin returns the context of a call that started at start; end must be called. It is ctx where
// cancel ends that, which spares the call a context of its own.
func (w *watch) begin(ctx context.Context, cancel context.CancelCauseFunc, start time.Time, over *overtime) *running {
	r := &running{Context: ctx, cancel: cancel, over: over, begun: start, at: start.Add(over.bound)}
	if over.bound < precise {
		r.Context, r.stop = context.WithTimeoutCause(ctx, over.bound, over)
		return r
	}
	if cancel == nil {
		r.Context, r.cancel = context.WithCancelCause(ctx)
		r.own = true
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.first != nil {
		r.next = w.first
		w.first.prev = r
	}
	w.first = r
	if !w.armed {
		w.armed = true
		if w.timer == nil {
			w.timer = time.AfterFunc(patrol, w.look)
		} else {
			w.timer.Reset(patrol)
		}
	}
	return r
}

func (w *watch) end(r *running) {
	if r.stop != nil {
		r.stop()
		return
	}
	w.mu.Lock()
	if r.prev != nil {
		r.prev.next = r.next
	} else {
		w.first = r.next
	}
	if r.next != nil {
		r.next.prev = r.prev
	}
	r.prev, r.next = nil, nil // who still holds r keeps no other call alive
	w.mu.Unlock()
	if r.own {
		r.cancel(nil)
	}
}

// look ends the calls whose time is over. It goes on as long as there are calls.
func (w *watch) look() {
	now := time.Now()
	w.mu.Lock()
	defer w.mu.Unlock()
	for r := w.first; r != nil; r = r.next {
		if now.After(r.at) {
			r.cancel(r.over)
		}
	}
	if w.armed = w.first != nil; w.armed {
		w.timer.Reset(patrol)
	}
}
