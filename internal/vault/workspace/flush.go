package workspace

import (
	"sync/atomic"
	"time"

	"collie/internal/vault/tree"
)

// posGap is what lies between the positions of neighbours, so that blocks can be put between them without moving
// others.
const posGap = 1 << 20

// maxAnchorRounds bounds how far a changed text spreads through anchors of blocks that others refer to in turn.
const maxAnchorRounds = 8

// Flush writes what was changed in trees so far, within the transaction, so that Rows sees it. In a View it does
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
		changed = tx.flushTrees() // in the last round too: what it leaves unwritten others would get from the cache
	}
}

// flushTrees writes the blocks that changed and returns those whose text did and that were there before.
func (tx *Tx) flushTrees() []*tree.Block {
	docs := tx.loadedDocs()
	var changed []*tree.Document
	for _, d := range docs {
		if !stored(d).removed && tx.differs(d) {
			changed = append(changed, d)
		}
	}
	if len(changed) == 0 {
		tx.flushMoved(docs)
		return nil
	}
	f := tx.newFlusher(changed)
	for _, d := range changed {
		f.adopt(d)
	}
	for _, d := range changed {
		for _, r := range stored(d).rows {
			if r.live != f.number {
				f.lost[r.parent] = true
				f.erase(r.n)
				tx.loses(r)
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

// flushNew writes a document that has just been made, of blocks that no other document had. What else is at hand waits
// for a flush, which looks at all of it.
func (tx *Tx) flushNew(d *tree.Document) {
	if tx.err != nil {
		return
	}
	f := tx.newFlusher(nil)
	f.document(d)
	tx.writeIndex(f.indexed)
}

// differs reports whether the tree of a document is another than its rows.
func (tx *Tx) differs(d *tree.Document) bool {
	row := stored(d)
	if !d.Loaded {
		return !row.rows[0].hasAttrs(d.Root.Attrs)
	}
	i := 0
	return !unchanged(d.Root, row.rows, &i) || i != len(row.rows)
}

// unchanged walks a tree along the rows it was made from.
func unchanged(b *tree.Block, rows []*nodeRow, i *int) bool {
	if *i >= len(rows) || b.Stored != rows[*i] || !rows[*i].holds(b) {
		return false
	}
	own := rows[*i]
	*i++
	for _, child := range b.Children {
		// The order of all blocks alone does not say where one that was last in a container has gone.
		if *i < len(rows) && rows[*i].parent != own.n || !unchanged(child, rows, i) {
			return false
		}
	}
	return true
}

// holds reports whether a row says of a block what the block says.
func (r *nodeRow) holds(b *tree.Block) bool {
	return r.kind == b.Kind && r.text == b.Text && r.marker == b.Marker && r.task == b.Task && r.hasAttrs(b.Attrs)
}

// flushMoved writes where documents lie if titles or orders changed, those below a changed one included.
func (tx *Tx) flushMoved(docs []*tree.Document) {
	for _, d := range docs {
		row := stored(d)
		if row.removed {
			continue
		}
		if row.hpath != d.HPath() {
			row.hpath = d.HPath()
			tx.exec("UPDATE document SET hpath = ? WHERE n = ?", row.hpath, row.n)
			tx.flushPlaces(tx.Below(d))
		}
		tx.flushPlaces([]*tree.Document{d})
	}
}

// flusher writes the trees of a transaction that changed.
type flusher struct {
	tx     *Tx
	number uint64 // no other flush of this process has it
	// changed are the documents it writes, and before what the file holds of them, by id; nil until it is asked for.
	changed []*tree.Document
	before  map[string]*nodeRow
	// lost are the rows that something was taken out of, by n.
	lost map[int64]bool
	// redefined are the blocks whose text changed and that were there before.
	redefined []*tree.Block
	// indexed is what becomes of nodes in the full text index.
	indexed map[int64]indexChange

	open bool       // whether the document at hand is in an open notebook
	doc  int64      // the document at hand
	rows []*nodeRow // its rows so far
}

// flushes counts the flushers.
var flushes atomic.Uint64

func (tx *Tx) newFlusher(changed []*tree.Document) *flusher {
	return &flusher{tx: tx, number: flushes.Add(1), changed: changed, lost: map[int64]bool{}, indexed: map[int64]indexChange{}}
}

// adopt lets new blocks that took the id of an old one keep its row, and notes which rows stay and which lost a child.
func (f *flusher) adopt(d *tree.Document) {
	if !d.Loaded {
		f.keep(d.Root)
		return
	}
	d.Root.Walk(f.keep)
}

func (f *flusher) keep(b *tree.Block) {
	r, _ := b.Stored.(*nodeRow)
	if r != nil && f.tx.erased[r] { // it was cut off, flushed, and put back
		r, b.Stored = nil, nil
	}
	if r == nil {
		if r = f.rowOf(b.ID); r == nil {
			return
		}
		b.Stored = r
	}
	if r.live == f.number || r.id != b.ID { // a copy of a block that also stays, or one that was given another id
		b.Stored = nil
		return
	}
	r.live = f.number
	if b.Parent == nil {
		return
	}
	if up, _ := b.Parent.Stored.(*nodeRow); up == nil || up.n != r.parent {
		f.lost[r.parent] = true
	}
}

// rowOf is the row that a block of the documents that changed had, nil if there was none.
func (f *flusher) rowOf(id string) *nodeRow {
	if f.before == nil {
		if _, found := f.tx.number("SELECT 1 FROM node WHERE id = ?", id); !found {
			return nil
		}
		f.before = map[string]*nodeRow{}
		for _, d := range f.changed {
			for _, r := range stored(d).rows {
				f.before[r.id] = r
			}
		}
	}
	return f.before[id]
}

// document writes the rows of one document.
func (f *flusher) document(d *tree.Document) {
	row := stored(d)
	f.doc, f.rows, f.open = row.n, make([]*nodeRow, 0, len(row.rows)+16), f.tx.open(row.n)
	f.block(d.Root, place{})
	row.size += sizeOf(f.rows) - sizeOf(row.rows)
	row.rows, row.changed = f.rows, true
	d.Changed = time.Now()
	f.tx.exec("UPDATE document SET rev = rev + 1, changed = ?, size = ? WHERE n = ?", d.Changed.UnixMilli(), row.size, row.n)
	row.rev, _ = f.tx.number("SELECT rev FROM document WHERE n = ?", row.n)
}

// place is where a block lies.
type place struct {
	parent, pos int64
	above       string
}

// block writes b and what lies in it, and reports whether the text of any of it changed. What lies in it comes first,
// since the text of a container follows from theirs.
func (f *flusher) block(b *tree.Block, at place) (textChanged bool) {
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
	same := old != nil && old.holds(b)
	if b.Kind == tree.Doc { // its text is its title
		inside = false
		delete(f.lost, n)
	}
	if same && !inside && !f.lost[n] && old.lies(f.doc, at) {
		return false
	}
	textChanged = inside || f.lost[n] || old == nil ||
		old.kind != b.Kind || old.text != b.Text || old.marker != b.Marker || old.task != b.Task ||
		b.Kind == tree.Doc && old.attr("title") != b.Attrs["title"]
	fresh := &nodeRow{
		n: n, doc: f.doc, parent: at.parent, pos: at.pos, above: at.above,
		id: b.ID, kind: b.Kind, marker: b.Marker, task: b.Task, text: b.Text,
	}
	if same && !textChanged {
		fresh.attrs, fresh.size = old.attrs, old.size
		f.tx.moveNode(fresh)
	} else {
		fresh.attrs = attrList(b.Attrs)
		f.node(b, fresh, old == nil)
	}
	f.rows[index], b.Stored = fresh, fresh
	if textChanged && old != nil {
		f.redefined = append(f.redefined, b)
	}
	return textChanged
}

// lies reports whether a row is that of a place in a document.
func (r *nodeRow) lies(doc int64, at place) bool {
	return r.doc == doc && r.parent == at.parent && r.pos == at.pos && r.above == at.above
}

// children writes what lies in b and reports whether the text of any of it changed, or which blocks they are.
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
		if f.block(child, place{n, positions[i], above}) || moved {
			textChanged = true
		}
		if child.Kind == tree.Heading {
			headings = append(headings, child)
		}
	}
	return textChanged
}

// aboveLevel drops the headings that child does not lie under: for a heading those of its level and deeper.
func aboveLevel(headings []*tree.Block, child *tree.Block) []*tree.Block {
	if child.Kind != tree.Heading {
		return headings
	}
	for len(headings) > 0 && headings[len(headings)-1].Level() >= child.Level() {
		headings = headings[:len(headings)-1]
	}
	return headings
}

// positionsOf keeps the positions that children have where they are in order, and finds new ones for the others.
func positionsOf(children []*tree.Block, parent int64) []int64 {
	held := func(b *tree.Block) int64 {
		if r, _ := b.Stored.(*nodeRow); r != nil && r.parent == parent {
			return r.pos
		}
		return 0
	}
	positions := make([]int64, len(children))
	last := int64(0)
	for i := 0; i < len(children); {
		if pos := held(children[i]); pos > last {
			positions[i], last = pos, pos
			i++
			continue
		}
		end := i + 1
		for end < len(children) && held(children[end]) <= last {
			end++
		}
		step := int64(posGap)
		if end < len(children) {
			step = (held(children[end]) - last) / int64(end-i+1)
		}
		if step == 0 { // no room: all anew
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
