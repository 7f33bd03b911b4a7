package keypool

import (
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"log/slog"
	"math"
	"math/rand/v2"
	"path"
	"slices"
	"sync"
	"time"

	"collie/internal/llm"
)

// MaxKeys is how many keys one request tries at most.
const MaxKeys = 5

// Bounds of bindings.
const (
	bindingTime = time.Hour // since the last use
	maxBindings = 10_000
)

// lookTime is how long it takes at most until a refused key is tried that has another secret.
const lookTime = time.Minute

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

// Where all keys are free, a counter and the place of its key are compared as one number.
const (
	placeBits = 16
	maxPlaces = 1<<placeBits - 1
	maxWeight = 1 << 40 // of all keys together
)

// turn is what choosing looks at of each key: it is the hot part, without a pointer to follow.
type turn struct {
	weight, counter int
	free            bool // nothing keeps the key from any model
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

// stale is a key that was refused, and whose secret may be another one by now.
func (pr *provider) stale(now func() time.Time) *key {
	if pr.troubled {
		for _, k := range pr.keys {
			if k.invalid && !k.Disabled && (k.lookAt == 0 || now().UnixNano() >= k.lookAt) {
				return k
			}
		}
	}
	return nil
}

// later is when a refused key's secret is read again.
func (p *Pool) later() int64 { return p.now().Add(lookTime).UnixNano() }

// look takes a refused key up again if its secret is another one.
func (p *Pool) look(ctx context.Context, k *key) {
	p.mu.Lock()
	ref := k.Secret
	p.mu.Unlock()
	secret, err := "", error(nil)
	if ref != "" {
		secret, err = p.secret(ctx, ref)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	k.lookAt = p.later()
	if err == nil && k.Secret == ref && markOf(secret) != k.mark {
		k.forget()
		k.secret, k.resolved, k.mark = secret, true, markOf(secret)
		p.touch(k)
	}
}

// resolve reads the secret of a key that was chosen. One that cannot be read leaves the key out.
func (p *Pool) resolve(ctx context.Context, l *Lease) error {
	p.mu.Lock()
	k, ref := l.key, l.key.Secret
	p.mu.Unlock()
	secret, err := "", error(nil)
	if ref != "" {
		secret, err = p.secret(ctx, ref)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if err != nil {
		if ctx.Err() == nil {
			k.invalid, k.lookAt, k.why, k.mark = true, p.later(), err.Error(), ""
			p.providers[l.Provider].trouble()
			p.touch(k)
		}
		return err
	}
	k.secret, k.resolved, k.mark = secret, true, markOf(secret)
	l.secret = secret
	return nil
}

func (pr *provider) trouble() {
	if pr != nil {
		pr.troubled = true
	}
}

// markOf tells two secrets apart and says nothing of either.
func markOf(secret string) string {
	sum := sha256.Sum256([]byte("collie key " + secret))
	return fmt.Sprintf("%x", sum[:6])
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

// pick is smooth weighted round robin over the keys that can be used.
func (pr *provider) pick(r *Request, now int64) *key {
	if pr.calm && r.n == 0 {
		return pr.next()
	}
	best, most, total := -1, 0, 0
	for i := range pr.turns {
		t := &pr.turns[i]
		if !t.free {
			k := pr.keys[i]
			if t.weight == 0 || !k.fit(now) {
				t.counter = 0 // which catches nothing up when it returns
				continue
			}
			if !k.serves(r.Model, now) {
				continue
			}
		}
		if r.n > 0 && r.has(pr.keys[i]) {
			continue
		}
		t.counter += t.weight
		total += t.weight
		if best < 0 || t.counter > most {
			best, most = i, t.counter
		}
	}
	if best < 0 {
		return nil
	}
	pr.turns[best].counter -= total
	return pr.keys[best]
}

// next is pick where every key may be chosen. It goes through the keys without a branch: which one is ahead is what a
// processor cannot guess.
func (pr *provider) next() *key {
	top := math.MinInt
	for i := range pr.turns {
		t := &pr.turns[i]
		t.counter += t.weight
		top = max(top, t.counter<<placeBits|(maxPlaces-i)) // of equal ones the first
	}
	best := maxPlaces - top&maxPlaces
	pr.turns[best].counter -= pr.total
	return pr.keys[best]
}

// fit reports whether a key as a whole can be used.
func (k *key) fit(now int64) bool {
	return !k.Disabled && !k.invalid && (k.rest.until == 0 || k.rest.over(now))
}

// serves reports whether a key may be used for a model, and the model does not rest.
func (k *key) serves(model string, now int64) bool {
	if len(k.models) > 0 {
		if m := k.models[model]; m != nil && !m.over(now) {
			return false
		}
	}
	return len(k.Models) == 0 || k.allows(model)
}

func (k *key) allows(model string) bool {
	if len(k.Models) == 0 {
		return true
	}
	for _, pattern := range k.Models {
		if ok, _ := path.Match(pattern, model); ok || pattern == model {
			return true
		}
	}
	return false
}

func (pr *provider) usable(k *key, r *Request, now int64) bool {
	return k.fit(now) && !r.has(k) && k.serves(r.Model, now)
}

// lastResort is a key that would still rest, though the provider has said to come back by now.
func (pr *provider) lastResort(r *Request, now int64) *key {
	for _, k := range pr.keys {
		if k.Weight == 0 || k.Disabled || k.invalid || r.has(k) || !k.allows(r.Model) {
			continue
		}
		m := k.models[r.Model]
		if at := max(k.rest.returns(), m.returns()); at <= now && !k.rest.probing(now) && !m.probing(now) {
			return k
		}
	}
	return nil
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

// Again gives r a key once more that it has tried, after its wait. It forgets which keys r has tried, not how many.
func (r *Request) Again() { r.tried = [MaxKeys]*key{} }

// none says why there is no key.
func (pr *provider) none(r *Request, now int64) *llm.Error {
	e := &llm.Error{Provider: pr.name, Model: r.Model}
	var earliest int64
	var enabled, weighted, allowed, invalid int
	var why, blocked string
	for _, k := range pr.keys {
		if k.Disabled {
			continue
		}
		enabled++
		if k.Weight == 0 {
			continue
		}
		weighted++
		if !k.allows(r.Model) {
			continue
		}
		allowed++
		if k.invalid {
			invalid++
			why = k.Label + ": " + k.why
			continue
		}
		m := k.models[r.Model]
		if m != nil && m.state == Blocked && now < m.until {
			blocked = k.Label + ": " + m.why
			continue
		}
		at := max(k.rest.returns(), m.returns())
		if k.rest.probing(now) || m.probing(now) {
			at = max(at, now+int64(probePoll))
		}
		if at > now && (earliest == 0 || at < earliest) {
			earliest = at
		}
	}
	switch {
	case enabled == 0:
		e.Class, e.Message = llm.ClassNoProvider, "every key is disabled"
		e.Hint = fmt.Sprintf("collie keys list shows them; collie keys enable %s LABEL enables one", pr.name)
	case weighted == 0:
		e.Class, e.Message = llm.ClassNoProvider, "the weight of every key is 0, so none is used"
		e.Hint = fmt.Sprintf("give one a weight: collie keys set %s LABEL --weight 1", pr.name)
	case allowed == 0:
		e.Class, e.Message, e.Scoped = llm.ClassModelAccess, "no key may be used for this model", true
		e.Hint = "collie keys list shows the models of each key"
	case earliest != 0:
		e.Class, e.RetryAfter = llm.ClassAllCooling, time.Duration(earliest-now)
		e.Message = "no key can be used before " + time.Unix(0, earliest).Format(time.TimeOnly)
		e.Hint = "wait, or collie keys reset tries them at once"
	case blocked != "":
		e.Class, e.Message, e.Scoped = llm.ClassModelAccess, blocked, true
	case invalid > 0:
		e.Class, e.Message = llm.ClassCredential, why
		e.Hint = fmt.Sprintf("collie keys set %s LABEL takes a new key", pr.name)
	default:
		e.Class, e.Message = llm.ClassUnknown, "every key has been tried"
	}
	return e
}
