package toolcache

import (
	"log/slog"
	"sync"
	"time"
)

// warner logs one warning per cause and 10 minutes.
type warner struct {
	log *slog.Logger
	now func() time.Time

	mu   sync.Mutex
	last map[string]time.Time
}

const warnEvery = 10 * time.Minute

func newWarner(log *slog.Logger, now func() time.Time) *warner {
	return &warner{log: log, now: now, last: map[string]time.Time{}}
}

func (w *warner) warn(cause, message string, args ...any) {
	now := w.now()
	w.mu.Lock()
	last, before := w.last[cause]
	quiet := before && now.Sub(last) < warnEvery && !now.Before(last)
	if !quiet {
		w.last[cause] = now
	}
	w.mu.Unlock()
	if quiet {
		w.log.Debug(message, append(args, "cause", cause)...) //nolint:sloglint // a constant of the caller's
		return
	}
	w.log.Warn(message, append(args, "cause", cause)...) //nolint:sloglint // a constant of the caller's
}
