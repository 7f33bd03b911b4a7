package keypool

import (
	"crypto/sha256"
	"encoding/hex"
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
	used            int64
	kept            int64 // the use that is in the store

	dirty, gone bool
	prev, next  *binding // by last use
}

// bindings are the latest conversations, the newest first.
type bindings struct {
	all  map[session]*binding
	ends binding // next is the newest, prev the oldest
}

func (b *bindings) init() {
	b.all = map[session]*binding{}
	b.ends.next, b.ends.prev = &b.ends, &b.ends
}

// get is the binding of a conversation that has not been forgotten.
func (b *bindings) get(id session, now int64) *binding {
	x := b.all[id]
	if x == nil || now-x.used > int64(bindingTime) {
		return nil
	}
	return x
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
func (p *Pool) bind(x *binding, id session, provider, label string, now int64) {
	b := &p.bindings
	if x == nil {
		x = &binding{id: id, provider: provider}
		if out := b.add(x); out != nil {
			out.gone = true
			p.touchBinding(out)
		}
	} else {
		b.unlink(x)
		b.push(x)
	}
	changed := x.label != label || x.kept == 0 || now-x.kept > bindingGrain
	if x.label, x.used = label, now; changed {
		p.touchBinding(x)
	}
}
