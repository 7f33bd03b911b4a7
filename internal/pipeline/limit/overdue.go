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
	ownsCancel        bool        // the context was created for the limit, so end must cancel it
	timer             *time.Timer // of a call that has its own; such a call is not in the list
	timeout           *overtime
	watch             *overdueWatch // its mutex guards the fields below
	started, deadline time.Time     // both move on by the time in which the call was paused
	pauses            int           // how many have paused the call and not resumed it
	paused            time.Time     // since when
	prev, next        *running
}

// runningKey is the key under which a running is the value of its own context.
type runningKey struct{}

// Value returns r itself for [runningKey].
func (r *running) Value(key any) any {
	if key == (runningKey{}) {
		return r
	}
	return r.Context.Value(key)
}

// runningOf returns the innermost call that has ctx; nil if there is none.
func runningOf(ctx context.Context) *running {
	r, _ := ctx.Value(runningKey{}).(*running)
	return r
}

// Deadline returns when the call is ended; it may end up to checkEvery later. A paused call is not ended.
func (r *running) Deadline() (time.Time, bool) {
	parentDeadline, ok := r.Context.Deadline()
	r.watch.mu.Lock()
	defer r.watch.mu.Unlock()
	if r.pauses > 0 || ok && parentDeadline.Before(r.deadline) {
		return parentDeadline, ok
	}
	return r.deadline, true
}

// pause stops the clock of the call until resume is called as often.
func (r *running) pause() {
	r.watch.mu.Lock()
	defer r.watch.mu.Unlock()
	if r.pauses++; r.pauses > 1 {
		return
	}
	r.paused = time.Now()
	if r.timer != nil {
		r.timer.Stop()
	}
}

func (r *running) resume() {
	r.watch.mu.Lock()
	defer r.watch.mu.Unlock()
	if r.pauses--; r.pauses > 0 {
		return
	}
	took := time.Since(r.paused)
	r.started, r.deadline = r.started.Add(took), r.deadline.Add(took)
	if r.timer != nil {
		r.timer.Reset(time.Until(r.deadline))
	}
}

// elapsed returns how long the call has run, without pauses.
func (r *running) elapsed() time.Duration {
	r.watch.mu.Lock()
	defer r.watch.mu.Unlock()
	return time.Since(r.started)
}

// begin returns the context of a call that started at start. The caller must call end. If cancel ends ctx,
// begin uses ctx itself, which saves a context.
func (w *overdueWatch) begin(ctx context.Context, cancel context.CancelCauseFunc, start time.Time, timeout *overtime) *running {
	r := &running{Context: ctx, cancel: cancel, timeout: timeout, watch: w, started: start, deadline: start.Add(timeout.bound)}
	precise := timeout.bound < preciseLimit
	if cancel == nil || precise {
		r.Context, r.cancel = context.WithCancelCause(ctx)
		r.ownsCancel = true
	}
	if precise {
		r.timer = time.AfterFunc(timeout.bound, func() { r.cancel(timeout) })
		return r
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
	if r.timer != nil {
		r.timer.Stop()
		r.cancel(nil)
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
		if r.pauses == 0 && now.After(r.deadline) {
			r.cancel(r.timeout)
		}
	}
	if w.armed = w.first != nil; w.armed {
		w.timer.Reset(checkEvery)
	}
}
