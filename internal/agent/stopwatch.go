package agent

import (
	"context"
	"sync"
	"time"

	"collie/internal/tool"
)

// stopwatch cancels a context after a time limit. The time during which a person is asked does not count.
type stopwatch struct {
	cancel context.CancelCauseFunc

	mu      sync.Mutex
	timer   *time.Timer
	left    time.Duration
	since   time.Time
	waiting int
	limit   time.Duration
}

// withLimit returns ctx with a stopwatch that cancels it after limit; 0 means no limit. The caller must call stop.
func withLimit(ctx context.Context, limit time.Duration) (inner context.Context, w *stopwatch, stop func()) {
	inner, cancel := context.WithCancelCause(ctx)
	w = &stopwatch{cancel: cancel, left: limit, limit: limit}
	if limit > 0 {
		w.since = time.Now()
		w.timer = time.AfterFunc(limit, w.expire)
	}
	return inner, w, func() {
		w.mu.Lock()
		if w.timer != nil {
			w.timer.Stop()
		}
		w.mu.Unlock()
		cancel(nil)
	}
}

// expire is called by the timer.
func (w *stopwatch) expire() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.waiting == 0 {
		w.cancel(&tool.Error{
			Kind: tool.Timeout, Message: "the turn took longer than " + w.limit.String(),
			Hint: "send another message to go on, or raise maxTurnSeconds",
		})
	}
}

// pause stops the time until resume is called as often as pause.
func (w *stopwatch) pause() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.waiting++
	if w.waiting == 1 && w.timer != nil {
		w.timer.Stop()
		w.left -= time.Since(w.since)
	}
}

// resume undoes one pause.
func (w *stopwatch) resume() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.waiting--
	if w.waiting == 0 && w.timer != nil {
		w.since = time.Now()
		w.timer.Reset(max(w.left, 0))
	}
}
