package keypool

import (
	"time"

	"collie/internal/llm"
)

// overload tracks the failures of class overloaded, such as HTTP status 529, for one model of a provider. It tells whether
// one key is overloaded or the provider.
type overload struct {
	first     *key   // the first key that failed; nil if there is none
	at        int64  // when it failed
	before    rest   // its rest before that
	startTick uint64 // of the rest that first was given
	until     int64  // until when the provider counts as overloaded
}

// overloadWindow is the time within which two keys must fail for the provider to count as overloaded.
const overloadWindow = int64(10 * time.Second)

// markOverloaded decides whether the key rests or the provider is overloaded. p.mu must be held.
func (p *Pool) markOverloaded(pr *provider, l Lease, e *llm.Error, now int64) Next {
	o := pr.overload[l.Model]
	if o == nil {
		o = &overload{}
		pr.overload[l.Model] = o
	}
	if now < o.until {
		o.until = now + overloadWindow
		return Overload
	}
	if o.first != nil && o.first != l.key && now-o.at < overloadWindow {
		if o.first.rest.startTick == o.startTick { // otherwise another rest began since
			o.first.rest = o.before
			p.markDirty(o.first)
		}
		*o = overload{until: now + overloadWindow}
		return Overload
	}
	before := l.key.rest
	l.key.rest.cool(l, p.tick, now, e.RetryAfter, p.jitter(), e.Error())
	if l.key.rest.startTick == p.tick {
		*o = overload{first: l.key, at: now, before: before, startTick: p.tick}
	}
	return OtherKey
}
