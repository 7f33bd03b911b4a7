package workspace

import (
	"maps"
	"slices"
	"sync"
	"sync/atomic"

	"zombiezen.com/go/sqlite"
)

// Keys has what a search needs of each of its hits: document, kind, order of kinds, and time of the last change, for
// all blocks that a transaction sees. They are immutable.
type Keys struct {
	revs   []docRev         // revisions of the documents they cover, by number
	chunks []*[keyChunk]key // by number of the block; nil if it has none
	kinds  []string         // what key.kind counts
	odd    map[int64]string // times of blocks that are not valid stamps
}

// Key is an entry of [Keys].
type Key struct {
	Doc  int64
	Kind int // see [Keys.Kinds]
	Sort int
	// Stamp and Odd sort like the texts of times, Stamp first. Odd is empty for a regular time.
	Stamp uint64
	Odd   string
}

type docRev struct{ n, rev int64 }

type key struct {
	stamp uint64
	doc   uint32 // 0 if there is no block
	sort  uint16
	kind  uint8
}

const (
	keyChunk = 1024
	// maxKeys bounds block numbers, at 16 bytes each.
	maxKeys = 2_000_000
	// maxKinds bounds the kinds of blocks that key has numbers for.
	maxKinds = 256
)

// keyCache keeps the last Keys. It is safe for concurrent use.
type keyCache struct {
	last atomic.Pointer[Keys]
	// seen are the Keys of what a connection saw at a version of its data, by *sqlite.Conn.
	seen sync.Map
}

type seenKeys struct {
	version int64
	keys    *Keys
}

func (k *keyCache) empty() {
	k.last.Store(nil)
	k.seen.Clear()
}

// Keys returns the keys of the blocks that a View sees. They are derived from the last ones by reading documents
// whose revision changed. It is nil in an Update, and if there are too many blocks.
func (tx *Tx) Keys() *Keys {
	if tx.write || tx.err != nil {
		return nil
	}
	ring := &tx.ws.keys
	version, _ := tx.number("PRAGMA data_version")
	if seen, ok := ring.seen.Load(tx.conn); ok && seen.(seenKeys).version == version {
		return seen.(seenKeys).keys
	}
	keys := tx.makeKeys(ring.last.Load())
	if keys == nil || tx.err != nil {
		return nil
	}
	ring.last.Store(keys)
	ring.seen.Store(tx.conn, seenKeys{version, keys})
	return keys
}

// makeKeys returns the keys of what tx sees, derived from earlier ones, which may be nil.
func (tx *Tx) makeKeys(from *Keys) *Keys {
	if last, _ := tx.number("SELECT max(n) FROM node"); last >= maxKeys {
		return nil
	}
	builder := &keyBuilder{Keys: Keys{odd: map[int64]string{}}}
	tx.query(func(s *sqlite.Stmt) bool {
		builder.revs = append(builder.revs, docRev{s.ColumnInt64(0), s.ColumnInt64(1)})
		return true
	}, "SELECT n, rev FROM document ORDER BY n")
	if from == nil {
		tx.query(builder.read, keyColumns+" INDEXED BY node_hit")
		return builder.done(tx.err)
	}
	stale, removed := staleDocuments(from.revs, builder.revs)
	if len(stale) == 0 && len(removed) == 0 {
		return from
	}
	builder.chunks, builder.kinds, builder.odd = slices.Clone(from.chunks), slices.Clone(from.kinds), maps.Clone(from.odd)
	builder.forget(removed)
	for _, doc := range stale {
		tx.query(builder.read, keyColumns+" WHERE doc = ?", doc)
	}
	return builder.done(tx.err)
}

// keyBuilder makes Keys that share chunks with earlier ones.
type keyBuilder struct {
	Keys
	own []bool // chunks that only these Keys use
}

func (k *keyBuilder) done(err error) *Keys {
	if err != nil || len(k.kinds) > maxKinds {
		return nil
	}
	return &k.Keys
}

// chunk returns a chunk for writing.
func (k *keyBuilder) chunk(at int) *[keyChunk]key {
	for len(k.chunks) <= at {
		k.chunks = append(k.chunks, nil)
	}
	for len(k.own) <= at {
		k.own = append(k.own, false)
	}
	switch {
	case k.own[at]:
	case k.chunks[at] == nil:
		k.chunks[at] = &[keyChunk]key{}
	default:
		copied := *k.chunks[at]
		k.chunks[at] = &copied
	}
	k.own[at] = true
	return k.chunks[at]
}

const keyColumns = "SELECT n, doc, type, sort, updated FROM node"

// staleDocuments returns the documents to read, and those whose keys are outdated; the latter include removed documents.
func staleDocuments(before, now []docRev) (stale []int64, removed map[int64]bool) {
	removed = map[int64]bool{}
	for len(before) > 0 || len(now) > 0 {
		switch {
		case len(now) == 0 || len(before) > 0 && before[0].n < now[0].n:
			removed[before[0].n] = true
			before = before[1:]
		case len(before) == 0 || now[0].n < before[0].n:
			stale = append(stale, now[0].n)
			now = now[1:]
		default:
			if before[0].rev != now[0].rev {
				stale = append(stale, now[0].n)
				removed[now[0].n] = true
			}
			before, now = before[1:], now[1:]
		}
	}
	return stale, removed
}

// forget drops the keys of documents.
func (k *keyBuilder) forget(docs map[int64]bool) {
	if len(docs) == 0 {
		return
	}
	for at, chunk := range k.chunks {
		if chunk == nil {
			continue
		}
		remaining := 0
		for i := range chunk {
			switch doc := int64(chunk[i].doc); {
			case doc == 0:
			case !docs[doc]:
				remaining++
			default:
				k.chunk(at)[i] = key{}
				delete(k.odd, int64(at*keyChunk+i))
			}
		}
		if remaining == 0 {
			k.chunks[at] = nil
			if at < len(k.own) {
				k.own[at] = false
			}
		}
	}
}

// read adds a row of keyColumns.
func (k *keyBuilder) read(s *sqlite.Stmt) bool {
	n, name := s.ColumnInt64(0), s.ColumnText(2)
	kind := slices.Index(k.kinds, name)
	if kind < 0 {
		kind = len(k.kinds)
		k.kinds = append(k.kinds, name)
	}
	stamp, odd := stampOf(s.ColumnText(4))
	if odd != "" {
		k.odd[n] = odd
	}
	k.chunk(int(n / keyChunk))[n%keyChunk] = key{
		stamp: stamp, doc: uint32(s.ColumnInt64(1)), sort: uint16(s.ColumnInt64(3)), kind: uint8(kind),
	}
	return true
}

// Kinds returns the kinds of blocks by [Key.Kind].
func (k *Keys) Kinds() []string { return k.kinds }

// At returns the key of a block by its number.
func (k *Keys) At(n int64) (key Key, found bool) {
	at := int(n / keyChunk)
	if n < 0 || at >= len(k.chunks) || k.chunks[at] == nil {
		return Key{}, false
	}
	held := &k.chunks[at][n%keyChunk]
	if held.doc == 0 {
		return Key{}, false
	}
	key = Key{Doc: int64(held.doc), Kind: int(held.kind), Sort: int(held.sort), Stamp: held.stamp}
	if len(k.odd) > 0 {
		key.Odd = k.odd[n]
	}
	return key, true
}

// stampDigits is the length of a time as text.
const stampDigits = 14

// stampOf converts the text of a time to a number with the same order. A text that is not a time gets the number of
// the last time before it, and is returned as odd.
func stampOf(text string) (stamp uint64, odd string) {
	value, i := uint64(0), 0
	for i < len(text) && i < stampDigits && '0' <= text[i] && text[i] <= '9' {
		value = value*10 + uint64(text[i]-'0')
		i++
	}
	if i == stampDigits { // 1 more, so that there is a number before all times
		if len(text) > stampDigits {
			odd = text
		}
		return value + 1, odd
	}
	behind := i < len(text) && text[i] > '9' // after all times with the same beginning
	for range stampDigits - i {
		value *= 10
		if behind {
			value += 9
		}
	}
	if behind {
		value++
	}
	if text == "" {
		text = "\x00"
	}
	return value, text
}
