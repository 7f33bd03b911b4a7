package workspace

import (
	"fmt"
	"slices"

	"zombiezen.com/go/sqlite"

	"collie/internal/vault/tree"
)

// This file loads the trees of documents, from the tables or a cache.

// indexFrom is the number of blocks from which on a document's tree is cached with an index of its blocks by id. The
// blocks of smaller trees are added to the transaction's index each time.
const indexFrom = 256

// Load loads the blocks of a document, unless they are loaded. Methods that list documents return them without blocks.
func (tx *Tx) Load(d *tree.Document) {
	if d == nil || d.Loaded || tx.err != nil {
		return
	}
	row := storedRow(d)
	if tx.write && !row.rows[0].hasAttrs(d.Root.Attrs) {
		tx.Flush() // only the root was changed
	}
	if r := tx.ws.cache.pop(row.n, row.rev); r != nil {
		tx.attachCached(d, r)
		return
	}
	rows := tx.readNodes(row.n)
	if tx.err != nil {
		return
	}
	row.rows = rows
	d.Loaded = true
	tx.build(d, rows)
}

// attachCached gives a document its blocks from the cache.
func (tx *Tx) attachCached(d *tree.Document, r *cachedTree) {
	storedRow(d).rows = r.rows
	d.Loaded = true
	d.Root.Stored, d.Root.Children = r.rows[0], r.children
	for _, child := range r.children {
		child.Parent = d.Root
		child.Walk(func(b *tree.Block) {
			b.Doc = d
			if r.index == nil {
				tx.blocks[b.ID] = b
			}
		})
	}
	if r.index != nil {
		tx.indexes[r.doc] = r.index
	}
}

// cacheTrees puts the trees back into the cache, at the end of a view and after a commit.
func (tx *Tx) cacheTrees() {
	if tx.err != nil {
		return
	}
	for n, d := range tx.docs {
		row := storedRow(d)
		if !d.Loaded || row.removed {
			continue
		}
		r := &cachedTree{doc: n, rev: row.rev, rows: row.rows, children: d.Root.Children, index: tx.indexes[n]}
		if row.changed || r.index == nil {
			r.index = updateTreeIndex(r)
		}
		d.Root.Children = nil // so that code that still has the document does not see later changes
		tx.ws.cache.put(r)
	}
}

// checkTrees panics if [Options.CheckTrees] is set and a tree does not match its rows or, after a write, the file.
func (tx *Tx) checkTrees() {
	for n, d := range tx.docs {
		row := storedRow(d)
		if !tx.ws.checkTrees || tx.err != nil {
			return
		}
		if !d.Loaded || row.removed {
			continue
		}
		if tx.differs(d) {
			panic("vault: a transaction leaves document " + d.ID() + " unlike its rows")
		}
		if !tx.write {
			continue // the file's version stays
		}
		stored := tx.readNodes(n)
		if tx.err == nil && !slices.EqualFunc(stored, row.rows, (*nodeRow).equal) {
			panic("vault: a transaction leaves document " + d.ID() + " unlike the file")
		}
	}
}

// equal reports whether two rows have the same block, with the same place, size and content.
func (r *nodeRow) equal(other *nodeRow) bool {
	at := blockPosition{other.parent, other.pos, other.above}
	return r.n == other.n && r.id == other.id && r.size == other.size && r.isAt(other.doc, at) && r.matches(other.block())
}

// updateTreeIndex returns the index of a tree, updated; nil for a small tree.
func updateTreeIndex(r *cachedTree) map[string]*tree.Block {
	if len(r.rows) < indexFrom {
		return nil
	}
	index := r.index
	addAll := func() {
		for _, child := range r.children {
			child.Walk(func(b *tree.Block) {
				if index[b.ID] != b {
					index[b.ID] = b
				}
			})
		}
	}
	if index != nil {
		addAll()
	}
	if len(index) != len(r.rows)-1 { // blocks were removed
		index = make(map[string]*tree.Block, len(r.rows))
		addAll()
	}
	return index
}

// build attaches the blocks of rows to the root of d.
func (tx *Tx) build(d *tree.Document, rows []*nodeRow) {
	byN := make(map[int64]*tree.Block, len(rows))
	for _, r := range rows {
		if r.parent == 0 {
			d.Root.Stored = r
			byN[r.n] = d.Root
			continue
		}
		b := r.block()
		up := byN[r.parent]
		if up == nil {
			tx.fail(fmt.Errorf("document %s: block %s lies in none: run collie vault check", d.ID(), r.id))
			return
		}
		b.Parent, b.Doc = up, d
		up.Children = append(up.Children, b)
		byN[r.n] = b
		tx.blocks[r.id] = b
	}
}

// block returns a new block from its row.
func (r *nodeRow) block() *tree.Block {
	attrs := make(map[string]string, len(r.attrs))
	for _, a := range r.attrs {
		attrs[a.name] = a.value
	}
	return &tree.Block{ID: r.id, Kind: r.kind, Attrs: attrs, Text: r.text, Marker: r.marker, Task: r.task, Stored: r}
}

// readNodes reads the rows of a document, parents before children and children in order.
func (tx *Tx) readNodes(doc int64) []*nodeRow {
	children := map[int64][]*nodeRow{}
	count := 0
	tx.query(func(s *sqlite.Stmt) bool {
		r := &nodeRow{
			n: s.ColumnInt64(0), id: s.ColumnText(1), doc: doc, parent: s.ColumnInt64(2), pos: s.ColumnInt64(3),
			above: s.ColumnText(4), kind: s.ColumnText(5), marker: s.ColumnText(6), task: s.ColumnText(7),
			attrs: attrList(tree.ParseIAL(s.ColumnText(8))), size: s.ColumnInt64(10),
		}
		if !(&tree.Block{Kind: r.kind}).Container() {
			r.text = s.ColumnText(9)
		}
		children[r.parent] = append(children[r.parent], r)
		count++
		return true
	}, `SELECT n, id, parent, pos, above, type, marker, task, ial, markdown, `+nodeSize+` FROM node WHERE doc = ? ORDER BY pos, n`, doc)
	rows := make([]*nodeRow, 0, count)
	var collect func(parent int64)
	collect = func(parent int64) {
		for _, r := range children[parent] {
			rows = append(rows, r)
			collect(r.n)
		}
	}
	collect(0)
	if len(rows) != count {
		tx.fail(fmt.Errorf("document %d: %d of %d blocks lie in none: run collie vault check", doc, count-len(rows), count))
	}
	return rows
}
