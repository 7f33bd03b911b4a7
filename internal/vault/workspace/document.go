package workspace

import (
	"cmp"
	"encoding/json"
	"path"
	"slices"
	"strings"
	"time"

	"zombiezen.com/go/sqlite"

	"collie/internal/vault/tree"
)

// This file finds and lists documents.

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
	d := &tree.Document{Sort: row.sort, Number: n, Changed: time.UnixMilli(s.ColumnInt64(7)), Stored: row}
	d.Root = root.block()
	d.Root.Doc = d
	return d
}

// Size returns about how many bytes a document takes, as of the last flush. It need not be loaded.
func Size(d *tree.Document) int64 { return storedRow(d).size }

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

// DocumentExists reports whether a document with this id exists in any notebook.
func (tx *Tx) DocumentExists(id string) bool {
	if b := tx.attachedBlock(id); b != nil && b.Kind == tree.Doc {
		return true
	}
	_, found := tx.number("SELECT 1 FROM document WHERE id = ?", id)
	return found
}

// Document returns the document with an id in an open notebook, loaded, or nil.
func (tx *Tx) Document(id string) *tree.Document { return tx.document(id, true) }

// document returns the document with an id in an open notebook, or nil. It is loaded only if load is true.
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

// DocumentAtUnloaded is like DocumentAt without loading the document.
func (tx *Tx) DocumentAtUnloaded(box, path string) *tree.Document {
	return tx.documentAt(box, path, false)
}

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
	return tx.below(d)
}

// below is Below as far as it has been flushed.
func (tx *Tx) below(d *tree.Document) []*tree.Document {
	found := tx.listDocs(`WHERE document.n IN (WITH RECURSIVE sub(n) AS (
			SELECT ? UNION ALL
			SELECT below.n FROM sub CROSS JOIN document AS below ON below.parent = sub.n AND below.box = ?)
		SELECT n FROM sub)`, storedRow(d).n, d.Box.ID)
	slices.SortStableFunc(found, func(a, b *tree.Document) int {
		return cmp.Or(cmp.Compare(a.Depth(), b.Depth()), cmp.Compare(a.Number, b.Number))
	})
	return found
}

// Documents returns the documents of one notebook, open or closed, or of all open notebooks if b is nil. The notebooks'
// pages are included. The documents are sorted by creation, oldest first, and not loaded.
func (tx *Tx) Documents(b *tree.Notebook) []*tree.Document {
	tx.Flush()
	if b != nil {
		return tx.listDocs("WHERE document.box = ? ORDER BY document.n", b.ID)
	}
	return tx.listDocs("JOIN notebook ON notebook.id = document.box WHERE notebook.closed = 0 ORDER BY document.n")
}
