package search

import (
	"cmp"
	"slices"
	"strings"

	"collie/internal/vault/api"
	"collie/internal/vault/tree"
	"collie/internal/vault/workspace"
)

// The orders of hits; any other number is as they were made.
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

// kinds gives the kinds of blocks by the names a search has for them.
var kinds = map[string]string{
	"document": tree.Doc, "heading": tree.Heading, "list": tree.List, "listItem": tree.Item, "codeBlock": tree.Code,
	"mathBlock": tree.Math, "table": tree.Table, "blockquote": tree.Quote, "superBlock": tree.Super,
	"paragraph": tree.Paragraph, "htmlBlock": tree.HTML, "embedBlock": tree.Embed, "databaseBlock": tree.Database,
	"audioBlock": tree.Audio, "videoBlock": tree.Video, "iframeBlock": tree.IFrame, "widgetBlock": tree.Widget,
	"callout": tree.Callout,
}

// everyday are the kinds that are searched when none are named.
var everyday = []string{tree.Doc, tree.Heading, tree.Code, tree.Math, tree.Table, tree.Paragraph, tree.HTML}

// searched are the kinds a request names.
func searched(req api.Request) []string {
	types := req.Get("types")
	if !types.Exists() {
		return everyday
	}
	var named []string
	for name, kind := range kinds {
		if types.Get(name).Bool() {
			named = append(named, kind)
		}
	}
	return named
}

// scope is where a search looks.
type scope struct {
	kinds []string
	// within are the documents searched, nil for all but those in without: pages, and what is in closed notebooks.
	within, without map[int64]bool
}

// newScope reads which documents lie in paths, each of them a notebook's id or that and the path of a document. No
// paths are all notebooks.
func newScope(tx *workspace.Tx, kinds, paths []string) scope {
	s := scope{kinds: kinds, without: map[int64]bool{}}
	tx.Rows(func(row workspace.Row) bool {
		s.without[row.Int(0)] = true
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

func (s scope) has(doc int64, kind string) bool {
	return slices.Contains(s.kinds, kind) && !s.without[doc] && (s.within == nil || s.within[doc])
}

// hit is a block that was found. Number, stamp and text are what it is sorted by.
type hit struct {
	n, doc int64
	number int64
	stamp  uint64
	text   string
}

// hits are what a search found: how much in all, and the first of it.
type hits struct {
	blocks, documents int
	first             []hit // in order once all are added, in none before

	compare func(a, b *hit) int
	most    int  // how many are kept
	full    bool // so many are there, and last is the last one of them
	last    hit
	next    hit // that is looked at; here, because compare would have each of them allocated
}

// find looks what a source selects up in a scope and keeps the first ones in an order.
func find(tx *workspace.Tx, src source, in scope, order, keep int) hits {
	found := hits{compare: comparison(order), most: keep}
	if src.statement == "" {
		return found
	}
	if keys := keysFor(tx, order); keys != nil {
		found.byKeys(tx, keys, src, in, order)
		return found
	}
	documents := bits{}
	statement, args, wanted := lookup(tx, src, order)
	tx.Rows(func(row workspace.Row) bool {
		h := hit{n: row.Int(0)}
		if wanted != nil && !wanted.has(h.n) {
			return true
		}
		if h.doc = row.Int(1); !in.has(h.doc, row.Text(2)) {
			return true
		}
		found.blocks++
		if documents.add(h.doc) {
			found.documents++
		}
		h.number, h.text = row.Int(3), row.Text(4)
		found.add(h)
		return true
	}, statement, args...)
	found.order()
	return found
}

// keysFor are the keys of all blocks where they say what an order asks, else nil.
func keysFor(tx *workspace.Tx, order int) *workspace.Keys {
	switch order {
	case orderCreated, orderCreatedDesc, orderContent, orderContentDesc, orderRank:
		return nil
	}
	return tx.Keys()
}

// byKeys is find with the keys of all blocks at hand.
func (f *hits) byKeys(tx *workspace.Tx, keys *workspace.Keys, src source, in scope, order int) {
	kinds := make([]bool, len(keys.Kinds()))
	for i, kind := range keys.Kinds() {
		kinds[i] = slices.Contains(in.kinds, kind)
	}
	var seen, documents, looked, inside bits
	tx.Rows(func(row workspace.Row) bool {
		h := hit{n: row.Int(0)}
		key, known := keys.At(h.n)
		if !known || !kinds[key.Kind] || !seen.add(h.n) {
			return true
		}
		if looked.add(key.Doc) && in.within[key.Doc] == (in.within != nil) && !in.without[key.Doc] {
			inside.add(key.Doc)
		}
		if !inside.has(key.Doc) {
			return true
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
		return true
	}, src.statement, src.args...)
	f.order()
}

// dense is how many of so many blocks must be hits for it to be faster to go through all entries of an index than to
// look each hit up.
const dense = 8

// lookup is the statement for what a search asks of each hit. Most of it an index holds. It may be about other blocks
// too: those in wanted are meant, nil for all.
func lookup(tx *workspace.Tx, src source, order int) (statement string, args []any, wanted *bits) {
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
	wanted = &bits{}
	count, last := 0, int64(0)
	tx.Rows(func(row workspace.Row) bool {
		if wanted.add(row.Int(0)) {
			count++
		}
		return true
	}, src.statement, src.args...)
	tx.Rows(func(row workspace.Row) bool {
		last = row.Int(0)
		return true
	}, "SELECT max(n) FROM node")
	statement = "SELECT node.n, node.doc, node.type, " + key + " FROM "
	if int64(count)*dense > last {
		return statement + table, nil, wanted
	}
	src = listed(wanted.numbers())
	if src.statement == "" {
		src = source{statement: "SELECT 0 AS n WHERE 0"}
	}
	return statement + "(" + src.statement + ") AS s CROSS JOIN " + table + " ON node.n = s.n", src.args, nil
}

// comparison is an order of hits. Equal ones are in the order they were made. It is asked several times of each hit, so it looks
// at nothing that is decided already.
func comparison(order int) func(a, b *hit) int {
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

// add keeps a hit if it may be among the first.
func (f *hits) add(h hit) {
	if f.next = h; f.full && f.compare(&f.next, &f.last) > 0 {
		return
	}
	f.first = append(f.first, h)
	if len(f.first) >= 4*f.most+1024 {
		f.trim()
	}
}

// trim drops what is not among the first.
func (f *hits) trim() {
	if len(f.first) < f.most || f.most <= 0 {
		return
	}
	choose(f.first, f.most, f.compare)
	f.first = f.first[:f.most]
	f.full, f.last = true, f.first[0]
	for i := range f.first {
		if f.compare(&f.first[i], &f.last) > 0 {
			f.last = f.first[i]
		}
	}
}

// order ends a search.
func (f *hits) order() {
	f.trim()
	slices.SortFunc(f.first, func(a, b hit) int { return f.compare(&a, &b) })
}

// maxRounds is how often choose divides what is left, which is halved each time as a rule.
const maxRounds = 64

// choose moves the first n of list to its beginning, in no order. To sort all of it for that would take several times as long.
func choose(list []hit, n int, compare func(a, b *hit) int) {
	for rounds := 0; len(list) > 1 && 0 < n && n < len(list); rounds++ {
		if rounds == maxRounds { // they came in an order that this is bad at
			slices.SortFunc(list, func(a, b hit) int { return compare(&a, &b) })
			return
		}
		pivot := list[len(list)/2]
		low, high := 0, len(list)-1
		for low <= high { // what is before low comes first, what is behind high last
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
		case n < low: // what lies between is the pivot
			return
		default:
			list, n = list[low:], n-low
		}
	}
}
