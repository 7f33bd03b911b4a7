package keypool

import (
	"context"
	"fmt"

	"collie/internal/llm"
)

// This file learns from how requests end: it lets keys rest, and says whether to try again.

// MarkKeySuccess reports that the provider began to answer the request of l. It ends a rest that began before the request.
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
	p.markDirty(k)
}

// MarkKeyValid reports that the provider accepted the key of l in a request that has no limits, such as a list of models.
func (p *Pool) MarkKeyValid(l Lease) {
	p.mu.Lock()
	defer p.mu.Unlock()
	l.key.endProbe(&l)
	if l.key.invalid {
		l.key.clear()
		p.providers[l.Provider].markLimited()
		p.markDirty(l.key)
	}
}

// invalidAfter is how many models a provider may forbid to a key before the whole key counts as invalid.
const invalidAfter = 3

// MarkKeyError reports that the request of l failed with e, and returns what to do next. If the provider refused the key,
// its secret is read again, for which ctx may end the wait. If it was replaced, l holds the new one, and the result is
// [SameKey].
func (p *Pool) MarkKeyError(ctx context.Context, l *Lease, e *llm.Error) Next {
	if l.key == nil {
		return Stop
	}
	if e.Class == llm.ClassCredential && p.secretChanged(ctx, l) {
		return SameKey
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	k, now := l.key, p.now().UnixNano()
	p.tick++
	k.lastUsed, k.lastStatus = now, e.Status
	pr := p.providers[l.Provider]
	if k.gone || pr == nil {
		return nextAfter(e.Class)
	}
	k.errors += errorCount(e.Class)
	pr.limited = true
	p.markDirty(k)
	defer k.endProbe(l)
	why := reasonOf(e)
	switch e.Class {
	case llm.ClassOverloaded:
		return p.markOverloaded(pr, *l, e, now)
	case llm.ClassRateLimit:
		k.restFor(l, e).cool(*l, p.tick, now, e.RetryAfter, p.jitter(), why)
	case llm.ClassQuota:
		k.restFor(l, e).exhaust(*l, p.tick, now, why)
	case llm.ClassCredential:
		if k.fingerprint == fingerprintOf(l.secret) { // otherwise the secret was replaced meanwhile
			k.invalid, k.recheckAt, k.why = true, p.nextRecheck(), why
		}
	case llm.ClassPermission, llm.ClassModelAccess:
		m := k.model(l.Model)
		m.state, m.since, m.startTick, m.why = Blocked, now, p.tick, why
		m.lengthen(now + int64(blockDuration))
		if e.Class == llm.ClassPermission && k.blockedModels(now) >= invalidAfter {
			k.invalid, k.recheckAt, k.why = true, p.nextRecheck(), why
		}
	case llm.ClassTransient, llm.ClassRegion, llm.ClassCaller, llm.ClassContext, llm.ClassNoTools, llm.ClassCanceled,
		llm.ClassAllCooling, llm.ClassNoProvider, llm.ClassUnknown:
	}
	return nextAfter(e.Class)
}

// errorCount returns 1 for failures that the key or its provider caused, 0 for those of the caller.
func errorCount(c llm.Class) int64 {
	switch c {
	case llm.ClassCaller, llm.ClassContext, llm.ClassNoTools, llm.ClassCanceled, llm.ClassAllCooling, llm.ClassNoProvider:
		return 0
	case llm.ClassRateLimit, llm.ClassOverloaded, llm.ClassQuota, llm.ClassCredential, llm.ClassPermission, llm.ClassModelAccess,
		llm.ClassTransient, llm.ClassRegion, llm.ClassUnknown:
	}
	return 1
}

// nextAfter returns what to do after a failure of a class.
func nextAfter(c llm.Class) Next {
	switch c {
	case llm.ClassRateLimit, llm.ClassOverloaded, llm.ClassQuota, llm.ClassCredential, llm.ClassPermission, llm.ClassModelAccess, llm.ClassRegion:
		return OtherKey
	case llm.ClassTransient:
		return SameKey
	case llm.ClassCaller, llm.ClassContext, llm.ClassNoTools, llm.ClassCanceled, llm.ClassAllCooling, llm.ClassNoProvider, llm.ClassUnknown:
	}
	return Stop
}

// reasonOf returns the text about a failure that is kept. The message of the provider has its secrets removed already.
func reasonOf(e *llm.Error) string {
	text := e.Message
	if text == "" {
		text = string(e.Class)
	}
	if e.Status != 0 {
		text = fmt.Sprintf("%d %s", e.Status, text)
	}
	const maxLength = 200
	if r := []rune(text); len(r) > maxLength {
		text = string(r[:maxLength]) + "…"
	}
	return text
}

// release returns a key whose request was not sent.
func (p *Pool) release(l Lease) {
	p.mu.Lock()
	defer p.mu.Unlock()
	l.key.endProbe(&l)
}

// endProbe lets another request probe the key, if l was probing it.
func (k *key) endProbe(l *Lease) {
	if k.rest.probeTick == l.tick {
		k.rest.probeTick = 0
	}
	if m := k.models[l.Model]; m != nil && m.probeTick == l.tick {
		m.probeTick = 0
	}
}

// restFor returns the rest that a limit begins: that of the model if the limit is about one model, otherwise of the key.
func (k *key) restFor(l *Lease, e *llm.Error) *rest {
	if e.Scoped {
		return k.model(l.Model)
	}
	return &k.rest
}

// model returns the rest of a model, which it creates if needed.
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

// blockedModels counts the models that the key may not use now.
func (k *key) blockedModels(now int64) (n int) {
	for _, m := range k.models {
		if m.state == Blocked && now < m.until {
			n++
		}
	}
	return n
}

// Reset clears the limits of a key, so that it is tried at once. An empty label means all keys of the provider, an empty
// provider those of all. It returns the number of keys.
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
				k.clear()
				k.resolved = false
				p.markDirty(k)
				n++
			}
		}
	}
	return n
}

// Next is what to do after a failure.
type Next string

// The values of [Next].
const (
	Stop     Next = "stop"  // report the failure
	SameKey  Next = "same"  // try this key again, after a short pause
	OtherKey Next = "other" // try another key
	Overload Next = "wait"  // the provider is overloaded: try this key again, with growing pauses
)
