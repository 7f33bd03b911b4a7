package workspace

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"zombiezen.com/go/sqlite"

	"collie/internal/vault/tree"
)

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
	lostAttrs map[string]map[string]string     // attributes of erased blocks, see [Workspace.WhenErased]
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

// recordLostAttrs records the attributes of a block that is being erased, for [Workspace.WhenErased], if any of them is
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

// forget drops everything read so far, so that it is read again.
func (tx *Tx) forget() {
	tx.boxes, tx.lastNode = nil, 0
	tx.docs, tx.blocks, tx.erased = map[int64]*tree.Document{}, map[string]*tree.Block{}, map[*nodeRow]bool{}
	tx.indexes = map[int64]map[string]*tree.Block{}
}

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

// NewID returns an id that no block, document or notebook has. It is random, and the unique index of ids guards against
// a collision with a block that is not loaded.
func (tx *Tx) NewID() string {
	for {
		if id := tree.RandomID(); tx.lastWithID(id) == nil {
			return id // one of 36^7 for each second; the unique index guards the rest
		}
	}
}

// Known reports whether any notebook has a block with this id.
func (tx *Tx) Known(id string) bool {
	if tx.attachedBlock(id) != nil {
		return true
	}
	_, found := tx.number("SELECT 1 FROM node WHERE id = ?", id)
	return found
}

// EmptyParagraph returns a new paragraph without text, for a document without blocks.
func (tx *Tx) EmptyParagraph() *tree.Block {
	id := tx.NewID()
	b := &tree.Block{ID: id, Kind: tree.Paragraph, Attrs: map[string]string{"id": id, "updated": id[:14]}}
	tx.blocks[id] = b
	return b
}

// Identify gives parsed blocks, and all blocks in them, the ids and times that they lack, and returns them. An id from
// the input is kept unless another block has it. keep has the ids of blocks that are to be replaced, as in an update:
// the new block keeps the id and gets the current time.
func (tx *Tx) Identify(blocks []*tree.Block, keep ...string) []*tree.Block {
	for _, b := range blocks {
		b.Walk(func(b *tree.Block) {
			if b.Attrs == nil {
				b.Attrs = map[string]string{}
			}
			id := b.Attrs["id"]
			isReplaced := slices.Contains(keep, id)
			if !tree.ValidID(id) || !isReplaced && tx.isTaken(id, b) {
				id = tx.NewID()
			}
			b.ID, b.Attrs["id"] = id, id
			tx.blocks[id] = b
			switch {
			case isReplaced:
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

// isTaken reports whether a block other than b has an id, including one that was just given it.
func (tx *Tx) isTaken(id string, b *tree.Block) bool {
	if tx.attachedBlock(id) != nil {
		return true
	}
	if last := tx.lastWithID(id); last != nil && last != b && last.Doc == nil && last.Stored == nil {
		return true // new, and not inserted yet
	}
	doc, found := tx.number("SELECT doc FROM node WHERE id = ?", id)
	if !found {
		return false
	}
	d := tx.docs[doc]
	return d == nil || !d.Loaded // of a loaded document: it was removed, or attachedBlock would have found it
}

// lastWithID returns the block that last had an id in this transaction, even if it is no longer in a tree; nil if there
// is none.
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

// Block returns the block with an id in an open notebook, with its document loaded, or nil.
func (tx *Tx) Block(id string) *tree.Block {
	b := tx.find(id)
	if b == nil || b.Doc == nil || b.Doc.Box.Conf.Closed {
		return nil
	}
	return b
}

// find returns the block with an id in any notebook, with its document loaded, or nil.
func (tx *Tx) find(id string) *tree.Block {
	if b := tx.attachedBlock(id); b != nil && b.Doc.Loaded {
		return b
	}
	for _, d := range tx.docs { // a block with the same id may have replaced it
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
		return nil // it was removed in this transaction
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
	idByNumber := map[int64]string{}
	for _, id := range ids {
		tx.query(func(s *sqlite.Stmt) bool {
			idByNumber[s.ColumnInt64(0)] = s.ColumnText(1)
			return true
		}, "SELECT node.n, node.id FROM ref JOIN node ON node.n = ref.node WHERE ref.def = ?", id)
	}
	var found []*tree.Block
	for _, id := range idByNumber {
		if b := tx.Block(id); b != nil {
			found = append(found, b)
		}
	}
	slices.SortFunc(found, func(a, b *tree.Block) int { return strings.Compare(a.ID, b.ID) })
	return found
}
