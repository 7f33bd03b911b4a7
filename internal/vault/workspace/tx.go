package workspace

import (
	"cmp"
	"slices"
	"strings"

	"zombiezen.com/go/sqlite"

	"collie/internal/vault/tree"
)

// This file has the state of a transaction: the trees it has loaded and changed.

// Tx is one transaction. Its methods return no errors: the first error of the storage is kept, from then on methods
// answer as if the workspace were empty, and View or Update returns the error. A Tx is for one goroutine, and must not
// be used after the function that got it has returned.
type Tx struct {
	ws        *Workspace
	conn      *sqlite.Conn
	write     bool
	noImports bool // the file has no table of imports yet
	err       error
	running   map[string]bool // statements that are in the middle of their rows

	boxes     map[string]*box // nil until needed
	docs      map[int64]*tree.Document
	blocks    map[string]*tree.Block           // loaded or new ones; some may have been cut since
	indexes   map[int64]map[string]*tree.Block // blocks of large documents, which are not in blocks
	lastNode  int64                            // largest number of a node, 0 until a block is added
	lostAttrs map[string]map[string]string     // attributes of erased blocks, see [Workspace.OnErased]
	erased    map[*nodeRow]bool                // rows erased from the file, though their blocks may come back
}

// box is a notebook with its state in the file.
type box struct {
	*tree.Notebook
	stored string // its configuration as JSON
}

// docRow is the state of a document in the file.
type docRow struct {
	n, rev      int64
	parent      int64
	path, hpath string
	box         string
	sort        int
	size        int64
	rows        []*nodeRow // rows of its blocks; only that of the root until it is loaded
	removed     bool
	changed     bool // blocks were written in this transaction
}

// nodeRow is the state of a block in the file. It is immutable, except for size, which the flush sets, and keptAt.
type nodeRow struct {
	n, doc, parent, pos      int64
	id, above                string
	kind, marker, task, text string
	attrs                    []attr
	size                     int64  // its part of the document's size
	keptAt                   uint64 // number of the last flush that kept it
}

// recordLostAttrs records the attributes of a block that is being erased, for [Workspace.OnErased], if any of them is
// custom.
func (tx *Tx) recordLostAttrs(r *nodeRow) {
	for _, a := range r.attrs {
		if strings.HasPrefix(a.name, "custom-") {
			tx.lostAttrs[r.id] = r.block().Attrs
			return
		}
	}
}

// attr is an attribute. Most blocks have two or three, for which a list takes less memory than a map.
type attr struct{ name, value string }

// attrList returns attributes as a list, in no order.
func attrList(attrs map[string]string) []attr {
	list := make([]attr, 0, len(attrs))
	for name, value := range attrs {
		list = append(list, attr{name, value})
	}
	return list
}

// hasAttrs reports whether a row has exactly these attributes.
func (r *nodeRow) hasAttrs(attrs map[string]string) bool {
	if len(r.attrs) != len(attrs) {
		return false
	}
	for _, a := range r.attrs {
		if value, exists := attrs[a.name]; !exists || value != a.value {
			return false
		}
	}
	return true
}

func (r *nodeRow) attr(name string) string {
	for _, a := range r.attrs {
		if a.name == name {
			return a.value
		}
	}
	return ""
}

// Err returns the first error of the storage, nil if there is none. Only loops that might otherwise not end need it.
func (tx *Tx) Err() error { return tx.err }

// Abandon ends the transaction with an error, which View or Update returns: all changes are dropped, and from now on
// methods answer as if the workspace were empty. After an error, of the storage or an earlier Abandon, it does nothing.
func (tx *Tx) Abandon(reason error) { tx.fail(reason) }

// Writes reports whether tx belongs to Update and so may change the workspace.
func (tx *Tx) Writes() bool { return tx.write }

func newTx(w *Workspace, conn *sqlite.Conn, write bool) *Tx {
	return &Tx{
		ws: w, conn: conn, write: write, noImports: w.version < 2, running: map[string]bool{},
		docs: map[int64]*tree.Document{}, blocks: map[string]*tree.Block{}, erased: map[*nodeRow]bool{},
		indexes: map[int64]map[string]*tree.Block{}, lostAttrs: map[string]map[string]string{},
	}
}

// forget drops everything read so far, so that it is read again. lostAttrs may now hold blocks that exist again; the
// function of [Workspace.OnErased] has to check that in any case.
func (tx *Tx) forget() {
	tx.boxes, tx.lastNode = nil, 0
	tx.docs, tx.blocks, tx.erased = map[int64]*tree.Document{}, map[string]*tree.Block{}, map[*nodeRow]bool{}
	tx.indexes = map[int64]map[string]*tree.Block{}
}

// storedRow returns what the transaction knows of a document in the file.
func storedRow(d *tree.Document) *docRow { return d.Stored.(*docRow) }

// loadedDocs returns the documents that this transaction has read, oldest first.
func (tx *Tx) loadedDocs() []*tree.Document {
	list := make([]*tree.Document, 0, len(tx.docs))
	for _, d := range tx.docs {
		list = append(list, d)
	}
	slices.SortFunc(list, func(a, b *tree.Document) int { return cmp.Compare(storedRow(a).n, storedRow(b).n) })
	return list
}

// Try runs fn. If fn returns false, its changes are undone, also those to trees; blocks and documents from before then
// no longer belong to tx and must be looked up again by id.
func (tx *Tx) Try(fn func() bool) {
	tx.Flush()
	tx.exec("SAVEPOINT try")
	if fn() && tx.err == nil {
		tx.exec("RELEASE try")
		return
	}
	tx.exec("ROLLBACK TO try")
	tx.exec("RELEASE try")
	tx.forget()
}
