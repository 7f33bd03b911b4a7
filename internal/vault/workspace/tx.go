package workspace

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"zombiezen.com/go/sqlite"

	"collie/internal/vault/tree"
)

// Tx is one transaction. Its methods return no errors: the first one of the storage is kept, later methods then answer
// as if the workspace were empty, and View or Update returns it. A Tx is for one goroutine and ends with the function
// it was given to.
//
// Within one Tx there is one value for one thing: asking for a document twice gives the same pointer.
type Tx struct {
	ws      *Workspace
	conn    *sqlite.Conn
	write   bool
	old     bool // the file has no table of imports yet
	err     error
	running map[string]bool // the statements in the middle of their rows

	boxes    map[string]*box // nil until one is asked for
	docs     map[int64]*tree.Document
	blocks   map[string]*tree.Block           // those loaded or made; some may have been cut off since
	indexes  map[int64]map[string]*tree.Block // the blocks of large documents, which are not in blocks
	lastNode int64                            // the largest number of a node, 0 until a block is added
	lost     map[string]map[string]string     // the attributes of blocks that are gone, see [Workspace.WhenErased]
	erased   map[*nodeRow]bool                // rows that are gone from the file, though their blocks may yet come back
}

// box is a notebook and what the file holds of it.
type box struct {
	*tree.Notebook
	stored string // its configuration as JSON
}

// docRow is what the file holds of a document.
type docRow struct {
	n, rev      int64
	parent      int64
	path, hpath string
	box         string
	sort        int
	size        int64
	rows        []*nodeRow // those of its blocks; only that of the root until it is loaded
	removed     bool
	changed     bool // blocks were written in this transaction
}

// nodeRow is what the file holds of a block. It is never changed, but for the mark.
type nodeRow struct {
	n, doc, parent, pos      int64
	id, above                string
	kind, marker, task, text string
	attrs                    []attr
	size                     int64  // its part of the size of the document
	live                     uint64 // the number of the flush that last found that it stays
}

// loses notes that a block goes, if it has attributes that others have given it.
func (tx *Tx) loses(r *nodeRow) {
	for _, a := range r.attrs {
		if strings.HasPrefix(a.name, "custom-") {
			tx.lost[r.id] = r.block().Attrs
			return
		}
	}
}

// attr is an attribute: of two or three, which most blocks have, a list is smaller than a map.
type attr struct{ name, value string }

func attrList(attrs map[string]string) []attr {
	list := make([]attr, 0, len(attrs))
	for name, value := range attrs {
		list = append(list, attr{name, value})
	}
	return list
}

// hasAttrs reports whether a row says of a block's attributes what the block says.
func (r *nodeRow) hasAttrs(attrs map[string]string) bool {
	if len(r.attrs) != len(attrs) {
		return false
	}
	for _, a := range r.attrs {
		if value, has := attrs[a.name]; !has || value != a.value {
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

// Err is the first error of the storage, nil while all is well. Only loops that could otherwise not end need it.
func (tx *Tx) Err() error { return tx.err }

// Abandon ends the transaction for a reason, which View or Update returns: its methods answer from now on as if the
// workspace were empty, and nothing of what was changed is kept. Only the first reason counts, be it one of the storage.
func (tx *Tx) Abandon(reason error) { tx.fail(reason) }

// Writes reports whether tx may change the workspace: whether it is one of Update.
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

func stored(d *tree.Document) *docRow { return d.Stored.(*docRow) }

// loadedDocs returns the documents at hand, the oldest first.
func (tx *Tx) loadedDocs() []*tree.Document {
	list := make([]*tree.Document, 0, len(tx.docs))
	for _, d := range tx.docs {
		list = append(list, d)
	}
	slices.SortFunc(list, func(a, b *tree.Document) int { return cmp.Compare(stored(a).n, stored(b).n) })
	return list
}

// Try runs fn and undoes what it did, in the trees as well, when it returns false. Pointers from before an undoing
// Try no longer belong to tx: ask again by id.
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

// NewID makes an id that no block, document or notebook has.
func (tx *Tx) NewID() string {
	for {
		if id := tree.RandomID(); tx.held(id) == nil {
			return id // 36^7 of one second: the unique index guards the rest
		}
	}
}

// Known reports whether a block has this id, also one of a closed notebook.
func (tx *Tx) Known(id string) bool {
	if tx.attached(id) != nil {
		return true
	}
	_, found := tx.number("SELECT 1 FROM node WHERE id = ?", id)
	return found
}

// EmptyParagraph makes the block that a document without text consists of.
func (tx *Tx) EmptyParagraph() *tree.Block {
	id := tx.NewID()
	b := &tree.Block{ID: id, Kind: tree.Paragraph, Attrs: map[string]string{"id": id, "updated": id[:14]}}
	tx.blocks[id] = b
	return b
}

// Identify gives parsed blocks, and those below them, the ids and times they lack, and returns them. An id from the
// input is kept unless it is taken; blocks that stand for others, as in an update, name those in keep and get the time
// of now.
func (tx *Tx) Identify(blocks []*tree.Block, keep ...string) []*tree.Block {
	for _, b := range blocks {
		b.Walk(func(b *tree.Block) {
			if b.Attrs == nil {
				b.Attrs = map[string]string{}
			}
			id := b.Attrs["id"]
			kept := slices.Contains(keep, id)
			if !tree.ValidID(id) || !kept && tx.taken(id, b) {
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

// taken reports whether another block than b has an id, or has just been given it.
func (tx *Tx) taken(id string, b *tree.Block) bool {
	if tx.attached(id) != nil {
		return true
	}
	if other := tx.held(id); other != nil && other != b && other.Doc == nil && other.Stored == nil {
		return true // made a moment ago and not in its place yet
	}
	doc, found := tx.number("SELECT doc FROM node WHERE id = ?", id)
	if !found {
		return false
	}
	d := tx.docs[doc]
	return d == nil || !d.Loaded // of a loaded document it was cut off, or attached would have found it
}

// held is the block that an id last named here, wherever it hangs now, or nil.
func (tx *Tx) held(id string) *tree.Block {
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

// attached is the block with an id in a tree at hand, or nil.
func (tx *Tx) attached(id string) *tree.Block {
	if b := tx.blocks[id]; b != nil && tx.hangs(b) {
		return b
	}
	for _, index := range tx.indexes {
		if b := index[id]; b != nil && tx.hangs(b) {
			return b
		}
	}
	return nil
}

// hangs reports whether b hangs in the tree of a document at hand.
func (tx *Tx) hangs(b *tree.Block) bool {
	if b.Doc == nil || stored(b.Doc).removed {
		return false
	}
	top := b
	for top.Parent != nil {
		top = top.Parent
	}
	return top == b.Doc.Root
}

// Block is a block of an open notebook, with its document loaded, or nil.
func (tx *Tx) Block(id string) *tree.Block {
	b := tx.find(id)
	if b == nil || b.Doc == nil || b.Doc.Box.Conf.Closed {
		return nil
	}
	return b
}

// find is a block of any notebook, with its document loaded.
func (tx *Tx) find(id string) *tree.Block {
	if b := tx.attached(id); b != nil && b.Doc.Loaded {
		return b
	}
	for _, d := range tx.docs { // a copy with the same id may have taken its place
		if !tx.write || !d.Loaded || stored(d).removed {
			continue // in a view nothing takes another's place
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
		return nil // it was there, and was cut off
	}
	d := tx.docByN(n)
	if d == nil {
		return nil
	}
	tx.Load(d)
	return tx.attached(id)
}

// Referrers returns the blocks of open notebooks that refer to one of ids, their documents loaded, oldest first.
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
