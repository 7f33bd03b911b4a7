package keypool

import (
	"context"
	"log/slog"
	"math/rand/v2"
	"sync"
	"time"
)

// This file has the pool itself: providers, their keys, and replacing them when the settings change.

// Key is an API key in the settings.
type Key struct {
	Label  string // unique in its provider; not secret
	Secret string // reference that Options.Secret resolves; empty for a provider without keys
	Weight int    // share of the requests; 0: only conversations that use the key already
	// Models are patterns, as for [path.Match], of the models that the key may be used for; none means all.
	Models   []string
	Disabled bool
}

// Provider is a provider with its keys.
type Provider struct {
	Name string
	Keys []Key
}

// Options are the options of [New]. With the zero value nothing is stored, and each Secret is the key itself.
type Options struct {
	// Secret resolves the Secret of a key. It is called at the first use of the key after each [Pool.Apply] or
	// [Pool.Reset], and again after the provider refused it.
	Secret func(ctx context.Context, ref string) (string, error)
	Store  Store            // nil: nothing is stored
	Now    func() time.Time // nil: time.Now
	Jitter func() float64   // in [0, 1); nil: random
	Logger *slog.Logger     // nil discards
}

// Pool holds the keys of all providers. It is safe for concurrent use.
type Pool struct {
	secret func(ctx context.Context, ref string) (string, error)
	store  Store
	now    func() time.Time
	// clock returns the time in Unix nanoseconds, for bindings. Without Options.Now it adds the monotonic time since New to
	// the time of New, which is twice as fast as time.Now.
	clock  func() int64
	jitter func() float64
	log    *slog.Logger

	mu        sync.Mutex
	providers map[string]*provider
	tick      uint64 // counts picks and failures, to order them without a clock
	saved     map[keyID]KeyState
	bindings  bindings
	saver     saver
}

// keyID identifies a key in the store.
type keyID struct{ provider, label string }

// provider is a provider with the state of its keys.
type provider struct {
	name     string
	keys     []*key
	slots    []slot // one per key, in the same order
	limited  bool   // a key rests or rested, so that the time has to be checked
	allFree  bool   // every key can be used
	total    int    // of the weights, if allFree
	overload map[string]*overload
}

// key is a key with its state.
type key struct {
	Key
	provider string

	secret      string
	resolved    bool
	recheckAt   int64 // when to read the secret of an invalid key again, since it may have been replaced
	invalid     bool
	why         string // why the key is invalid
	fingerprint string // of the secret, to detect that it was replaced

	rest   rest             // applies to all models
	models map[string]*rest // by model

	lastUsed          int64
	lastStatus        int
	successes, errors int64

	dirty, gone bool
}

// New returns a pool without providers; [Pool.Apply] sets them. With a Store, the caller must call [Pool.Close].
func New(o Options) *Pool {
	p := &Pool{
		secret: o.Secret, store: o.Store, now: o.Now, jitter: o.Jitter, log: o.Logger,
		providers: map[string]*provider{}, saved: map[keyID]KeyState{},
	}
	if p.secret == nil {
		p.secret = func(_ context.Context, ref string) (string, error) { return ref, nil }
	}
	p.clock = func() int64 { return p.now().UnixNano() }
	if p.now == nil {
		start := time.Now()
		p.now, p.clock = time.Now, func() int64 { return start.UnixNano() + int64(time.Since(start)) }
	}
	if p.jitter == nil {
		p.jitter = rand.Float64
	}
	if p.log == nil {
		p.log = slog.New(slog.DiscardHandler)
	}
	p.bindings.init()
	p.saver.turn = make(chan struct{}, 1)
	return p
}

// Apply replaces the providers by list. A key that was there before keeps its state and its turn. If its Secret changed, or
// it was disabled and is enabled again, its limits are cleared. Secrets are resolved again at the next use.
func (p *Pool) Apply(list []Provider) {
	p.mu.Lock()
	defer p.mu.Unlock()
	before := p.providers
	p.providers = make(map[string]*provider, len(list))
	for _, want := range list {
		pr := &provider{name: want.Name, limited: true, overload: map[string]*overload{}}
		old := before[want.Name]
		if old == nil {
			old = &provider{}
		}
		keys := want.Keys
		if len(keys) == 0 {
			keys = []Key{{Weight: 1}} // without a key, requests are limited all the same
		}
		for _, c := range keys {
			k := old.findKey(c.Label)
			switch {
			case k == nil:
				k = &key{provider: want.Name}
				k.restore(p.saved[keyID{want.Name, c.Label}])
			case k.Secret != c.Secret, k.Disabled && !c.Disabled:
				k.clear()
				p.markDirty(k)
			}
			k.Key, k.resolved, k.recheckAt = c, false, 0
			pr.keys = append(pr.keys, k)
			pr.slots = append(pr.slots, slot{weight: c.Weight, counter: old.counterOf(k)})
		}
		p.providers[want.Name] = pr
	}
	for name, old := range before {
		for _, k := range old.keys {
			if now := p.providers[name]; now == nil || now.findKey(k.Label) != k {
				k.gone = true
				delete(p.saved, keyID{name, k.Label})
				p.markDirty(k)
			}
		}
	}
}

// findKey returns the key with this label, or nil.
func (pr *provider) findKey(label string) *key {
	for _, k := range pr.keys {
		if k.Label == label {
			return k
		}
	}
	return nil
}

// counterOf returns the round-robin counter of k, 0 if k is not a key of pr.
func (pr *provider) counterOf(k *key) int {
	for i := range pr.keys {
		if pr.keys[i] == k {
			return pr.slots[i].counter
		}
	}
	return 0
}

// clear removes the limits of a key. Its counts stay.
func (k *key) clear() {
	k.invalid, k.why, k.rest, k.models, k.lastStatus = false, "", rest{}, nil, 0
}
