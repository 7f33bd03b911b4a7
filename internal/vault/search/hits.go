package search

import (
	"cmp"
	"hash/maphash"
	"slices"
	"strings"

	"collie/internal/vault/api"
	"collie/internal/vault/tree"
	"collie/internal/vault/workspace"
)

// This file counts, sorts and cuts the hits of a search.

// The orders of hits; any other number means the order of creation.
const (
	orderKind = iota
	orderCreated
	orderCreatedDesc
	orderUpdated
	orderUpdatedDesc
	orderContent
	orderContentDesc
	orderRank
)

// kindNames has the kinds of blocks by their names in searches.
var kindNames = map[string]string{
	"document": tree.Doc, "heading": tree.Heading, "list": tree.List, "listItem": tree.Item, "codeBlock": tree.Code,
	"mathBlock": tree.Math, "table": tree.Table, "blockquote": tree.Quote, "superBlock": tree.Super,
	"paragraph": tree.Paragraph, "htmlBlock": tree.HTML, "embedBlock": tree.Embed, "databaseBlock": tree.Database,
	"audioBlock": tree.Audio, "videoBlock": tree.Video, "iframeBlock": tree.IFrame, "widgetBlock": tree.Widget,
	"callout": tree.Callout,
}

// defaultKinds are the kinds that are searched if a request names none.
var defaultKinds = []string{tree.Doc, tree.Heading, tree.Code, tree.Math, tree.Table, tree.Paragraph, tree.HTML}

// searchedKinds returns the kinds of blocks to search, from the request or the default.
func searchedKinds(req api.Request) []string {
	types := req.Get("types")
	if !types.Exists() {
		return defaultKinds
	}
	var kinds []string
	for name, kind := range kindNames {
		if types.Get(name).Bool() {
			kinds = append(kinds, kind)
		}
	}
	return kinds
}

// scope says which blocks to search.
type scope struct {
	kinds []string
	// within are the documents to search; nil means all except without, which has pages and documents of closed
	// notebooks.
	within, without map[int64]bool
	closed          uint64 // a digest of without, by which cached results are told apart
}

// digestSeed is the seed of scope.closed.
var digestSeed = maphash.MakeSeed()

// newScope returns a scope with the documents below paths. A path is the id of a notebook, or that id with the path of
// a document. No paths mean all notebooks.
func newScope(tx *workspace.Tx, kinds, paths []string) scope {
	s := scope{kinds: kinds, without: map[int64]bool{}}
	tx.Rows(func(row workspace.Row) bool {
		if n := row.Int(0); !s.without[n] {
			s.without[n] = true
			s.closed += maphash.Comparable(digestSeed, n) // in any order
		}
		return true
	}, `SELECT document.n FROM notebook JOIN document ON document.id = notebook.id
		UNION ALL SELECT document.n FROM notebook CROSS JOIN document ON document.box = notebook.id WHERE notebook.closed = 1`)
	if len(paths) == 0 {
		return s
	}
	s.within = map[int64]bool{}
	for _, path := range paths {
		box, path, _ := strings.Cut(path, "/")
		folder := strings.TrimSuffix("/"+path, ".sy") + "/"
		if path == "" {
			folder = "/"
		}
		tx.Rows(func(row workspace.Row) bool {
			s.within[row.Int(0)] = true
			return true
		}, "SELECT n FROM document WHERE box = ? AND (path = ? OR path >= ? AND path < ?)",
			box, "/"+path, folder, folder[:len(folder)-1]+"0")
	}
	return s
}

// has reports whether a block of a kind in a document is to be searched.
func (s scope) has(doc int64, kind string) bool {
	return slices.Contains(s.kinds, kind) && !s.without[doc] && (s.within == nil || s.within[doc])
}

// hit is a found block. Number, stamp and text are its sort keys.
type hit struct {
	n, doc int64
	number int64
	stamp  uint64
	text   string
}

// hitCollector collects the hits of a search: how many there are, and the first of them.
type hitCollector struct {
	blocks, documents int
	first             []hit // sorted only at the end

	compare func(a, b *hit) int
	limit   int  // how many to keep
	full    bool // limit hits are kept, and last is the worst of them
	last    hit
	next    hit // current hit; a field, since compare would make a local one escape to the heap
}

// find returns the hits of a source within a scope: how many, and the first keep of them in an order.
func find(tx *workspace.Tx, src source, where scope, order, keep int) hitCollector {
	hits := hitCollector{compare: comparisonFor(order), limit: keep}
	keys := keysFor(tx, order)
	if len(src.words) > 0 && keys == nil {
		src = matchWords(tx, src.words, everywhere)
	}
	switch {
	case len(src.words) > 0:
		set := blocksWith(tx, keys, &where, src.words)
		hits.findByKeys(keys, where, order, set.each)
		return hits
	case src.statement == "":
		return hits
	case keys != nil:
		hits.findByKeys(keys, where, order, func(found func(n int64)) {
			tx.Rows(func(row workspace.Row) bool {
				found(row.Int(0))
				return true
			}, src.statement, src.args...)
		})
		return hits
	}
	documents := bitset{}
	statement, args, selected := lookup(tx, src, order)
	tx.Rows(func(row workspace.Row) bool {
		h := hit{n: row.Int(0)}
		if selected != nil && !selected.has(h.n) {
			return true
		}
		if h.doc = row.Int(1); !where.has(h.doc, row.Text(2)) {
			return true
		}
		hits.blocks++
		if documents.add(h.doc) {
			hits.documents++
		}
		h.number, h.text = row.Int(3), row.Text(4)
		hits.add(h)
		return true
	}, statement, args...)
	hits.sort()
	return hits
}

// keysFor returns the keys of all blocks if they suffice for an order, else nil.
func keysFor(tx *workspace.Tx, order int) *workspace.Keys {
	switch order {
	case orderCreated, orderCreatedDesc, orderContent, orderContentDesc, orderRank:
		return nil
	}
	return tx.Keys()
}

// findByKeys is like find for orders that need only the keys of blocks. matches calls its argument for each block.
func (f *hitCollector) findByKeys(keys *workspace.Keys, where scope, order int, matches func(func(n int64))) {
	kinds := make([]bool, len(keys.Kinds()))
	for i, kind := range keys.Kinds() {
		kinds[i] = slices.Contains(where.kinds, kind)
	}
	var seen, documents, looked, inside bitset
	matches(func(n int64) {
		h := hit{n: n}
		key, exists := keys.At(h.n)
		if !exists || !kinds[key.Kind] || !seen.add(h.n) {
			return
		}
		if looked.add(key.Doc) && where.within[key.Doc] == (where.within != nil) && !where.without[key.Doc] {
			inside.add(key.Doc)
		}
		if !inside.has(key.Doc) {
			return
		}
		f.blocks++
		if documents.add(key.Doc) {
			f.documents++
		}
		h.doc = key.Doc
		switch order {
		case orderKind:
			h.number, h.stamp, h.text = int64(key.Sort), key.Stamp, key.Odd
		case orderUpdated, orderUpdatedDesc:
			h.stamp, h.text = key.Stamp, key.Odd
		}
		f.add(h)
	})
	f.sort()
}

// denseRatio is the ratio of blocks to hits below which scanning an index is faster than looking up each hit.
const denseRatio = 8

// lookup returns the statement that reads what find needs of each hit, mostly from an index. It may also return blocks
// that are not in selected, which do not count; if selected is nil, all count.
func lookup(tx *workspace.Tx, src source, order int) (statement string, args []any, selected *bitset) {
	key, table := "0, ''", "node INDEXED BY node_hit"
	switch order {
	case orderKind:
		key = "node.sort, node.updated"
	case orderUpdated, orderUpdatedDesc:
		key = "0, node.updated"
	case orderCreated, orderCreatedDesc:
		key, table = "0, substr(node.id, 1, 14)", "node"
	case orderContent, orderContentDesc:
		key, table = "0, node.content", "node"
	case orderRank:
		if src.ranked != "" {
			return "SELECT node.n, node.doc, node.type, CAST(s.rank * 1000000 AS INTEGER), '' FROM (" + src.ranked +
				") AS s CROSS JOIN " + table + " ON node.n = s.n", src.args, nil
		}
	}
	selected = &bitset{}
	count, last := 0, int64(0)
	tx.Rows(func(row workspace.Row) bool {
		if selected.add(row.Int(0)) {
			count++
		}
		return true
	}, src.statement, src.args...)
	tx.Rows(func(row workspace.Row) bool {
		last = row.Int(0)
		return true
	}, "SELECT max(n) FROM node")
	statement = "SELECT node.n, node.doc, node.type, " + key + " FROM "
	if int64(count)*denseRatio > last {
		return statement + table, nil, selected
	}
	src = numberSource(selected.numbers())
	if src.statement == "" {
		src = source{statement: "SELECT 0 AS n WHERE 0"}
	}
	return statement + "(" + src.statement + ") AS s CROSS JOIN " + table + " ON node.n = s.n", src.args, nil
}

// comparisonFor returns the comparison for an order. Equal hits stay in the order of their creation. The comparison
// runs several times for each hit, so all decisions about the order are made here.
func comparisonFor(order int) func(a, b *hit) int {
	descending := false
	switch order {
	case orderKind, orderUpdatedDesc, orderCreatedDesc, orderContentDesc:
		descending = true
	}
	return func(a, b *hit) int {
		if a.number != b.number {
			return cmp.Compare(a.number, b.number)
		}
		c := 0
		if a.stamp != b.stamp {
			c = cmp.Compare(a.stamp, b.stamp)
		} else {
			c = strings.Compare(a.text, b.text)
		}
		switch {
		case c == 0:
			return cmp.Compare(a.n, b.n)
		case descending:
			return -c
		}
		return c
	}
}

// add keeps a hit unless limit better ones are known.
func (f *hitCollector) add(h hit) {
	if f.next = h; f.full && f.compare(&f.next, &f.last) > 0 {
		return
	}
	f.first = append(f.first, h)
	if len(f.first) >= 4*f.limit+1024 {
		f.trim()
	}
}

// trim drops hits that are not among the first.
func (f *hitCollector) trim() {
	if len(f.first) < f.limit || f.limit <= 0 {
		return
	}
	selectFirst(f.first, f.limit, f.compare)
	f.first = f.first[:f.limit]
	f.full, f.last = true, f.first[0]
	for i := range f.first {
		if f.compare(&f.first[i], &f.last) > 0 {
			f.last = f.first[i]
		}
	}
}

// sort sorts the hits at the end of a search.
func (f *hitCollector) sort() {
	f.trim()
	slices.SortFunc(f.first, func(a, b hit) int { return f.compare(&a, &b) })
}

// maxRounds bounds how often selectFirst divides the list; each division usually halves it.
const maxRounds = 64

// selectFirst moves the first n elements of list, in the order of compare, to its start, unsorted. That is several
// times faster than sorting the list.
func selectFirst(list []hit, n int, compare func(a, b *hit) int) {
	for rounds := 0; len(list) > 1 && 0 < n && n < len(list); rounds++ {
		if rounds == maxRounds { // the worst case of this algorithm
			slices.SortFunc(list, func(a, b hit) int { return compare(&a, &b) })
			return
		}
		pivot := list[len(list)/2]
		low, high := 0, len(list)-1
		for low <= high { // smaller elements go before low, larger ones after high
			for compare(&list[low], &pivot) < 0 {
				low++
			}
			for compare(&list[high], &pivot) > 0 {
				high--
			}
			if low <= high {
				list[low], list[high] = list[high], list[low]
				low, high = low+1, high-1
			}
		}
		switch {
		case n <= high:
			list = list[:high+1]
		case n < low: // the elements in between equal the pivot
			return
		default:
			list, n = list[low:], n-low
		}
	}
}
