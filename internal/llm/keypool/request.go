package keypool

import (
	"context"
	"fmt"
	"io"
	"slices"

	"collie/internal/llm"
)

// MaxKeys is how many keys one request tries at most.
const MaxKeys = 5

// Request is one request on its way; it knows which keys it has tried. Session may be empty, for requests
// that belong to no conversation. It is for one goroutine.
type Request struct {
	Provider, Model, Session string

	tried [MaxKeys]*key
	n     int
}

func (r *Request) has(k *key) bool { return slices.Contains(r.tried[:r.n], k) }

// Tried is how many keys the request has been given.
func (r *Request) Tried() int { return r.n }

// Lease is a key for one request. Its end is told with [Pool.MarkKeySuccess] or [Pool.MarkKeyError].
type Lease struct {
	Provider, Model, Label string
	// Bound says that the conversation used this key before.
	Bound bool

	secret string
	key    *key
	tick   uint64
}

// Reveal returns the key, for the one place that sends it; empty where the provider wants none.
func (l Lease) Reveal() string { return l.secret }

// Format keeps every verb from printing the key.
func (l Lease) Format(w fmt.State, _ rune) { _, _ = io.WriteString(w, l.Provider+"/"+l.Label) }

// Again gives r a key once more that it has tried, after its wait. It forgets which keys r has tried, not how many.
func (r *Request) Again() { r.tried = [MaxKeys]*key{} }

// ResolveAPIKeyForRequest (resolveApiKeyForRequest) chooses a key for r that r has not tried yet. The error is
// an [*llm.Error]: [llm.ClassAllCooling] with RetryAfter where waiting helps, else what keeps every key from being used.
// ctx bounds how long a secret is read.
func (p *Pool) ResolveAPIKeyForRequest(ctx context.Context, r *Request) (l Lease, err error) {
	for {
		p.mu.Lock()
		pr := p.providers[r.Provider]
		if pr == nil {
			p.mu.Unlock()
			return Lease{}, &llm.Error{
				Class: llm.ClassNoProvider, Provider: r.Provider, Message: "there is no such provider",
				Hint: "collie provider list shows them; collie provider add NAME adds one",
			}
		}
		if stale := pr.stale(p.now); stale != nil {
			p.mu.Unlock()
			p.look(ctx, stale)
			continue
		}
		k, bound, err := p.choose(pr, r)
		if err != nil {
			p.mu.Unlock()
			return Lease{}, err
		}
		l = Lease{Provider: pr.name, Model: r.Model, Label: k.Label, Bound: bound, secret: k.secret, key: k, tick: p.tick}
		resolved := k.resolved
		p.mu.Unlock()
		if resolved {
			return l, nil
		}
		if err := p.resolve(ctx, &l); err == nil {
			return l, nil
		} else if ctx.Err() != nil {
			p.release(l)
			return Lease{}, &llm.Error{Class: llm.ClassCanceled, Provider: l.Provider, Key: l.Label, Err: context.Cause(ctx)}
		}
	}
}

// choose picks a key and says whether the conversation used it before. The caller holds p.mu.
func (p *Pool) choose(pr *provider, r *Request) (k *key, bound bool, err error) {
	var now int64
	switch {
	case pr.troubled:
		now = p.now().UnixNano()
		pr.expire(now)
	case r.Session != "":
		now = p.clock()
	}
	if r.n < MaxKeys {
		var b *binding
		if r.Session != "" {
			if b = p.bindings.find(pr.name, r.Session); b != nil && now-b.used <= int64(bindingTime) {
				if b.key == nil || b.key.gone {
					b.key = pr.key(b.label)
				}
				if k := b.key; k != nil && pr.usable(k, r, now) {
					p.bind(b, r.Session, k, now)
					p.hand(pr, r, k, now)
					return k, true, nil
				}
			}
		}
		if k = pr.pick(r, now); k == nil {
			k = pr.lastResort(r, now)
		}
		if k != nil {
			if r.Session != "" {
				p.bind(b, r.Session, k, now)
			}
			p.hand(pr, r, k, now)
			return k, false, nil
		}
	}
	return nil, false, pr.none(r, now)
}

// hand gives a key out. Where it rested, the request is the one that tries it.
func (p *Pool) hand(pr *provider, r *Request, k *key, now int64) {
	p.tick++
	if pr.troubled {
		k.rest.probe(p.tick, now)
		k.models[r.Model].probe(p.tick, now)
	}
	if r.n < MaxKeys {
		r.tried[r.n] = k
		r.n++
	}
}

// LeaseOf gives out one key of a provider, whatever is known of it, so that it can be tried. An empty label means the first
// one. The error is an [*llm.Error].
func (p *Pool) LeaseOf(ctx context.Context, provider, label string) (Lease, error) {
	p.mu.Lock()
	pr := p.providers[provider]
	var k *key
	if pr != nil {
		if k = pr.key(label); label == "" {
			k = pr.keys[0]
		}
	}
	if k == nil {
		p.mu.Unlock()
		return Lease{}, &llm.Error{
			Class: llm.ClassNoProvider, Provider: provider, Key: label, Message: "there is no such key", Hint: "collie keys list shows them",
		}
	}
	p.tick++
	l := Lease{Provider: provider, Label: k.Label, key: k, tick: p.tick}
	p.mu.Unlock()
	if err := p.resolve(ctx, &l); err != nil {
		return Lease{}, &llm.Error{Class: llm.ClassCredential, Provider: provider, Key: l.Label, Message: err.Error(), Err: err}
	}
	return l, nil
}
