package workspace

import (
	"sync/atomic"
	"time"

	"collie/internal/vault/tree"
)

// This file writes the changes of trees to the tables.

// posGap is the distance between positions of neighbours, so that blocks can be inserted without moving others.
const posGap = 1 << 20

// maxAnchorRounds bounds how far a change of text spreads: a block whose dynamic anchor changes may itself be the
// target of dynamic anchors.
const maxAnchorRounds = 8

// Flush writes the changes made to trees so far, within the transaction, so that Rows sees them. In a View it does
// nothing.
func (tx *Tx) Flush() {
	if !tx.write || tx.err != nil {
		return
	}
	tx.flushNotebooks()
	changed := tx.flushTrees()
	for range maxAnchorRounds {
		if len(changed) == 0 || !tx.refreshAnchors(changed) {
			return
		}
		changed = tx.flushTrees() // also in the last round, or the cache would pass on changes that were never written
	}
}

// flushTrees writes the changed blocks, and returns those existing blocks whose text changed.
func (tx *Tx) flushTrees() []*tree.Block {
	docs := tx.loadedDocs()
	var changed []*tree.Document
	for _, d := range docs {
		if !storedRow(d).removed && tx.differs(d) {
			changed = append(changed, d)
		}
	}
	if len(changed) == 0 {
		tx.flushMoved(docs)
		return nil
	}
	f := tx.newFlusher(changed)
	for _, d := range changed {
		f.adoptRow(d)
	}
	for _, d := range changed {
		for _, r := range storedRow(d).rows {
			if r.keptAt != f.number {
				f.lostChild[r.parent] = true
				f.erase(r.n)
				tx.recordLostAttrs(r)
				tx.erased[r] = true
			}
		}
	}
	for _, d := range changed {
		f.document(d)
	}
	tx.writeIndex(f.indexed)
	tx.flushMoved(docs)
	return f.redefined
}

// flushNew writes a new document whose blocks come from no other document. Changes in other documents are not written.
func (tx *Tx) flushNew(d *tree.Document) {
	if tx.err != nil {
		return
	}
	f := tx.newFlusher(nil)
	f.document(d)
	tx.writeIndex(f.indexed)
}

// differs reports whether the tree of a document differs from its rows.
func (tx *Tx) differs(d *tree.Document) bool {
	row := storedRow(d)
	if !d.Loaded {
		return !row.rows[0].hasAttrs(d.Root.Attrs)
	}
	i := 0
	return !matchesRows(d.Root, row.rows, &i) || i != len(row.rows)
}

// matchesRows compares a tree with the rows it was made from. i is the index of the row of b; it is advanced past the
// rows of all blocks in b.
func matchesRows(b *tree.Block, rows []*nodeRow, i *int) bool {
	if *i >= len(rows) || b.Stored != rows[*i] || !rows[*i].matches(b) {
		return false
	}
	row := rows[*i]
	*i++
	for _, child := range b.Children {
		// Parents are compared too: if the last block of a container moves to right after it, the order stays the same.
		if *i < len(rows) && rows[*i].parent != row.n || !matchesRows(child, rows, i) {
			return false
		}
	}
	return true
}

// matches reports whether a row has the content and attributes of a block.
func (r *nodeRow) matches(b *tree.Block) bool {
	return r.kind == b.Kind && r.text == b.Text && r.marker == b.Marker && r.task == b.Task && r.hasAttrs(b.Attrs)
}

// flushMoved writes the paths and sort values of documents whose title or place changed, and the paths of the documents
// below them.
func (tx *Tx) flushMoved(docs []*tree.Document) {
	for _, d := range docs {
		row := storedRow(d)
		if row.removed {
			continue
		}
		if row.hpath != d.HPath() {
			row.hpath = d.HPath()
			tx.exec("UPDATE document SET hpath = ? WHERE n = ?", row.hpath, row.n)
			tx.flushPlaces(tx.below(d))
		}
		tx.flushPlaces([]*tree.Document{d})
	}
}

// flusher writes the changed trees of a transaction.
type flusher struct {
	tx     *Tx
	number uint64 // unique among flushes of this process
	// changed are the documents to write. oldRows are their rows in the file by id; nil until needed.
	changed []*tree.Document
	oldRows map[string]*nodeRow
	// lostChild has the numbers of rows that lost a child.
	lostChild map[int64]bool
	// redefined are existing blocks whose text changed.
	redefined []*tree.Block
	// indexed collects changes to the full text index.
	indexed map[int64]indexChange

	open bool       // the current document is in an open notebook
	doc  int64      // the current document
	rows []*nodeRow // its rows so far
}

// flusherCount counts the flushers.
var flusherCount atomic.Uint64

// newFlusher returns a flusher for documents whose trees have changed.
func (tx *Tx) newFlusher(changed []*tree.Document) *flusher {
	return &flusher{tx: tx, number: flusherCount.Add(1), changed: changed, lostChild: map[int64]bool{}, indexed: map[int64]indexChange{}}
}

// adoptRow gives each new block of a document the row of the old block with its id, so that this row is updated. It
// records which rows stay, and which lost a child.
func (f *flusher) adoptRow(d *tree.Document) {
	if !d.Loaded {
		f.keepRow(d.Root)
		return
	}
	d.Root.Walk(f.keepRow)
}

// keepRow gives a block the row that it had before or that of the old block with its id, and marks that row as kept.
func (f *flusher) keepRow(b *tree.Block) {
	r, _ := b.Stored.(*nodeRow)
	if r != nil && f.tx.erased[r] { // it was removed, flushed, and inserted again
		r, b.Stored = nil, nil
	}
	if r == nil {
		if r = f.rowOf(b.ID); r == nil {
			return
		}
		b.Stored = r
	}
	if r.keptAt == f.number || r.id != b.ID { // a copy of a block that also stays, or a block with a changed id
		b.Stored = nil
		return
	}
	r.keptAt = f.number
	if b.Parent == nil {
		return
	}
	if up, _ := b.Parent.Stored.(*nodeRow); up == nil || up.n != r.parent {
		f.lostChild[r.parent] = true
	}
}

// rowOf returns the row of a block in the changed documents before this flush, nil if there was none.
func (f *flusher) rowOf(id string) *nodeRow {
	if f.oldRows == nil {
		if _, found := f.tx.number("SELECT 1 FROM node WHERE id = ?", id); !found {
			return nil
		}
		f.oldRows = map[string]*nodeRow{}
		for _, d := range f.changed {
			for _, r := range storedRow(d).rows {
				f.oldRows[r.id] = r
			}
		}
	}
	return f.oldRows[id]
}

// document writes the rows of one document.
func (f *flusher) document(d *tree.Document) {
	row := storedRow(d)
	f.doc, f.rows, f.open = row.n, make([]*nodeRow, 0, len(row.rows)+16), f.tx.open(row.n)
	f.block(d.Root, blockPosition{})
	row.size += sizeOf(f.rows) - sizeOf(row.rows)
	row.rows, row.changed = f.rows, true
	d.Changed = time.Now()
	f.tx.exec("UPDATE document SET rev = rev + 1, changed = ?, size = ? WHERE n = ?", d.Changed.UnixMilli(), row.size, row.n)
	row.rev, _ = f.tx.number("SELECT rev FROM document WHERE n = ?", row.n)
}

// blockPosition is the position of a block.
type blockPosition struct {
	parent, pos int64
	parentID    string
}

// block writes b and all blocks inside it, and reports whether any text changed. Inner blocks come first, since a
// container's text is derived from them.
func (f *flusher) block(b *tree.Block, at blockPosition) (textChanged bool) {
	old, _ := b.Stored.(*nodeRow)
	n := int64(0)
	if old != nil {
		n = old.n
	} else {
		n = f.tx.nextNode()
	}
	index := len(f.rows)
	f.rows = append(f.rows, old)
	inside := f.children(b, n)
	unchanged := old != nil && old.matches(b)
	if b.Kind == tree.Doc { // its text is its title
		inside = false
		delete(f.lostChild, n)
	}
	if unchanged && !inside && !f.lostChild[n] && old.isAt(f.doc, at) {
		return false
	}
	textChanged = inside || f.lostChild[n] || old == nil ||
		old.kind != b.Kind || old.text != b.Text || old.marker != b.Marker || old.task != b.Task ||
		b.Kind == tree.Doc && old.attr("title") != b.Attrs["title"]
	row := &nodeRow{
		n: n, doc: f.doc, parent: at.parent, pos: at.pos, above: at.parentID,
		id: b.ID, kind: b.Kind, marker: b.Marker, task: b.Task, text: b.Text,
	}
	if unchanged && !textChanged {
		row.attrs, row.size = old.attrs, old.size
		f.tx.moveNode(row)
	} else {
		row.attrs = attrList(b.Attrs)
		f.node(b, row, old == nil)
	}
	f.rows[index], b.Stored = row, row
	if textChanged && old != nil {
		f.redefined = append(f.redefined, b)
	}
	return textChanged
}

// isAt reports whether a row is at a position in a document.
func (r *nodeRow) isAt(doc int64, at blockPosition) bool {
	return r.doc == doc && r.parent == at.parent && r.pos == at.pos && r.above == at.parentID
}

// children writes the children of b, which has number n. It reports whether the text of any changed, or the list of
// children itself.
func (f *flusher) children(b *tree.Block, n int64) (textChanged bool) {
	if len(b.Children) == 0 {
		return false
	}
	positions := positionsOf(b.Children, n)
	var headings []*tree.Block
	for i, child := range b.Children {
		above := b.ID
		headings = aboveLevel(headings, child)
		if len(headings) > 0 {
			above = headings[len(headings)-1].ID
		}
		r, _ := child.Stored.(*nodeRow)
		moved := r == nil || r.parent != n || r.pos != positions[i]
		if f.block(child, blockPosition{n, positions[i], above}) || moved {
			textChanged = true
		}
		if child.Kind == tree.Heading {
			headings = append(headings, child)
		}
	}
	return textChanged
}

// aboveLevel removes from a stack of headings those that cannot contain child: if it is a heading, those of its level
// or a deeper one.
func aboveLevel(headings []*tree.Block, child *tree.Block) []*tree.Block {
	if child.Kind != tree.Heading {
		return headings
	}
	for len(headings) > 0 && headings[len(headings)-1].Level() >= child.Level() {
		headings = headings[:len(headings)-1]
	}
	return headings
}

// positionsOf returns increasing positions for children. A child that is in order already keeps its position; others
// get one between their neighbours.
func positionsOf(children []*tree.Block, parent int64) []int64 {
	position := func(b *tree.Block) int64 {
		if r, _ := b.Stored.(*nodeRow); r != nil && r.parent == parent {
			return r.pos
		}
		return 0
	}
	positions := make([]int64, len(children))
	last := int64(0)
	for i := 0; i < len(children); {
		if pos := position(children[i]); pos > last {
			positions[i], last = pos, pos
			i++
			continue
		}
		end := i + 1
		for end < len(children) && position(children[end]) <= last {
			end++
		}
		step := int64(posGap)
		if end < len(children) {
			step = (position(children[end]) - last) / int64(end-i+1)
		}
		if step == 0 { // no room between them, so all get new positions
			for j := range positions {
				positions[j] = int64(j+1) * posGap
			}
			return positions
		}
		for ; i < end; i++ {
			last += step
			positions[i] = last
		}
	}
	return positions
}
