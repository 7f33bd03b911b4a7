package supervise

import (
	"slices"
	"time"

	"collie/internal/source/upstream/entry"
)

// history is what a server's failures say about when to try again. A failure is a start
// that failed or a connection that ended by itself. Delays double from base to cap, with
// jitter; too many failures within the window open the breaker.
//
// It is plain data: whoever holds it says what time it is, and what chance.
type history struct {
	failures []time.Time // within the window, oldest first
	attempt  int         // failures since the server was last well
	open     bool        // too many of them: a trial that fails opens the breaker again
	ready    time.Time   // since when it has been ready; zero while it is not
}

// wellAfter is how long a server must have been ready for its failures to be forgotten.
const wellAfter = time.Minute

// failed notes a failure. It returns when the next attempt is due, and whether calls are
// refused until then. chance is in [0, 1).
func (h *history) failed(p entry.Restart, now time.Time, chance float64) (next time.Time, open bool) {
	h.stopped(now)
	h.failures = slices.DeleteFunc(h.failures, func(t time.Time) bool { return now.Sub(t) > p.Window })
	h.failures = append(h.failures, now)
	if most := max(p.Max, 1); len(h.failures) > most {
		h.failures = h.failures[len(h.failures)-most:]
	}
	delay := jitter(backoff(p, h.attempt), chance)
	h.attempt++
	h.open = p.Max > 0 && (h.open || len(h.failures) >= p.Max)
	return now.Add(delay), h.open
}

// started notes that the server is ready.
func (h *history) started(now time.Time) { h.ready = now }

// stopped notes that the server runs no more, for whatever reason.
func (h *history) stopped(now time.Time) {
	h.attempt = h.inARow(now)
	if h.attempt == 0 {
		h.well()
	}
	h.ready = time.Time{}
}

// inARow is how many failures count still.
func (h *history) inARow(now time.Time) int {
	if !h.ready.IsZero() && now.Sub(h.ready) >= wellAfter {
		return 0
	}
	return h.attempt
}

// well forgets the failures: the server has been ready for a minute, or has answered a call,
// or a person wants it tried as if nothing had been.
func (h *history) well() { h.failures, h.attempt, h.open = nil, 0, false }

// backoff is the delay after n failures before this one: base doubled n times, at most cap.
func backoff(p entry.Restart, n int) time.Duration {
	d := p.Base
	for ; n > 0 && d < p.Cap; n-- {
		d *= 2
	}
	return min(d, p.Cap)
}

// jitter spreads a delay over its upper half, so that servers that failed together do not
// come back together.
func jitter(d time.Duration, chance float64) time.Duration {
	return d/2 + time.Duration(chance*float64(d-d/2))
}
