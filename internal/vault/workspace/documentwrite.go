package workspace

import (
	"time"
	"unicode/utf8"

	"zombiezen.com/go/sqlite"

	"collie/internal/vault/tree"
)

// This file adds, removes and moves documents.

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
	d.Stored, d.Number = row, row.n
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
