package workspace

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"zombiezen.com/go/sqlite"

	"collie/internal/vault/tree"
)

// Tx is one transaction. Its methods return no errors: the first error of the storage is kept, later methods answer
// as if the workspace were empty, and View or Update returns the error. A Tx is for one goroutine and ends with the
// function it was given to.
type Tx struct {
	ws      *Workspace
	conn    *sqlite.Conn
	write   bool
	old     bool // the file has no table of imports yet
	err     error
	running map[string]bool // statements that are in the middle of their rows

	boxes    map[string]*box // nil until needed
	docs     map[int64]*tree.Document
	blocks   map[string]*tree.Block           // loaded or new ones; some may have been cut since
	indexes  map[int64]map[string]*tree.Block // blocks of large documents, which are not in blocks
	lastNode int64                            // largest number of a node, 0 until a block is added
	lost     map[string]map[string]string     // attributes of erased blocks, see [Workspace.WhenErased]
	erased   map[*nodeRow]bool                // rows erased from the file, though their blocks may come back
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

// nodeRow is the state of a block in the file. It is immutable, except for live.
type nodeRow struct {
	n, doc, parent, pos      int64
	id, above                string
	kind, marker, task, text string
	attrs                    []attr
	size                     int64  // its part of the document's size
	keptAt                   uint64 // number of the last flush that kept it
}

// keepLostAttrs keeps the attributes of a block that is erased, for [Workspace.WhenErased], if it has custom ones.
func (tx *Tx) keepLostAttrs(r *nodeRow) {
	for _, a := range r.attrs {
		if strings.HasPrefix(a.name, "custom-") {
			tx.lost[r.id] = r.block().Attrs
			return
		}
	}
}

// attr is an attribute. For the two or three of most blocks a list is smaller than a map.
type attr struct{ name, value string }

func attrList(attrs map[string]string) []attr {
	list := make([]attr, 0, len(attrs))
	for name, value := range attrs {
		list = append(list, attr{name, value})
	}
	return list
}

// hasAttrs reports whether a row matches a block's attributes.
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

// Abandon ends the transaction for a reason, which View or Update returns: from now on its methods answer as if the
// workspace were empty, and all changes are dropped. Only the first reason counts, including an error of the storage.
func (tx *Tx) Abandon(reason error) { tx.fail(reason) }

// Writes reports whether tx may change the workspace: it is one of Update.
func (tx *Tx) Writes() bool { return tx.write }

func newTx(w *Workspace, conn *sqlite.Conn, write bool) *Tx {
	return &Tx{
		ws: w, conn: conn, write: write, old: w.version < 2, running: map[string]bool{},
		docs: map[int64]*tree.Document{}, blocks: map[string]*tree.Block{}, erased: map[*nodeRow]bool{},
		indexes: map[int64]map[string]*tree.Block{}, lost: map[string]map[string]string{},
	}
}

// forget drops everything read so far, so that it is read again.
func (tx *Tx) forget() {
	tx.boxes, tx.lastNode = nil, 0
	tx.docs, tx.blocks, tx.erased = map[int64]*tree.Document{}, map[string]*tree.Block{}, map[*nodeRow]bool{}
	tx.indexes = map[int64]map[string]*tree.Block{}
}

func storedRow(d *tree.Document) *docRow { return d.Stored.(*docRow) }

// loadedDocs returns the loaded documents, oldest first.
func (tx *Tx) loadedDocs() []*tree.Document {
	list := make([]*tree.Document, 0, len(tx.docs))
	for _, d := range tx.docs {
		list = append(list, d)
	}
	slices.SortFunc(list, func(a, b *tree.Document) int { return cmp.Compare(storedRow(a).n, storedRow(b).n) })
	return list
}

// Try runs fn and undoes its changes, including those of trees, if it returns false. Pointers from before an undo no
// longer belong to tx: look them up again by id.
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

// NewID returns an id that no block, document or notebook has.
func (tx *Tx) NewID() string {
	for {
		if id := tree.RandomID(); tx.lastWithID(id) == nil {
			return id // one of 36^7 for each second; the unique index guards the rest
		}
	}
}

// Known reports whether a block has this id, in any notebook.
func (tx *Tx) Known(id string) bool {
	if tx.attachedBlock(id) != nil {
		return true
	}
	_, found := tx.number("SELECT 1 FROM node WHERE id = ?", id)
	return found
}

// EmptyParagraph returns the block of a document without text.
func (tx *Tx) EmptyParagraph() *tree.Block {
	id := tx.NewID()
	b := &tree.Block{ID: id, Kind: tree.Paragraph, Attrs: map[string]string{"id": id, "updated": id[:14]}}
	tx.blocks[id] = b
	return b
}

// Identify gives parsed blocks, and those below them, missing ids and times, and returns them. An id from the input
// is kept unless it is taken. A block that replaces another, as in an update, has its id in keep, and gets the
// current time.
func (tx *Tx) Identify(blocks []*tree.Block, keep ...string) []*tree.Block {
	for _, b := range blocks {
		b.Walk(func(b *tree.Block) {
			if b.Attrs == nil {
				b.Attrs = map[string]string{}
			}
			id := b.Attrs["id"]
			kept := slices.Contains(keep, id)
			if !tree.ValidID(id) || !kept && tx.isTaken(id, b) {
				id = tx.NewID()
			}
			b.ID, b.Attrs["id"] = id, id
			tx.blocks[id] = b
			switch {
			case kept:
				b.Attrs["updated"] = tree.Stamp(time.Now())
			case b.Attrs["updated"] == "":
				b.Attrs["updated"] = id[:14]
			}
			for _, child := range b.Children {
				child.Parent = b
			}
		})
	}
	return blocks
}

// isTaken reports whether another block than b has an id, or was just given it.
func (tx *Tx) isTaken(id string, b *tree.Block) bool {
	if tx.attachedBlock(id) != nil {
		return true
	}
	if other := tx.lastWithID(id); other != nil && other != b && other.Doc == nil && other.Stored == nil {
		return true // new, and not inserted yet
	}
	doc, found := tx.number("SELECT doc FROM node WHERE id = ?", id)
	if !found {
		return false
	}
	d := tx.docs[doc]
	return d == nil || !d.Loaded // of a loaded document: it was cut, or attached would have found it
}

// lastWithID returns the block that last had an id in this transaction, wherever it is now, or nil.
func (tx *Tx) lastWithID(id string) *tree.Block {
	if b := tx.blocks[id]; b != nil {
		return b
	}
	for _, index := range tx.indexes {
		if b := index[id]; b != nil {
			return b
		}
	}
	return nil
}

// attachedBlock returns the block with an id in a loaded tree, or nil.
func (tx *Tx) attachedBlock(id string) *tree.Block {
	if b := tx.blocks[id]; b != nil && tx.isAttached(b) {
		return b
	}
	for _, index := range tx.indexes {
		if b := index[id]; b != nil && tx.isAttached(b) {
			return b
		}
	}
	return nil
}

// isAttached reports whether b is in the tree of a loaded document.
func (tx *Tx) isAttached(b *tree.Block) bool {
	if b.Doc == nil || storedRow(b.Doc).removed {
		return false
	}
	top := b
	for top.Parent != nil {
		top = top.Parent
	}
	return top == b.Doc.Root
}

// Block returns a block of an open notebook, with its document loaded, or nil.
func (tx *Tx) Block(id string) *tree.Block {
	b := tx.find(id)
	if b == nil || b.Doc == nil || b.Doc.Box.Conf.Closed {
		return nil
	}
	return b
}

// find returns a block of any notebook, with its document loaded.
func (tx *Tx) find(id string) *tree.Block {
	if b := tx.attachedBlock(id); b != nil && b.Doc.Loaded {
		return b
	}
	for _, d := range tx.docs { // a copy with the same id may have replaced it
		if !tx.write || !d.Loaded || storedRow(d).removed {
			continue // in a view nothing replaces another block
		}
		var found *tree.Block
		d.Root.Walk(func(b *tree.Block) {
			if b.ID == id {
				found = b
			}
		})
		if found != nil {
			tx.blocks[id] = found
			return found
		}
	}
	n, found := tx.number("SELECT doc FROM node WHERE id = ?", id)
	if !found {
		return nil
	}
	if d := tx.docs[n]; d != nil && d.Loaded {
		return nil // it was there, and was cut
	}
	d := tx.docByN(n)
	if d == nil {
		return nil
	}
	tx.Load(d)
	return tx.attachedBlock(id)
}

// Referrers returns the blocks of open notebooks that refer to one of ids, with their documents loaded, oldest first.
func (tx *Tx) Referrers(ids ...string) []*tree.Block {
	tx.Flush()
	seen := map[int64]string{}
	for _, id := range ids {
		tx.query(func(s *sqlite.Stmt) bool {
			seen[s.ColumnInt64(0)] = s.ColumnText(1)
			return true
		}, "SELECT node.n, node.id FROM ref JOIN node ON node.n = ref.node WHERE ref.def = ?", id)
	}
	var found []*tree.Block
	for _, id := range seen {
		if b := tx.Block(id); b != nil {
			found = append(found, b)
		}
	}
	slices.SortFunc(found, func(a, b *tree.Block) int { return strings.Compare(a.ID, b.ID) })
	return found
}
