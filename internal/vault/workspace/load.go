package workspace

import (
	"fmt"
	"maps"

	"zombiezen.com/go/sqlite"

	"collie/internal/vault/tree"
)

// load gives a document its blocks, from the cache if it holds this revision.
func (tx *state) load(d *tree.Document) {
	if d == nil || d.Loaded || tx.err != nil {
		return
	}
	row := stored(d)
	if tx.write && !maps.Equal(d.Root.Attrs, row.rows[0].attrs) {
		tx.flush() // the root alone was changed
	}
	rows := tx.ws.cache.get(row.n, row.rev)
	if rows == nil {
		if rows = tx.readNodes(row.n); tx.err != nil {
			return
		}
		if !tx.write { // what a write sees may never be committed; it tells the cache when it is
			tx.ws.cache.put(row.n, row.rev, rows)
		}
	}
	row.rows = rows
	d.Loaded = true
	tx.build(d, rows)
}

// build hangs blocks made from rows below the root that d has.
func (tx *state) build(d *tree.Document, rows []*nodeRow) {
	byN := make(map[int64]*tree.Block, len(rows))
	for _, r := range rows {
		if r.parent == 0 {
			d.Root.Stored = r
			byN[r.n] = d.Root
			continue
		}
		b := r.block()
		if tx.write {
			b.Attrs = cloneAttrs(b.Attrs)
		}
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

// block makes a block as the file holds it. Its attributes are those of the row: only for reading.
func (r *nodeRow) block() *tree.Block {
	return &tree.Block{ID: r.id, Kind: r.kind, Attrs: r.attrs, Text: r.text, Marker: r.marker, Task: r.task, Stored: r}
}

func cloneAttrs(attrs map[string]string) map[string]string { return maps.Clone(attrs) }

// readNodes reads the rows of a document, parents before children and children in order.
func (tx *state) readNodes(doc int64) []*nodeRow {
	below := map[int64][]*nodeRow{}
	count := 0
	tx.query(func(s *sqlite.Stmt) bool {
		r := &nodeRow{
			n: s.ColumnInt64(0), id: s.ColumnText(1), doc: doc, parent: s.ColumnInt64(2), pos: s.ColumnInt64(3),
			above: s.ColumnText(4), kind: s.ColumnText(5), marker: s.ColumnText(6), task: s.ColumnText(7),
			attrs: tree.ParseIAL(s.ColumnText(8)), size: s.ColumnInt64(10),
		}
		if !(&tree.Block{Kind: r.kind}).Container() {
			r.text = s.ColumnText(9)
		}
		below[r.parent] = append(below[r.parent], r)
		count++
		return true
	}, `SELECT n, id, parent, pos, above, type, marker, task, ial, markdown, `+nodeSize+` FROM node WHERE doc = ? ORDER BY pos, n`, doc)
	rows := make([]*nodeRow, 0, count)
	var take func(parent int64)
	take = func(parent int64) {
		for _, r := range below[parent] {
			rows = append(rows, r)
			take(r.n)
		}
	}
	take(0)
	if len(rows) != count {
		tx.fail(fmt.Errorf("document %d: %d of %d blocks lie in none: run collie vault check", doc, count-len(rows), count))
	}
	return rows
}
