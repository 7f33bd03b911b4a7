package supervise

import (
	"slices"
	"time"

	"collie/internal/source/upstream/entry"
)

// history decides from a server's failures when to try again. A failure is a failed start or a connection that ended
// by itself. Delays double from base to cap, with jitter; too many failures within the window open the breaker.
//
// It is plain data: its methods are told the time and the random number.
type history struct {
	failures []time.Time // within the window, oldest first
	attempt  int         // failures since the server last worked
	open     bool        // too many failures: one more opens the breaker again
	ready    time.Time   // since when it has been ready; zero while it is not
}

// wellAfter is how long a server must be ready before its failures are forgotten.
const wellAfter = time.Minute

// failed records a failure. It returns when the next attempt is due, and whether calls are refused until then. chance
// is in [0, 1).
func (h *history) failed(p entry.Restart, now time.Time, chance float64) (next time.Time, open bool) {
	h.stopped(now)
	h.failures = slices.DeleteFunc(h.failures, func(t time.Time) bool { return now.Sub(t) > p.Window })
	h.failures = append(h.failures, now)
	if limit := max(p.Max, 1); len(h.failures) > limit {
		h.failures = h.failures[len(h.failures)-limit:]
	}
	delay := jitter(backoff(p, h.attempt), chance)
	h.attempt++
	h.open = p.Max > 0 && (h.open || len(h.failures) >= p.Max)
	return now.Add(delay), h.open
}

// started records that the server is ready.
func (h *history) started(now time.Time) { h.ready = now }

// stopped records that the server no longer runs.
func (h *history) stopped(now time.Time) {
	h.attempt = h.consecutive(now)
	if h.attempt == 0 {
		h.clear()
	}
	h.ready = time.Time{}
}

// consecutive returns how many failures still count.
func (h *history) consecutive(now time.Time) int {
	if !h.ready.IsZero() && now.Sub(h.ready) >= wellAfter {
		return 0
	}
	return h.attempt
}

// clear forgets the failures: the server was ready for a minute, or answered a call, or a person asked for a new
// start.
func (h *history) clear() { h.failures, h.attempt, h.open = nil, 0, false }

// backoff returns the delay after n earlier failures: base doubled n times, at most cap.
func backoff(p entry.Restart, n int) time.Duration {
	d := p.Base
	for ; n > 0 && d < p.Cap; n-- {
		d *= 2
	}
	return min(d, p.Cap)
}

// jitter spreads a delay over its upper half, so that servers that failed together do not restart together.
func jitter(d time.Duration, chance float64) time.Duration {
	return d/2 + time.Duration(chance*float64(d-d/2))
}
