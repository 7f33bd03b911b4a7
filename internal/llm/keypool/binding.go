package keypool

import (
	"crypto/sha256"
	"encoding/hex"
	"hash/maphash"
	"time"
)

// This file remembers which key a conversation uses, because providers cache prompts by key.

// Limits of bindings.
const (
	bindingTTL  = time.Hour // since the last use
	maxBindings = 10_000
)

// session is the hash of a conversation and a provider, so that the store does not reveal the conversation.
type session [16]byte

func (s session) String() string { return hex.EncodeToString(s[:]) }

func parseSession(text string) (s session, ok bool) {
	if len(text) != hex.EncodedLen(len(s)) {
		return s, false
	}
	n, err := hex.Decode(s[:], []byte(text))
	return s, err == nil && n == len(s)
}

// sessionOf hashes the id of a conversation.
func sessionOf(provider, id string) session {
	var b [160]byte // on the stack
	text := append(append(append(b[:0], provider...), 0), id...)
	sum := sha256.Sum256(text)
	return session(sum[:16])
}

// binding says which key a conversation uses.
type binding struct {
	id              session
	provider, label string
	key             *key // with that label; nil until looked up
	used            int64
	stored          int64 // the value of used in the store

	dirty, gone bool
	prev, next  *binding // by last use
}

// bindings are the conversations that were used last, as a map and a list. The list begins with the newest.
type bindings struct {
	all  map[session]*binding
	ends binding // sentinel of the list: next is the newest, prev the oldest

	seed  maphash.Seed
	cache []cacheEntry // of find; allocated with the first binding
}

// cacheEntry is a binding that find has found, so that the id of a conversation is hashed with SHA-256 once and not for
// each request. The cache itself can use a faster hash, because it is not stored.
type cacheEntry struct {
	provider, session string
	binding           *binding
}

// cacheSize is the number of entries, a power of two. Conversations with the same hash replace each other.
const cacheSize = 1024

func (b *bindings) init() {
	b.all, b.seed = map[session]*binding{}, maphash.MakeSeed()
	b.ends.next, b.ends.prev = &b.ends, &b.ends
}

// entry returns the cache entry for a conversation, which may hold another one.
func (b *bindings) entry(session string) *cacheEntry {
	if b.cache == nil {
		b.cache = make([]cacheEntry, cacheSize)
	}
	return &b.cache[maphash.String(b.seed, session)%cacheSize]
}

// find returns the binding of a conversation, nil if it has none.
func (b *bindings) find(provider, session string) *binding {
	e := b.entry(session)
	if e.session != session || e.provider != provider || e.binding.gone {
		x := b.all[sessionOf(provider, session)]
		if x == nil {
			return nil
		}
		*e = cacheEntry{provider, session, x}
	}
	return e.binding
}

func (b *bindings) unlink(x *binding) { x.prev.next, x.next.prev = x.next, x.prev }

func (b *bindings) pushFront(x *binding) {
	x.prev, x.next = &b.ends, b.ends.next
	x.prev.next, x.next.prev = x, x
}

// add adds a binding. If there are too many, it removes the oldest one and returns it.
func (b *bindings) add(x *binding) (removed *binding) {
	b.all[x.id] = x
	b.pushFront(x)
	if len(b.all) > maxBindings {
		removed = b.ends.prev
		b.unlink(removed)
		delete(b.all, removed.id)
	}
	return removed
}

// storeInterval is the longest time by which the stored use of a binding may lag behind, so that not every request writes.
const storeInterval = int64(bindingTTL) / 60

// bind notes that a conversation uses k. x is its binding so far, nil if it has none.
func (p *Pool) bind(x *binding, session string, k *key, now int64) {
	b := &p.bindings
	if x == nil {
		x = &binding{id: sessionOf(k.provider, session), provider: k.provider}
		if removed := b.add(x); removed != nil {
			removed.gone = true
			p.markBindingDirty(removed)
		}
	} else if b.ends.next != x {
		b.unlink(x)
		b.pushFront(x)
	}
	changed := x.key != k && x.label != k.Label || x.stored == 0 || now-x.stored > storeInterval
	if x.key, x.label, x.used = k, k.Label, now; changed {
		p.markBindingDirty(x)
	}
}
