package workspace

import (
	"cmp"
	"encoding/json"
	"path"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"zombiezen.com/go/sqlite"

	"collie/internal/vault/tree"
)

const documentColumns = `SELECT document.n, document.id, document.box, document.parent, document.path, document.hpath,
	document.sort, document.changed, document.rev, node.n, node.ial, document.size, ` + nodeSize + `
	FROM document JOIN node ON node.doc = document.n AND node.type = 'd' `

// listDocs returns the documents that a query selects, not loaded, except those removed in this transaction. condition
// follows documentColumns.
func (tx *Tx) listDocs(condition string, args ...any) []*tree.Document {
	type row struct {
		d      *tree.Document
		parent int64
		box    string
	}
	var list []row
	tx.query(func(s *sqlite.Stmt) bool {
		n := s.ColumnInt64(0)
		if d := tx.docs[n]; d != nil {
			if !storedRow(d).removed {
				list = append(list, row{d: d})
			}
			return true
		}
		d := readDocument(s)
		list = append(list, row{d, s.ColumnInt64(3), s.ColumnText(2)})
		return true
	}, documentColumns+condition, args...)
	docs := make([]*tree.Document, 0, len(list))
	for _, f := range list {
		docs = append(docs, tx.join(f.d, f.box, f.parent))
	}
	return slices.DeleteFunc(docs, func(d *tree.Document) bool { return d == nil })
}

// readDocument returns the document in a row of documentColumns. Its notebook and parent are not set.
func readDocument(s *sqlite.Stmt) *tree.Document {
	id, attrs := s.ColumnText(1), tree.ParseIAL(s.ColumnText(10))
	n := s.ColumnInt64(0)
	root := &nodeRow{n: s.ColumnInt64(9), doc: n, id: id, kind: tree.Doc, attrs: attrList(attrs), size: s.ColumnInt64(12)}
	row := &docRow{
		n: n, rev: s.ColumnInt64(8), parent: s.ColumnInt64(3), path: s.ColumnText(4), hpath: s.ColumnText(5),
		box: s.ColumnText(2), sort: s.ColumnInt(6), size: s.ColumnInt64(11), rows: []*nodeRow{root},
	}
	d := &tree.Document{Sort: row.sort, Made: n, Changed: time.UnixMilli(s.ColumnInt64(7)), Stored: row}
	d.Root = root.block()
	d.Root.Doc = d
	return d
}

// join sets the notebook and parent of a document just read, and registers it in this transaction. It returns the
// registered one if there is one already, and nil if the notebook or parent is missing.
func (tx *Tx) join(d *tree.Document, boxID string, parent int64) *tree.Document {
	n := storedRow(d).n
	if joined := tx.docs[n]; joined != nil {
		return joined
	}
	if d.Box = tx.Notebook(boxID); d.Box == nil {
		return nil
	}
	if parent != 0 {
		if d.Parent = tx.docByN(parent); d.Parent == nil {
			return nil
		}
	}
	tx.docs[n] = d
	tx.blocks[d.ID()] = d.Root
	return d
}

func (tx *Tx) docByN(n int64) *tree.Document {
	if d := tx.docs[n]; d != nil {
		if storedRow(d).removed {
			return nil
		}
		return d
	}
	if list := tx.listDocs("WHERE document.n = ?", n); len(list) == 1 {
		return list[0]
	}
	return nil
}

// DocumentTaken reports whether a document with this id exists in any notebook.
func (tx *Tx) DocumentTaken(id string) bool {
	if b := tx.attachedBlock(id); b != nil && b.Kind == tree.Doc {
		return true
	}
	_, found := tx.number("SELECT 1 FROM document WHERE id = ?", id)
	return found
}

// Document returns the document with an id in an open notebook, loaded, or nil.
func (tx *Tx) Document(id string) *tree.Document { return tx.document(id, true) }

func (tx *Tx) document(id string, load bool) *tree.Document {
	n, found := tx.number("SELECT n FROM document WHERE id = ?", id)
	if !found {
		return nil
	}
	d := tx.docByN(n)
	if d == nil || d.Box.Conf.Closed {
		return nil
	}
	if load {
		tx.Load(d)
	}
	return d
}

// DocumentAt returns the document at a path, /<id>/<id>.sy, in an open notebook, loaded, or nil.
func (tx *Tx) DocumentAt(box, path string) *tree.Document { return tx.documentAt(box, path, true) }

// ListedAt is DocumentAt without loading the document.
func (tx *Tx) ListedAt(box, path string) *tree.Document { return tx.documentAt(box, path, false) }

func (tx *Tx) documentAt(box, at string, load bool) *tree.Document {
	id, isDocument := strings.CutSuffix(path.Base(at), ".sy")
	if !isDocument {
		return nil
	}
	d := tx.document(id, false)
	if d == nil || d.Box.ID != box || d.Path() != at {
		return nil
	}
	if load {
		tx.Load(d)
	}
	return d
}

// DocumentsByHPath returns the documents of an open notebook with a given path of titles, oldest first, not loaded. "/"
// is the path of the notebook's own page.
func (tx *Tx) DocumentsByHPath(box, hpath string) []*tree.Document {
	if b := tx.Notebook(box); b == nil || b.Conf.Closed {
		return nil
	}
	tx.Flush()
	return tx.listDocs("WHERE document.box = ? AND document.hpath = ? ORDER BY document.id", box, hpath)
}

// Children returns the documents directly below parent, or at the top of box if parent is nil. They are in manual order
// and not loaded. The notebook's page and documents with malformed ids are left out.
func (tx *Tx) Children(box *tree.Notebook, parent *tree.Document) []*tree.Document {
	tx.Flush()
	n := int64(0)
	if parent != nil {
		n = storedRow(parent).n
	}
	list := tx.listDocs(`WHERE document.box = ? AND document.parent = ? AND document.id <> document.box
		ORDER BY document.sort, substr(document.id, 1, 14) DESC, document.n`, box.ID, n)
	return slices.DeleteFunc(list, func(d *tree.Document) bool { return !tree.ValidID(d.ID()) })
}

// CountChildren counts the documents directly below each of many parents at once. parents are ids of documents or, for
// the top of a notebook, of notebooks. Those without children are missing in the result.
func (tx *Tx) CountChildren(parents []string) map[string]int {
	tx.Flush()
	counts := map[string]int{}
	if len(parents) == 0 {
		return counts
	}
	ids, err := json.Marshal(parents)
	if err != nil {
		panic(err) // cannot happen with texts
	}
	tx.query(func(s *sqlite.Stmt) bool {
		counts[s.ColumnText(0)] = s.ColumnInt(1)
		return true
	}, `SELECT up.id, count(*) FROM json_each(?) AS wanted JOIN document AS up ON up.id = wanted.value
			JOIN document ON document.box = up.box AND document.parent = up.n
		GROUP BY up.id`, string(ids))
	for _, id := range parents {
		if tx.Notebook(id) == nil {
			continue
		}
		if n, _ := tx.number("SELECT count(*) FROM document WHERE box = ? AND parent = 0 AND id <> box", id); n > 0 {
			counts[id] = int(n)
		}
	}
	return counts
}

// Below returns d and every document under it, parents first, not loaded.
func (tx *Tx) Below(d *tree.Document) []*tree.Document {
	tx.Flush()
	found := tx.listDocs(`WHERE document.n IN (WITH RECURSIVE sub(n) AS (
			SELECT ? UNION ALL
			SELECT below.n FROM sub CROSS JOIN document AS below ON below.parent = sub.n AND below.box = ?)
		SELECT n FROM sub)`, storedRow(d).n, d.Box.ID)
	slices.SortStableFunc(found, func(a, b *tree.Document) int {
		return cmp.Or(cmp.Compare(a.Depth(), b.Depth()), cmp.Compare(a.Made, b.Made))
	})
	return found
}

// Documents returns the documents of open notebooks, or of box unless it is nil, with the notebooks' pages. They are
// sorted by creation, oldest first, and not loaded.
func (tx *Tx) Documents(b *tree.Notebook) []*tree.Document {
	tx.Flush()
	if b != nil {
		return tx.listDocs("WHERE document.box = ? ORDER BY document.n", b.ID)
	}
	return tx.listDocs("JOIN notebook ON notebook.id = document.box WHERE notebook.closed = 0 ORDER BY document.n")
}

// AddDocument adds a document after its siblings. blocks must come from Identify; if there are none, the document gets
// an empty paragraph. An empty title becomes Untitled, a title of more than 512 characters is cut. If id is "", the
// document gets a new one.
func (tx *Tx) AddDocument(box *tree.Notebook, parent *tree.Document, title, id string, blocks []*tree.Block) *tree.Document {
	if id == "" {
		id = tx.NewID()
	}
	updated := tree.Stamp(time.Now())
	if tree.ValidID(id) {
		updated = id[:14]
	}
	attrs := map[string]string{"id": id, "title": truncate(title, 512), "type": "doc", "updated": updated}
	if title == "" {
		attrs["title"], attrs["title-empty"] = "Untitled", "true"
	}
	if len(blocks) == 0 {
		blocks = []*tree.Block{tx.EmptyParagraph()}
	}
	d := &tree.Document{Root: &tree.Block{ID: id, Kind: tree.Doc, Attrs: attrs}, Box: box, Parent: parent, Sort: 1}
	parentN := int64(0)
	if parent != nil {
		parentN = storedRow(parent).n
	}
	tx.flushOrder(d, parentN)
	last, hasSiblings := tx.number("SELECT max(sort) FROM document WHERE box = ? AND parent = ? AND id <> box HAVING count(*) > 0", box.ID, parentN)
	if hasSiblings {
		d.Sort = int(last) + 1
	}
	tx.insertDocument(d, blocks)
	return d
}

// truncate shortens a text to at most n characters.
func truncate(text string, n int) string {
	if utf8.RuneCountInString(text) <= n {
		return text
	}
	return string([]rune(text)[:n])
}

// insertDocument inserts the row of a document and its blocks.
func (tx *Tx) insertDocument(d *tree.Document, blocks []*tree.Block) {
	d.Loaded, d.Changed, d.Root.Doc = true, time.Now(), d
	row := &docRow{path: d.Path(), hpath: d.HPath(), box: d.Box.ID, sort: d.Sort}
	if d.Parent != nil {
		row.parent = storedRow(d.Parent).n
	}
	tx.exec("INSERT INTO document (id, box, parent, path, hpath, sort, changed, rev, size) VALUES (?, ?, ?, ?, ?, ?, ?, 0, 0)",
		d.ID(), row.box, row.parent, row.path, row.hpath, row.sort, d.Changed.UnixMilli())
	row.n = tx.conn.LastInsertRowID()
	d.Stored, d.Made = row, row.n
	d.Root.Insert(0, blocks...)
	if tx.err != nil {
		return
	}
	tx.docs[row.n] = d
	tx.blocks[d.ID()] = d.Root
	if tx.isAllNew(d) { // written at once, since queries for documents join them with their root block
		tx.flushNew(d)
	} else {
		tx.Flush()
	}
}

// flushOrder writes the sort values of d's future siblings, as far as they are loaded and changed.
func (tx *Tx) flushOrder(d *tree.Document, parent int64) {
	for _, sibling := range tx.docs {
		row := storedRow(sibling)
		if !row.removed && row.sort != sibling.Sort && row.parent == parent && sibling.Box == d.Box {
			tx.flushPlaces([]*tree.Document{sibling})
		}
	}
}

// isAllNew reports whether none of a document's blocks was in the workspace before.
func (tx *Tx) isAllNew(d *tree.Document) bool {
	isNew := true
	d.Root.Walk(func(b *tree.Block) {
		if isNew && b.Stored != nil {
			isNew = false
		}
		if isNew {
			_, found := tx.number("SELECT 1 FROM node WHERE id = ?", b.ID)
			isNew = !found
		}
	})
	return isNew
}

// RemoveDocument removes d and all documents below it. It does not save them in the history.
func (tx *Tx) RemoveDocument(d *tree.Document) {
	tx.Flush()
	for _, doc := range tx.Below(d) {
		tx.eraseDocument(storedRow(doc).n)
	}
}

// eraseDocument deletes the rows of one document. The caller has flushed everything else.
func (tx *Tx) eraseDocument(n int64) {
	tx.query(func(s *sqlite.Stmt) bool {
		tx.recordLostAttrs(&nodeRow{id: s.ColumnText(0), attrs: attrList(tree.ParseIAL(s.ColumnText(1)))})
		return true
	}, "SELECT DISTINCT node.id, node.ial FROM node JOIN attribute ON attribute.node = node.n WHERE node.doc = ?", n)
	tx.unindex("doc = ?", n)
	for _, table := range derivedTables {
		tx.exec("DELETE FROM "+table+" WHERE node IN (SELECT n FROM node WHERE doc = ?)", n)
	}
	tx.exec("DELETE FROM node WHERE doc = ?", n)
	tx.exec("DELETE FROM document WHERE n = ?", n)
	if d := tx.docs[n]; d != nil {
		storedRow(d).removed = true
		delete(tx.indexes, n)
		for _, r := range storedRow(d).rows {
			tx.erased[r] = true
		}
	}
}

// MoveDocument moves d, with all documents below it, under parent or to the top of box. The caller has checked that
// parent is not below d. A change of only Sort or the title needs no call.
func (tx *Tx) MoveDocument(d *tree.Document, box *tree.Notebook, parent *tree.Document) {
	moved := tx.Below(d)
	elsewhere := d.Box != box && d.Box.Conf.Closed != box.Conf.Closed
	if elsewhere {
		tx.flushNotebooks()
		for _, m := range moved {
			tx.unindex("doc = ?", storedRow(m).n)
		}
	}
	for _, m := range moved {
		m.Box = box
	}
	d.Parent = parent
	tx.flushPlaces(moved)
	if !elsewhere {
		return
	}
	for _, m := range moved {
		tx.index("doc = ?", storedRow(m).n)
	}
}

// flushPlaces writes the notebooks, parents, paths and sort values of documents that changed. list has parents first.
func (tx *Tx) flushPlaces(list []*tree.Document) {
	for _, d := range list {
		row := storedRow(d)
		parent := int64(0)
		if d.Parent != nil {
			parent = storedRow(d.Parent).n
		}
		at, hpath := d.Path(), d.HPath()
		if row.box == d.Box.ID && row.parent == parent && row.path == at && row.hpath == hpath && row.sort == d.Sort {
			continue
		}
		tx.exec("UPDATE document SET box = ?, parent = ?, path = ?, hpath = ?, sort = ? WHERE n = ?",
			d.Box.ID, parent, at, hpath, d.Sort, row.n)
		row.box, row.parent, row.path, row.hpath, row.sort = d.Box.ID, parent, at, hpath, d.Sort
	}
}
