package keypool

import (
	"time"

	"collie/internal/llm"
)

// overload is what is known of a model of a provider that answered 529.
type overload struct {
	first  *key
	at     int64
	before rest   // of first
	began  uint64 // of the rest that first was given
	until  int64  // the provider is known to be overloaded
}

// overloadTime is how close together two keys must fail for it to be the provider.
const overloadTime = int64(10 * time.Second)

// overloaded decides whether it is the key or the provider. The caller holds p.mu.
func (p *Pool) overloaded(pr *provider, l Lease, e *llm.Error, now int64) Next {
	o := pr.overload[l.Model]
	if o == nil {
		o = &overload{}
		pr.overload[l.Model] = o
	}
	if now < o.until {
		o.until = now + overloadTime
		return Overload
	}
	if o.first != nil && o.first != l.key && now-o.at < overloadTime {
		if o.first.rest.began == o.began { // else something else has happened to it since
			o.first.rest = o.before
			p.touch(o.first)
		}
		*o = overload{until: now + overloadTime}
		return Overload
	}
	before := l.key.rest
	l.key.rest.cool(l, p.tick, now, e.RetryAfter, p.jitter(), e.Error())
	if l.key.rest.began == p.tick {
		*o = overload{first: l.key, at: now, before: before, began: p.tick}
	}
	return OtherKey
}
