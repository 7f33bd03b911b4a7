package workspace

import (
	"maps"
	"slices"
	"sync"
	"sync/atomic"

	"zombiezen.com/go/sqlite"
)

// This file caches, for all blocks, what searches need to sort and filter their hits.

// Keys has what a search needs to sort and filter its hits: document, kind, rank of the kind, and time of the last
// change, for all blocks that a transaction sees. Keys are immutable.
type Keys struct {
	revs   []docRev         // revisions of the documents they cover, by number
	chunks []*[keyChunk]key // by number of the block; nil if it has none
	kinds  []string         // by key.kind
	odd    map[int64]string // times of blocks that are not valid stamps

	// Results caches values that are derived from the same blocks, such as the results of searches. It is the only part
	// that changes.
	Results ResultCache
}

// Key is an entry of [Keys].
type Key struct {
	Doc  int64
	Kind int // see [Keys.Kinds]
	Sort int
	// Stamp and Odd stand for the time: sorting by Stamp and then by Odd gives the order of the texts. Odd is "" for a
	// regular time.
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
	// maxKinds bounds the kinds of blocks, since key.kind is a byte.
	maxKinds = 256
)

// keyCache keeps the last Keys and those that each connection saw. It is safe for concurrent use.
type keyCache struct {
	last atomic.Pointer[Keys]
	// byConn has a versionedKeys by *sqlite.Conn: what that connection saw at a version of its data.
	byConn sync.Map
}

type versionedKeys struct {
	version int64
	keys    *Keys
}

func (k *keyCache) empty() {
	k.last.Store(nil)
	k.byConn.Clear()
}

// Keys returns the keys of the blocks that a View sees. They are derived from the last ones by reading only documents
// whose revision changed. The result is nil in an Update, after an error, and if there are too many blocks or kinds.
func (tx *Tx) Keys() *Keys {
	if tx.write || tx.err != nil {
		return nil
	}
	cached := &tx.ws.keys
	version, _ := tx.number("PRAGMA data_version")
	if seen, ok := cached.byConn.Load(tx.conn); ok && seen.(versionedKeys).version == version {
		return seen.(versionedKeys).keys
	}
	keys := tx.makeKeys(cached.last.Load())
	if keys == nil || tx.err != nil {
		return nil
	}
	cached.last.Store(keys)
	cached.byConn.Store(tx.conn, versionedKeys{version, keys})
	return keys
}

// makeKeys returns the keys of what tx sees. They are derived from base, which may be nil; the result may be base
// itself.
func (tx *Tx) makeKeys(base *Keys) *Keys {
	if last, _ := tx.number("SELECT max(n) FROM node"); last >= maxKeys {
		return nil
	}
	builder := &keyBuilder{Keys: Keys{odd: map[int64]string{}}}
	tx.query(func(s *sqlite.Stmt) bool {
		builder.revs = append(builder.revs, docRev{s.ColumnInt64(0), s.ColumnInt64(1)})
		return true
	}, "SELECT n, rev FROM document ORDER BY n")
	if base == nil {
		tx.query(builder.read, keyColumns+" INDEXED BY node_hit")
		return builder.build(tx.err)
	}
	stale, removed := staleDocuments(base.revs, builder.revs)
	if len(stale) == 0 && len(removed) == 0 {
		return base
	}
	builder.chunks, builder.kinds, builder.odd = slices.Clone(base.chunks), slices.Clone(base.kinds), maps.Clone(base.odd)
	builder.forget(removed)
	for _, doc := range stale {
		tx.query(builder.read, keyColumns+" WHERE doc = ?", doc)
	}
	if len(builder.changed) <= maxChanged {
		builder.Results.inherit(&base.Results, builder.changed)
	}
	return builder.build(tx.err)
}

// keyBuilder builds Keys that share unchanged chunks with earlier ones.
type keyBuilder struct {
	Keys
	owned   []bool  // chunks that are not shared, by index
	changed []int64 // the blocks that were forgotten or read, some of them twice
}

// build returns the keys, nil after an error or if there are too many kinds.
func (k *keyBuilder) build(err error) *Keys {
	if err != nil || len(k.kinds) > maxKinds {
		return nil
	}
	return &k.Keys
}

// chunk returns a chunk for writing. It copies one that is shared.
func (k *keyBuilder) chunk(at int) *[keyChunk]key {
	for len(k.chunks) <= at {
		k.chunks = append(k.chunks, nil)
	}
	for len(k.owned) <= at {
		k.owned = append(k.owned, false)
	}
	switch {
	case k.owned[at]:
	case k.chunks[at] == nil:
		k.chunks[at] = &[keyChunk]key{}
	default:
		copied := *k.chunks[at]
		k.chunks[at] = &copied
	}
	k.owned[at] = true
	return k.chunks[at]
}

const keyColumns = "SELECT n, doc, type, sort, updated FROM node"

// staleDocuments compares the revisions of documents. stale are those to read; removed are those whose earlier keys
// must be dropped, which includes the changed ones.
func staleDocuments(old, current []docRev) (stale []int64, removed map[int64]bool) {
	removed = map[int64]bool{}
	for len(old) > 0 || len(current) > 0 {
		switch {
		case len(current) == 0 || len(old) > 0 && old[0].n < current[0].n:
			removed[old[0].n] = true
			old = old[1:]
		case len(old) == 0 || current[0].n < old[0].n:
			stale = append(stale, current[0].n)
			current = current[1:]
		default:
			if old[0].rev != current[0].rev {
				stale = append(stale, current[0].n)
				removed[current[0].n] = true
			}
			old, current = old[1:], current[1:]
		}
	}
	return stale, removed
}

// forget removes the keys of the blocks in docs.
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
				k.changed = append(k.changed, int64(at*keyChunk+i))
				delete(k.odd, int64(at*keyChunk+i))
			}
		}
		if remaining == 0 {
			k.chunks[at] = nil
			if at < len(k.owned) {
				k.owned[at] = false
			}
		}
	}
}

// read adds the key from a row of keyColumns.
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
	k.changed = append(k.changed, n)
	k.chunk(int(n / keyChunk))[n%keyChunk] = key{
		stamp: stamp, doc: uint32(s.ColumnInt64(1)), sort: uint16(s.ColumnInt64(3)), kind: uint8(kind),
	}
	return true
}

// Kinds returns the kinds of blocks by [Key.Kind].
func (k *Keys) Kinds() []string { return k.kinds }

// At returns the key of a block by the block's number.
func (k *Keys) At(n int64) (key Key, found bool) {
	at := int(n / keyChunk)
	if n < 0 || at >= len(k.chunks) || k.chunks[at] == nil {
		return Key{}, false
	}
	entry := &k.chunks[at][n%keyChunk]
	if entry.doc == 0 {
		return Key{}, false
	}
	key = Key{Doc: int64(entry.doc), Kind: int(entry.kind), Sort: int(entry.sort), Stamp: entry.stamp}
	if len(k.odd) > 0 {
		key.Odd = k.odd[n]
	}
	return key, true
}

// stampDigits is the length of a time as text.
const stampDigits = 14

// stampOf converts the text of a time to a number that sorts like it. A text that is not a time gets the number of the
// last time before it, and is also returned as odd, which decides between equal numbers.
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
	sortsAfter := i < len(text) && text[i] > '9' // it sorts after all times with the same beginning
	for range stampDigits - i {
		value *= 10
		if sortsAfter {
			value += 9
		}
	}
	if sortsAfter {
		value++
	}
	if text == "" {
		text = "\x00"
	}
	return value, text
}
