package keypool

import "time"

// State says whether a key can be used.
type State string

// The states. Blocked is one of a single model of a key.
const (
	Active    State = "active"
	Cooling   State = "cooling"
	Exhausted State = "exhausted"
	Invalid   State = "invalid"
	Disabled  State = "disabled"
	Blocked   State = "blocked"
)

// Times of rests.
const (
	firstRest   = time.Minute
	longestRest = 15 * time.Minute // and how long it takes for a level to be forgotten
	maxLevel    = 5                // beyond which rests grow no longer
	blockTime   = 10 * time.Minute
	longHint    = time.Hour          // more than that is a quota
	absurdHint  = 7 * 24 * time.Hour // more than that is a mistake
	probeTime   = 10 * time.Second   // that the first request after a rest has for itself
	probePoll   = 500 * time.Millisecond
)

// quotaRests are how long a key without money rests, the last one from then on.
var quotaRests = []time.Duration{time.Hour, 6 * time.Hour, 24 * time.Hour}

// rest is the rest of a key, or of one model of it, and what is left of it afterwards. The zero value, and nil, is none.
// Times are nanoseconds of the wall clock.
type rest struct {
	state State
	level int
	since int64
	until int64 // moves forward only
	hint  int64 // when the provider said to come back; 0 where it said nothing
	began uint64
	why   string

	prober uint64 // the request that tries whether it is over
	probed int64
}

// over reports whether a rest has ended and nobody tries the key just now.
func (r *rest) over(now int64) bool { return now >= r.until && !r.probing(now) }

func (r *rest) probing(now int64) bool {
	return r != nil && r.prober != 0 && now-r.probed < int64(probeTime)
}

// returns is when it is worth asking again.
func (r *rest) returns() int64 {
	switch {
	case r == nil:
		return 0
	case r.hint != 0 && r.state == Cooling:
		return min(r.hint, r.until)
	}
	return r.until
}

func (r *rest) probe(tick uint64, now int64) {
	if r != nil && r.until != 0 {
		r.prober, r.probed = tick, now
	}
}

// expire forgets what time has made good, and mends what a clock that was set back has made of it.
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

// levelAt is the level that quiet has left.
func (r *rest) levelAt(now int64) int {
	if now <= r.until || r.state == Exhausted {
		return r.level
	}
	return max(0, r.level-int((now-r.until)/int64(longestRest)))
}

// lengthen moves the end of a rest forward, never back.
func (r *rest) lengthen(until int64) { r.until = max(r.until, until) }

// cool begins another rest after a limit, or lengthens this one where the request is older than it. extra is
// the share, 0 to 1, of jitter.
func (r *rest) cool(l Lease, tick uint64, now int64, hint time.Duration, extra float64, why string) {
	if hint < 0 || hint > absurdHint {
		hint = 0
	}
	var hinted int64
	if hint > 0 {
		hinted = now + int64(hint)
	}
	if r.until != 0 && l.tick < r.began { // of the same episode
		if hinted > r.until {
			r.lengthen(hinted)
			r.hint = hinted
		}
		return
	}
	if r.state == Exhausted {
		r.level = 0 // those levels are others
	}
	r.level = min(r.levelAt(now)+1, maxLevel)
	length := min(firstRest<<(r.level-1), longestRest)
	length = min(length+time.Duration(extra*float64(length)/10), longestRest)
	r.state, r.since, r.began, r.why, r.hint, r.prober = Cooling, now, tick, why, hinted, 0
	if hint > longHint {
		r.state = Exhausted
	}
	r.lengthen(max(now+int64(length), hinted))
}

// exhaust begins a rest for want of money.
func (r *rest) exhaust(l Lease, tick uint64, now int64, why string) {
	if r.state == Exhausted && l.tick < r.began {
		return
	}
	if r.state != Exhausted {
		r.level = 0
	}
	length := quotaRests[min(r.level, len(quotaRests)-1)]
	r.level = min(r.level+1, maxLevel)
	r.state, r.since, r.began, r.why, r.hint, r.prober = Exhausted, now, tick, why, 0, 0
	r.lengthen(now + int64(length))
}

// succeed ends a rest, unless the answer is to a request that is older than it.
func (r *rest) succeed(l Lease) bool {
	if r == nil || r.until == 0 || l.tick < r.began {
		return false
	}
	*r = rest{}
	return true
}
