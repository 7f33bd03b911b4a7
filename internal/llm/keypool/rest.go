package keypool

import "time"

// This file decides how long a key, or one model of it, is not used after a failure.

// State is whether a key, or a model of it, can be used.
type State string

// The states. Blocked is a state of one model of a key, never of the key.
const (
	Active    State = "active"
	Cooling   State = "cooling"
	Exhausted State = "exhausted"
	Invalid   State = "invalid"
	Disabled  State = "disabled"
	Blocked   State = "blocked"
)

// Lengths of rests.
const (
	firstRest     = time.Minute
	longestRest   = 15 * time.Minute // and the quiet time after which the level falls by one
	maxLevel      = 5                // the level at which rests stop growing
	blockDuration = 10 * time.Minute
	quotaHint     = time.Hour          // a longer wait means that a quota is used up
	maxHint       = 7 * 24 * time.Hour // a longer wait is ignored as a mistake of the provider
	probeTimeout  = 10 * time.Second   // during which no other request uses a key that is being probed
	probePoll     = 500 * time.Millisecond
)

// quotaRests are the lengths of successive rests of a key without quota. The last one repeats.
var quotaRests = []time.Duration{time.Hour, 6 * time.Hour, 24 * time.Hour}

// rest is a time in which a key, or one model of it, is not used. It outlives its end, because the next rest depends on its
// level. The zero value and nil mean that there is none. Times are Unix nanoseconds.
type rest struct {
	state     State
	level     int
	since     int64
	until     int64 // moves back only when the clock was set back; see expire
	hint      int64 // when the provider said to retry; 0 if it did not
	startTick uint64
	why       string

	probeTick uint64 // tick of the lease that probes the key; 0: none
	probedAt  int64
}

// isOver reports whether the rest has ended and no request probes the key.
func (r *rest) isOver(now int64) bool { return now >= r.until && !r.isProbing(now) }

// isProbing reports whether a request probes the key now.
func (r *rest) isProbing(now int64) bool {
	return r != nil && r.probeTick != 0 && now-r.probedAt < int64(probeTimeout)
}

// endsAt returns the time from which a retry can succeed.
func (r *rest) endsAt() int64 {
	switch {
	case r == nil:
		return 0
	case r.hint != 0 && r.state == Cooling:
		return min(r.hint, r.until)
	}
	return r.until
}

// startProbe notes that the lease with this tick probes the key.
func (r *rest) startProbe(tick uint64, now int64) {
	if r != nil && r.until != 0 {
		r.probeTick, r.probedAt = tick, now
	}
}

// expire removes a rest that is over and whose level has fallen to 0. If the clock was set back, it moves the rest back as
// well.
func (r *rest) expire(now int64) {
	if r.until == 0 {
		return
	}
	if now < r.since {
		left := min(r.until-r.since, int64(longestRest))
		if r.hint != 0 {
			r.hint = min(now+r.hint-r.since, now+left)
		}
		r.since, r.until = now, now+left
	}
	if now >= r.until && r.state != Exhausted && r.levelAt(now) == 0 {
		*r = rest{}
	}
}

// levelAt returns the level, which falls after the rest is over.
func (r *rest) levelAt(now int64) int {
	if now <= r.until || r.state == Exhausted {
		return r.level
	}
	return max(0, r.level-int((now-r.until)/int64(longestRest)))
}

// lengthen moves the end of the rest forward, never back.
func (r *rest) lengthen(until int64) { r.until = max(r.until, until) }

// cool begins a rest after a limit. If the request of l began before the rest, it belongs to the same burst and can only
// lengthen the rest. hint is the wait that the provider asks for, 0 if none; jitter is in [0, 1).
func (r *rest) cool(l Lease, tick uint64, now int64, hint time.Duration, jitter float64, why string) {
	if hint < 0 || hint > maxHint {
		hint = 0
	}
	var hinted int64
	if hint > 0 {
		hinted = now + int64(hint)
	}
	if r.until != 0 && l.tick < r.startTick { // of the same burst
		if hinted > r.until {
			r.lengthen(hinted)
			r.hint = hinted
		}
		return
	}
	if r.state == Exhausted {
		r.level = 0 // the levels of quotas are counted separately
	}
	r.level = min(r.levelAt(now)+1, maxLevel)
	length := min(firstRest<<(r.level-1), longestRest)
	length = min(length+time.Duration(jitter*float64(length)/10), longestRest) // up to a tenth more, so that keys do not all return at once
	r.state, r.since, r.startTick, r.why, r.hint, r.probeTick = Cooling, now, tick, why, hinted, 0
	if hint > quotaHint {
		r.state = Exhausted
	}
	r.lengthen(max(now+int64(length), hinted))
}

// exhaust begins a rest because a quota is used up.
func (r *rest) exhaust(l Lease, tick uint64, now int64, why string) {
	if r.state == Exhausted && l.tick < r.startTick {
		return
	}
	if r.state != Exhausted {
		r.level = 0
	}
	length := quotaRests[min(r.level, len(quotaRests)-1)]
	r.level = min(r.level+1, maxLevel)
	r.state, r.since, r.startTick, r.why, r.hint, r.probeTick = Exhausted, now, tick, why, 0, 0
	r.lengthen(now + int64(length))
}

// succeed ends the rest and returns true, unless the request of l began before the rest.
func (r *rest) succeed(l Lease) bool {
	if r == nil || r.until == 0 || l.tick < r.startTick {
		return false
	}
	*r = rest{}
	return true
}
