package keypool

import (
	"context"
	"fmt"

	"collie/internal/llm"
)

// MarkKeySuccess tells that the provider has begun to answer the request of l. It ends a rest that is older than the request.
func (p *Pool) MarkKeySuccess(l Lease) {
	if l.key == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	k := l.key
	k.successes++
	k.lastUsed = p.now().UnixNano()
	k.lastStatus = 0
	k.rest.succeed(l)
	if m := k.models[l.Model]; m.succeed(l) {
		delete(k.models, l.Model)
	}
	if pr := p.providers[l.Provider]; pr != nil && len(pr.overload) > 0 {
		delete(pr.overload, l.Model)
	}
	p.touch(k)
}

// MarkKeyValid tells that the provider takes the key of l, which says nothing about limits.
func (p *Pool) MarkKeyValid(l Lease) {
	p.mu.Lock()
	defer p.mu.Unlock()
	l.key.unprobe(&l)
	if l.key.invalid {
		l.key.forget()
		p.providers[l.Provider].trouble()
		p.touch(l.key)
	}
}

// MarkKeyError (markKeyError) tells how the request of l failed and returns what to do next. ctx bounds how
// long the secret of a key is read again that the provider refused: where it is another one by now, the same key is to be used,
// and l holds it.
func (p *Pool) MarkKeyError(ctx context.Context, l *Lease, e *llm.Error) Next {
	if l.key == nil {
		return Stop
	}
	if e.Class == llm.ClassCredential && p.rotated(ctx, l) {
		return SameKey
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	k, now := l.key, p.now().UnixNano()
	p.tick++
	k.lastUsed, k.lastStatus = now, e.Status
	pr := p.providers[l.Provider]
	if k.gone || pr == nil {
		return next(e.Class)
	}
	k.errors += counted(e.Class)
	pr.troubled = true
	p.touch(k)
	defer k.unprobe(l)
	why := whyOf(e)
	switch e.Class {
	case llm.ClassOverloaded:
		return p.overloaded(pr, *l, e, now)
	case llm.ClassRateLimit:
		k.scope(l, e).cool(*l, p.tick, now, e.RetryAfter, p.jitter(), why)
	case llm.ClassQuota:
		k.scope(l, e).exhaust(*l, p.tick, now, why)
	case llm.ClassCredential:
		if k.mark == markOf(l.secret) { // else it has been edited meanwhile
			k.invalid, k.lookAt, k.why = true, p.later(), why
		}
	case llm.ClassPermission, llm.ClassModelAccess:
		m := k.model(l.Model)
		m.state, m.since, m.began, m.why = Blocked, now, p.tick, why
		m.lengthen(now + int64(blockTime))
		if e.Class == llm.ClassPermission && k.denied(now) >= 3 {
			k.invalid, k.lookAt, k.why = true, p.later(), why
		}
	case llm.ClassTransient, llm.ClassRegion, llm.ClassCaller, llm.ClassContext, llm.ClassNoTools, llm.ClassCanceled,
		llm.ClassAllCooling, llm.ClassNoProvider, llm.ClassUnknown:
	}
	return next(e.Class)
}

// counted is 1 for failures that are not the caller's own doing.
func counted(c llm.Class) int64 {
	switch c {
	case llm.ClassCaller, llm.ClassContext, llm.ClassNoTools, llm.ClassCanceled, llm.ClassAllCooling, llm.ClassNoProvider:
		return 0
	case llm.ClassRateLimit, llm.ClassOverloaded, llm.ClassQuota, llm.ClassCredential, llm.ClassPermission, llm.ClassModelAccess,
		llm.ClassTransient, llm.ClassRegion, llm.ClassUnknown:
	}
	return 1
}

// next is what to do after a failure of a class.
func next(c llm.Class) Next {
	switch c {
	case llm.ClassRateLimit, llm.ClassOverloaded, llm.ClassQuota, llm.ClassCredential, llm.ClassPermission, llm.ClassModelAccess, llm.ClassRegion:
		return OtherKey
	case llm.ClassTransient:
		return SameKey
	case llm.ClassCaller, llm.ClassContext, llm.ClassNoTools, llm.ClassCanceled, llm.ClassAllCooling, llm.ClassNoProvider, llm.ClassUnknown:
	}
	return Stop
}

// whyOf is what is kept of a failure; the provider's words are without secrets.
func whyOf(e *llm.Error) string {
	text := e.Message
	if text == "" {
		text = string(e.Class)
	}
	if e.Status != 0 {
		text = fmt.Sprintf("%d %s", e.Status, text)
	}
	const most = 200
	if r := []rune(text); len(r) > most {
		text = string(r[:most]) + "…"
	}
	return text
}

// release gives a key back of which nothing was learned.
func (p *Pool) release(l Lease) {
	p.mu.Lock()
	defer p.mu.Unlock()
	l.key.unprobe(&l)
}

// unprobe lets another request try the key, where l was the one that tried it.
func (k *key) unprobe(l *Lease) {
	if k.rest.prober == l.tick {
		k.rest.prober = 0
	}
	if m := k.models[l.Model]; m != nil && m.prober == l.tick {
		m.prober = 0
	}
}

// scope is what rests after a limit: the model, where the provider says so, else the key.
func (k *key) scope(l *Lease, e *llm.Error) *rest {
	if e.Scoped {
		return k.model(l.Model)
	}
	return &k.rest
}

func (k *key) model(name string) *rest {
	if k.models == nil {
		k.models = map[string]*rest{}
	}
	m := k.models[name]
	if m == nil {
		m = &rest{}
		k.models[name] = m
	}
	return m
}

// denied counts the models that the key is not permitted now.
func (k *key) denied(now int64) (n int) {
	for _, m := range k.models {
		if m.state == Blocked && now < m.until {
			n++
		}
	}
	return n
}

// Reset forgets what is known of a key, so that it is tried at once; an empty label means all keys of the provider, an empty
// provider all there are. It returns how many there were.
func (p *Pool) Reset(provider, label string) (n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for name, pr := range p.providers {
		if provider != "" && name != provider {
			continue
		}
		pr.overload = map[string]*overload{}
		for _, k := range pr.keys {
			if label == "" || k.Label == label {
				k.forget()
				k.resolved = false
				p.touch(k)
				n++
			}
		}
	}
	return n
}

// Next says what to do after a failure.
type Next string

// What there is to do.
const (
	Stop     Next = "stop"  // the failure is the answer
	SameKey  Next = "same"  // again with this key, in a moment
	OtherKey Next = "other" // with another key
	Overload Next = "wait"  // the provider is overloaded: again with this key, with growing pauses
)
