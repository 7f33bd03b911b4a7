package salvage

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"strings"

	"collie/internal/vault/tree"
)

// This file finds everything that looks like notes in a damaged file.

// Found is what was found in a file.
type Found struct {
	// Pages is the number of pages, Unread the number of those that should have rows but could not be read.
	Pages, Unread int

	notebooks map[string]tree.Conf
	documents map[int64]*document
	byID      map[string]*document
	nodes     map[int64]*node
	ids       map[string]bool // of nodes
	files     map[string]file
	broken    []string // files that do not match their hash
}

// document is a row of the table document, with the rows of its blocks.
type document struct {
	n, parent, size int64
	id, box, hpath  string
	sort            int
	nodes           []*node
}

// node is a row of the table node: a block.
type node struct {
	n, doc, parent, pos    int64
	id, kind, marker, task string
	ial, text              string
}

type file struct {
	data    []byte
	changed int64
}

// Read finds everything that looks like notes in the file at path. An error means that the file itself cannot be
// read.
func Read(ctx context.Context, path string) (*Found, error) {
	p, err := openPages(path)
	if err != nil {
		return nil, err
	}
	defer p.file.Close()
	f := &Found{
		Pages: p.count, notebooks: map[string]tree.Conf{}, documents: map[int64]*document{}, byID: map[string]*document{},
		nodes: map[int64]*node{}, ids: map[string]bool{}, files: map[string]file{},
	}
	seen := map[int]bool{}
	f.readPage(p, 1, seen, 0)
	for _, root := range p.rootPages() {
		f.readPage(p, root, seen, 0)
	}
	free := p.freePages()
	for n := 1; n <= p.count; n++ {
		if n%1024 == 0 && ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		if !seen[n] && !free[n] {
			f.readRows(p, n)
		}
	}
	return f, ctx.Err()
}

// rootPages returns the root pages of tables and indexes that can be found from the first page of the file.
func (p *pages) rootPages() (roots []int) {
	seen := map[int]bool{}
	var walk func(n, depth int)
	walk = func(n, depth int) {
		data, at := p.pageWithRows(n)
		if data == nil || seen[n] || depth > 8 {
			return
		}
		seen[n] = true
		for _, place := range cells(data, at) {
			if data[at] == tableInner {
				walk(childPage(data, place), depth+1)
			} else if r, ok := p.read(data, place, true); ok && len(r.values) == 5 {
				if root, ok := r.number(3); ok {
					roots = append(roots, int(root))
				}
			}
		}
		if data[at] == tableInner {
			walk(childPage(data, at+8), depth+1)
		}
	}
	walk(1, 0)
	return roots
}

// pageWithRows returns a page that has rows or refers to pages with rows, and the offset of its header; nil for other pages.
func (p *pages) pageWithRows(n int) (data []byte, at int) {
	if data = p.page(n); data == nil {
		return nil, 0
	}
	if n == 1 {
		at = 100
	}
	switch data[at] {
	case indexInner, tableInner, indexLeaf, tableLeaf:
		return data, at
	}
	return nil, 0
}

// childPage returns the page number at an offset of a page, 0 if the offset is outside.
func childPage(data []byte, at int) int {
	if at+4 > len(data) {
		return 0
	}
	return int(data[at])<<24 | int(data[at+1])<<16 | int(data[at+2])<<8 | int(data[at+3])
}

// readPage reads the rows of a page and of the pages below it.
func (f *Found) readPage(p *pages, n int, seen map[int]bool, depth int) {
	if n < 1 || n > p.count || seen[n] || depth > 20 {
		return
	}
	data, at := p.pageWithRows(n)
	if data == nil {
		f.Unread++
		return
	}
	seen[n] = true
	f.readRows(p, n)
	if data[at] == tableLeaf || data[at] == indexLeaf {
		return
	}
	for _, place := range cells(data, at) {
		f.readPage(p, childPage(data, place), seen, depth+1)
	}
	f.readPage(p, childPage(data, at+8), seen, depth+1)
}

// readRows reads the rows of one page. If several rows are about the same thing, the first one counts, since reachable
// pages are read first.
func (f *Found) readRows(p *pages, n int) {
	data, at := p.pageWithRows(n)
	if data == nil || data[at] == tableInner {
		return
	}
	table := data[at] == tableLeaf
	for _, place := range cells(data, at) {
		if data[at] == indexInner {
			place += 4
		}
		if r, ok := p.read(data, place, table); ok {
			f.row(&r, table)
		}
	}
}

// row adds a row; its shape tells its table.
func (f *Found) row(r *row, table bool) {
	switch {
	case !table && len(r.values) == 4:
		f.notebook(r)
	case table && len(r.values) == 10:
		f.document(r)
	case table && len(r.values) == 22:
		f.node(r)
	case table && len(r.values) == 7:
		f.file(r)
	}
}

// notebook adds a row of the table notebook. A row that does not look like one is ignored here and in the functions below; of two
// rows for one thing the first is kept.
func (f *Found) notebook(r *row) {
	id, ok := r.text(0)
	conf, isText := r.text(1)
	if !ok || !isText || !tree.ValidID(id) {
		return
	}
	c := tree.NewConf("")
	if json.Unmarshal([]byte(conf), &c) == nil {
		if _, exists := f.notebooks[id]; !exists {
			f.notebooks[id] = c
		}
	}
}

// document adds a row of the table document.
func (f *Found) document(r *row) {
	d := &document{n: r.n}
	var ok [6]bool
	var sort int64
	d.id, ok[0] = r.text(1)
	d.box, ok[1] = r.text(2)
	d.parent, ok[2] = r.number(3)
	d.hpath, ok[3] = r.text(5)
	sort, ok[4] = r.number(6)
	d.size, ok[5] = r.number(9)
	d.sort = int(sort)
	if ok != [6]bool{true, true, true, true, true, true} || r.values[0] != nil || !tree.ValidID(d.box) || d.id == "" ||
		f.documents[d.n] != nil || f.byID[d.id] != nil {
		return
	}
	f.documents[d.n], f.byID[d.id] = d, d
}

// node adds a row of the table node.
func (f *Found) node(r *row) {
	b := &node{n: r.n}
	var ok [9]bool
	b.id, ok[0] = r.text(1)
	b.doc, ok[1] = r.number(2)
	b.parent, ok[2] = r.number(3)
	b.pos, ok[3] = r.number(4)
	b.kind, ok[4] = r.text(6)
	b.marker, ok[5] = r.text(8)
	b.task, ok[6] = r.text(9)
	b.ial, ok[7] = r.text(10)
	b.text, ok[8] = r.text(17)
	if ok != [9]bool{true, true, true, true, true, true, true, true, true} || r.values[0] != nil || tree.NodeType(b.kind) == "" ||
		b.id == "" || f.nodes[b.n] != nil || f.ids[b.id] {
		return
	}
	f.nodes[b.n], f.ids[b.id] = b, true
}

// file adds a row of the table file. If the data do not match their hash, it adds the path to broken instead.
func (f *Found) file(r *row) {
	at, ok := r.text(0)
	dir, isNumber := r.number(2)
	hash, isText := r.text(4)
	changed, _ := r.number(5)
	if !ok || !isNumber || !isText || dir != 0 || !strings.HasPrefix(at, "/") || f.files[at].data != nil {
		return
	}
	data, isBlob := r.values[6].([]byte)
	if !isBlob {
		return
	}
	sum := sha256.Sum256(data)
	if hex.EncodeToString(sum[:]) != hash {
		f.broken = append(f.broken, at)
		return
	}
	f.files[at] = file{append([]byte{}, data...), changed}
}
