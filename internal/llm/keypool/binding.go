package keypool

import (
	"crypto/sha256"
	"encoding/hex"
	"hash/maphash"
	"time"
)

// Bounds of bindings.
const (
	bindingTime = time.Hour // since the last use
	maxBindings = 10_000
)

// session is a conversation at a provider, hashed, so that nothing kept says which one it is.
type session [16]byte

func (s session) String() string { return hex.EncodeToString(s[:]) }

func parseSession(text string) (s session, ok bool) {
	if len(text) != hex.EncodedLen(len(s)) {
		return s, false
	}
	n, err := hex.Decode(s[:], []byte(text))
	return s, err == nil && n == len(s)
}

func sessionOf(provider, id string) session {
	var b [160]byte // on the stack
	text := append(append(append(b[:0], provider...), 0), id...)
	sum := sha256.Sum256(text)
	return session(sum[:16])
}

// binding is the key that a conversation uses.
type binding struct {
	id              session
	provider, label string
	key             *key // of that label, nil where it has not been looked up
	used            int64
	kept            int64 // the use that is in the store

	dirty, gone bool
	prev, next  *binding // by last use
}

// bindings are the latest conversations, the newest first.
type bindings struct {
	all  map[session]*binding
	ends binding // next is the newest, prev the oldest

	seed  maphash.Seed
	known []known // made with the first binding
}

// known is a conversation whose binding was found, so that it is hashed once and not with each request. What is kept of a
// conversation must be the same in another process and say nothing of it; how it is found in this one need not.
type known struct {
	provider, session string
	binding           *binding
}

// maxKnown is how many conversations are known; it is a power of two. Two of the same place take turns.
const maxKnown = 1024

func (b *bindings) init() {
	b.all, b.seed = map[session]*binding{}, maphash.MakeSeed()
	b.ends.next, b.ends.prev = &b.ends, &b.ends
}

// place is where a conversation is known, if it is.
func (b *bindings) place(session string) *known {
	if b.known == nil {
		b.known = make([]known, maxKnown)
	}
	return &b.known[maphash.String(b.seed, session)%maxKnown]
}

// find is the binding of a conversation; nil if it has none.
func (b *bindings) find(provider, session string) *binding {
	at := b.place(session)
	if at.session != session || at.provider != provider || at.binding.gone {
		x := b.all[sessionOf(provider, session)]
		if x == nil {
			return nil
		}
		*at = known{provider, session, x}
	}
	return at.binding
}

func (b *bindings) unlink(x *binding) { x.prev.next, x.next.prev = x.next, x.prev }

func (b *bindings) push(x *binding) {
	x.prev, x.next = &b.ends, b.ends.next
	x.prev.next, x.next.prev = x, x
}

// add puts a binding in, and the oldest one out where there are too many.
func (b *bindings) add(x *binding) (out *binding) {
	b.all[x.id] = x
	b.push(x)
	if len(b.all) > maxBindings {
		out = b.ends.prev
		b.unlink(out)
		delete(b.all, out.id)
	}
	return out
}

// bindingGrain is how much older a kept use may be than the last one.
const bindingGrain = int64(bindingTime) / 60

// bind notes that a conversation uses a key. x is its binding, nil if it has none.
func (p *Pool) bind(x *binding, session string, k *key, now int64) {
	b := &p.bindings
	if x == nil {
		x = &binding{id: sessionOf(k.provider, session), provider: k.provider}
		if out := b.add(x); out != nil {
			out.gone = true
			p.touchBinding(out)
		}
	} else {
		b.unlink(x)
		b.push(x)
	}
	changed := x.key != k && x.label != k.Label || x.kept == 0 || now-x.kept > bindingGrain
	if x.key, x.label, x.used = k, k.Label, now; changed {
		p.touchBinding(x)
	}
}
