package limit

import (
	"context"
	"sync"
	"time"
)

// This file ends calls that run longer than they may, with one timer for all of them.

const (
	// checkEvery is how often running calls are checked for having run too long.
	checkEvery = time.Second
	// preciseLimit is the limit below which a call has its own timer. A call with a longer limit may end up to
	// checkEvery late.
	preciseLimit = 2 * time.Minute
)

// overdueWatch ends calls that run longer than their limit. One timer checks all of them periodically. A timer per
// call would cost more than the rest of the stage, because each new earliest timer wakes the network poller
// of the runtime.
type overdueWatch struct {
	mu    sync.Mutex
	first *running // a doubly linked list in no particular order
	timer *time.Timer
	armed bool
}

// running is a call with a limit. It is also the call's context, so that the limit is visible as a deadline.
type running struct {
	context.Context
	cancel            context.CancelCauseFunc
	ownsCancel        bool   // the context was created for the limit, so end must cancel it
	stop              func() // ends a context that has its own timer; such a call is not in the list
	timeout           *overtime
	started, deadline time.Time
	prev, next        *running
}

// Deadline returns when the call is ended; it may end up to checkEvery later.
func (r *running) Deadline() (time.Time, bool) {
	if parentDeadline, ok := r.Context.Deadline(); ok && parentDeadline.Before(r.deadline) {
		return parentDeadline, true
	}
	return r.deadline, true
}

// begin returns the context of a call that started at start. The caller must call end. If cancel ends ctx,
// begin uses ctx itself, which saves a context.
func (w *overdueWatch) begin(ctx context.Context, cancel context.CancelCauseFunc, start time.Time, timeout *overtime) *running {
	r := &running{Context: ctx, cancel: cancel, timeout: timeout, started: start, deadline: start.Add(timeout.bound)}
	if timeout.bound < preciseLimit {
		r.Context, r.stop = context.WithTimeoutCause(ctx, timeout.bound, timeout)
		return r
	}
	if cancel == nil {
		r.Context, r.cancel = context.WithCancelCause(ctx)
		r.ownsCancel = true
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
			w.timer = time.AfterFunc(checkEvery, w.endOverdue)
		} else {
			w.timer.Reset(checkEvery)
		}
	}
	return r
}

func (w *overdueWatch) end(r *running) {
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
	r.prev, r.next = nil, nil // whoever still holds r must not keep other calls in memory
	w.mu.Unlock()
	if r.ownsCancel {
		r.cancel(nil)
	}
}

// endOverdue ends the calls whose time is over. The timer continues while there are calls.
func (w *overdueWatch) endOverdue() {
	now := time.Now()
	w.mu.Lock()
	defer w.mu.Unlock()
	for r := w.first; r != nil; r = r.next {
		if now.After(r.deadline) {
			r.cancel(r.timeout)
		}
	}
	if w.armed = w.first != nil; w.armed {
		w.timer.Reset(checkEvery)
	}
}
