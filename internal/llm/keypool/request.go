package keypool

import (
	"context"
	"fmt"
	"io"
	"slices"

	"collie/internal/llm"
)

// This file hands out keys to one request, a different one at each attempt.

// MaxKeys is the largest number of keys that one request tries.
const MaxKeys = 5

// Request is one request to a provider; it remembers the keys that were tried for it. Session is the conversation, empty
// for a request outside any. A Request is not safe for concurrent use.
type Request struct {
	Provider, Model, Session string

	tried [MaxKeys]*key
	n     int
}

func (r *Request) hasTried(k *key) bool { return slices.Contains(r.tried[:r.n], k) }

// Tried returns how many keys have been tried for the request.
func (r *Request) Tried() int { return r.n }

// Lease is a key for one request. The caller reports how the request ended with [Pool.MarkKeySuccess] or
// [Pool.MarkKeyError].
type Lease struct {
	Provider, Model, Label string
	// Bound reports whether the conversation used this key before.
	Bound bool

	secret string
	key    *key
	tick   uint64
}

// Reveal returns the secret key, to be sent to the provider; empty for a provider without keys.
func (l Lease) Reveal() string { return l.secret }

// Format prints provider and label with every verb, never the secret.
func (l Lease) Format(w fmt.State, _ rune) { _, _ = io.WriteString(w, l.Provider+"/"+l.Label) }

// RetryKeys lets r use the keys again that were tried, after a wait. They still count towards [MaxKeys].
func (r *Request) RetryKeys() { r.tried = [MaxKeys]*key{} }

// ResolveAPIKeyForRequest chooses a key for r that was not tried yet, and resolves its secret, for which ctx may end the
// wait. The error is an [*llm.Error]: of class [llm.ClassAllCooling] with RetryAfter if waiting helps, otherwise with the
// reason why no key can be used.
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
		if stale := pr.keyToRecheck(p.now); stale != nil {
			p.mu.Unlock()
			p.recheckSecret(ctx, stale)
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

// choose picks a key for r, if possible the one that the conversation used before. p.mu must be held.
func (p *Pool) choose(pr *provider, r *Request) (k *key, bound bool, err error) {
	var now int64
	switch {
	case pr.limited:
		now = p.now().UnixNano()
		pr.expire(now)
	case r.Session != "":
		now = p.clock()
	}
	if r.n < MaxKeys {
		var b *binding
		if r.Session != "" {
			if b = p.bindings.find(pr.name, r.Session); b != nil && now-b.used <= int64(bindingTTL) {
				if b.key == nil || b.key.gone {
					b.key = pr.findKey(b.label)
				}
				if k := b.key; k != nil && pr.isUsable(k, r, now) {
					p.bind(b, r.Session, k, now)
					p.handOut(pr, r, k, now)
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
			p.handOut(pr, r, k, now)
			return k, false, nil
		}
	}
	return nil, false, pr.noKeyError(r, now)
}

// handOut notes that r tries k. If k rested, r is the request that probes it.
func (p *Pool) handOut(pr *provider, r *Request, k *key, now int64) {
	p.tick++
	if pr.limited {
		k.rest.startProbe(p.tick, now)
		k.models[r.Model].startProbe(p.tick, now)
	}
	if r.n < MaxKeys {
		r.tried[r.n] = k
		r.n++
	}
}

// LeaseOf returns a certain key of a provider even if it rests or is invalid, so that a person can test it. An empty label
// means the first key. The error is an [*llm.Error].
func (p *Pool) LeaseOf(ctx context.Context, provider, label string) (Lease, error) {
	p.mu.Lock()
	pr := p.providers[provider]
	var k *key
	if pr != nil {
		if k = pr.findKey(label); label == "" {
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
