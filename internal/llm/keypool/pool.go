package keypool

import (
	"context"
	"log/slog"
	"math/rand/v2"
	"sync"
	"time"
)

// Key is a key as the settings have it.
type Key struct {
	Label  string // unique in its provider; never the key
	Secret string // what Options.Secret makes the key of; empty for a provider that wants none
	Weight int    // share of the requests; 0: none that begins a conversation
	// Models are patterns, as of [path.Match], of the models that the key may be used for; none means all.
	Models   []string
	Disabled bool
}

// Provider is whose keys they are.
type Provider struct {
	Name string
	Keys []Key
}

// Options of [New]. The zero value keeps nothing, and takes secrets as they are written.
type Options struct {
	// Secret reads what the Secret of a key stands for. It is called at the first use of a key, and once
	// more when a provider refuses it.
	Secret func(ctx context.Context, ref string) (string, error)
	Store  Store
	Now    func() time.Time
	Jitter func() float64 // from 0 to below 1
	Logger *slog.Logger
}

// Pool is the keys of all providers. It is safe for concurrent use.
type Pool struct {
	secret func(ctx context.Context, ref string) (string, error)
	store  Store
	now    func() time.Time
	// clock is now in Unix nanoseconds, for bindings. Unless the caller brings a clock it is asked for the time since New alone,
	// which takes half as long as the time of day.
	clock  func() int64
	jitter func() float64
	log    *slog.Logger

	mu        sync.Mutex
	providers map[string]*provider
	tick      uint64 // counts picks and failures, which orders them without a clock
	saved     map[place]KeyState
	bindings  bindings
	saver     saver
}

type place struct{ provider, label string }

type provider struct {
	name     string
	keys     []*key
	turns    []turn // one a key, in the same order
	troubled bool   // some key rests, or did: the time matters
	calm     bool   // every key is free
	total    int    // of the weights, where it is calm
	overload map[string]*overload
}

// key is a key and what is known of it.
type key struct {
	Key
	provider string

	secret   string
	resolved bool
	lookAt   int64 // when the secret of an invalid key is read again, which may be another one by then
	invalid  bool
	why      string // of invalid
	mark     string // of the secret, to tell another one apart

	rest   rest             // of the whole key
	models map[string]*rest // of single models

	lastUsed          int64
	lastStatus        int
	successes, errors int64

	dirty, gone bool
}

// New returns a pool without providers, which [Pool.Apply] gives it. With a Store, [Pool.Close] has to be called.
func New(o Options) *Pool {
	p := &Pool{
		secret: o.Secret, store: o.Store, now: o.Now, jitter: o.Jitter, log: o.Logger,
		providers: map[string]*provider{}, saved: map[place]KeyState{},
	}
	if p.secret == nil {
		p.secret = func(_ context.Context, ref string) (string, error) { return ref, nil }
	}
	p.clock = func() int64 { return p.now().UnixNano() }
	if p.now == nil {
		begun := time.Now()
		p.now, p.clock = time.Now, func() int64 { return begun.UnixNano() + int64(time.Since(begun)) }
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

// Apply makes list the providers. Keys that were there keep what is known of them, and their turn; one with
// another Secret begins anew, and so does one that is enabled again. What secrets stand for is read again when it is needed.
func (p *Pool) Apply(list []Provider) {
	p.mu.Lock()
	defer p.mu.Unlock()
	before := p.providers
	p.providers = make(map[string]*provider, len(list))
	for _, want := range list {
		pr := &provider{name: want.Name, troubled: true, overload: map[string]*overload{}}
		old := before[want.Name]
		if old == nil {
			old = &provider{}
		}
		keys := want.Keys
		if len(keys) == 0 {
			keys = []Key{{Weight: 1}} // a provider that wants none rests as others do
		}
		for _, c := range keys {
			k := old.key(c.Label)
			switch {
			case k == nil:
				k = &key{provider: want.Name}
				k.restore(p.saved[place{want.Name, c.Label}])
			case k.Secret != c.Secret, k.Disabled && !c.Disabled:
				k.forget()
			}
			k.Key, k.resolved, k.lookAt = c, false, 0
			pr.keys = append(pr.keys, k)
			pr.turns = append(pr.turns, turn{weight: c.Weight, counter: old.counter(k)})
		}
		p.providers[want.Name] = pr
	}
	for name, old := range before {
		for _, k := range old.keys {
			if now := p.providers[name]; now == nil || now.key(k.Label) != k {
				k.gone = true
				delete(p.saved, place{name, k.Label})
				p.touch(k)
			}
		}
	}
}

func (pr *provider) key(label string) *key {
	for _, k := range pr.keys {
		if k.Label == label {
			return k
		}
	}
	return nil
}

// counter is where a key stands in its turns.
func (pr *provider) counter(k *key) int {
	for i := range pr.keys {
		if pr.keys[i] == k {
			return pr.turns[i].counter
		}
	}
	return 0
}

// forget makes a key one of which nothing is known.
func (k *key) forget() {
	k.invalid, k.why, k.rest, k.models, k.lastStatus = false, "", rest{}, nil, 0
}
