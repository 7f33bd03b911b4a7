package workspace

import (
	"time"

	"collie/internal/vault/tree"
)

// Tx is one transaction. Its methods return no errors: the first one of the storage is kept, later methods then answer
// as if the workspace were empty, and View or Update returns it. A Tx is for one goroutine and ends with the function
// it was given to.
//
// Within one Tx there is one value for one thing: asking for a document twice gives the same pointer.
type Tx struct{ state }

// Err is the first error of the storage, nil while all is well. Only loops that could otherwise not end need it.
func (tx *Tx) Err() error { return tx.err }

// Writes reports whether tx may change the workspace: whether it is one of Update.
func (tx *Tx) Writes() bool { return tx.write }

// Notebooks.

// Notebooks returns every notebook, open or closed, in the order of the list.
func (tx *Tx) Notebooks() []*tree.Notebook { return tx.notebooks() }

// Notebook is the notebook with an id, open or closed, or nil.
func (tx *Tx) Notebook(id string) *tree.Notebook { return tx.notebook(id) }

// OpenNotebook is the open notebook with an id that has a page, or nil.
func (tx *Tx) OpenNotebook(id string) *tree.Notebook { return tx.openNotebook(id) }

// CreateNotebook adds an open notebook before the others, with its page, which holds an empty paragraph.
func (tx *Tx) CreateNotebook(name string) *tree.Notebook { return tx.createNotebook(name) }

// AddNotebook adds a notebook as it is, without a page if it is closed: a ghost that only has a configuration.
// Changes to Conf of a notebook from tx need no call: they are found like those of trees.
func (tx *Tx) AddNotebook(box *tree.Notebook) { tx.addNotebook(box) }

// RemoveNotebook removes a notebook with its documents; files below its folder stay.
func (tx *Tx) RemoveNotebook(box *tree.Notebook) { tx.removeNotebook(box) }

// Page is the hidden document of a notebook, loaded, whether the notebook is open or not; nil for a ghost.
func (tx *Tx) Page(box *tree.Notebook) *tree.Document { return tx.page(box) }

// Documents.

// Document is the document of an open notebook with an id, loaded with its blocks, or nil.
func (tx *Tx) Document(id string) *tree.Document { return tx.document(id, true) }

// DocumentTaken reports whether a document has this id, also one of a closed notebook.
func (tx *Tx) DocumentTaken(id string) bool { return tx.documentTaken(id) }

// Load gives a document its blocks, unless it has them. Lists of documents come without.
func (tx *Tx) Load(d *tree.Document) { tx.load(d) }

// DocumentAt is the document of an open notebook at a path, /<id>/<id>.sy, loaded, or nil.
func (tx *Tx) DocumentAt(box, path string) *tree.Document { return tx.documentAt(box, path, true) }

// ListedAt is DocumentAt for a document that need not be loaded.
func (tx *Tx) ListedAt(box, path string) *tree.Document { return tx.documentAt(box, path, false) }

// DocumentsByHPath returns the documents of an open notebook with a path by titles, oldest first, not loaded.
// "/" is the page.
func (tx *Tx) DocumentsByHPath(box, hpath string) []*tree.Document {
	return tx.documentsByHPath(box, hpath)
}

// Children returns the documents right below parent, or at the top of box when parent is nil, in manual order, not
// loaded. The page is not among them, nor are documents with malformed ids.
func (tx *Tx) Children(box *tree.Notebook, parent *tree.Document) []*tree.Document {
	return tx.children(box, parent)
}

// CountChildren is how many documents Children would return, for many parents at once: by id of the parent, the id
// of a notebook standing for its top. Parents without children are missing.
func (tx *Tx) CountChildren(parents []string) map[string]int { return tx.countChildren(parents) }

// Below returns d and every document under it, parents first, not loaded.
func (tx *Tx) Below(d *tree.Document) []*tree.Document { return tx.below(d) }

// Documents returns the documents of open notebooks, or of box if it is not nil, oldest first, pages included, not
// loaded.
func (tx *Tx) Documents(box *tree.Notebook) []*tree.Document { return tx.documents(box) }

// AddDocument adds a document behind its siblings with blocks in it (an empty paragraph when there are none), which
// must come from Identify. A title of "" becomes Untitled and one of more than 512 characters is cut. id may be "".
func (tx *Tx) AddDocument(box *tree.Notebook, parent *tree.Document, title, id string, blocks []*tree.Block) *tree.Document {
	return tx.addDocument(box, parent, title, id, blocks)
}

// RemoveDocument removes d with all below it. It keeps no history.
func (tx *Tx) RemoveDocument(d *tree.Document) { tx.removeDocument(d) }

// MoveDocument hangs d, with all below it, under parent or at the top of box. The caller has made sure that parent
// does not lie in d. A changed Sort or title of a document needs no call.
func (tx *Tx) MoveDocument(d *tree.Document, box *tree.Notebook, parent *tree.Document) {
	tx.moveDocument(d, box, parent)
}

// Blocks.

// Block is a block of an open notebook, with its document loaded, or nil.
func (tx *Tx) Block(id string) *tree.Block { return tx.block(id) }

// Known reports whether a block has this id, also one of a closed notebook.
func (tx *Tx) Known(id string) bool { return tx.known(id) }

// NewID makes an id that no block, document or notebook has.
func (tx *Tx) NewID() string { return tx.newID() }

// Identify gives parsed blocks, and those below them, the ids and times they lack, and returns them. An id from the
// input is kept unless it is taken; blocks that stand for others, as in an update, name those in keep and get the time
// of now.
func (tx *Tx) Identify(blocks []*tree.Block, keep ...string) []*tree.Block {
	return tx.identify(blocks, keep...)
}

// Referrers returns the blocks of open notebooks that refer to one of ids, their documents loaded, oldest first.
func (tx *Tx) Referrers(ids ...string) []*tree.Block { return tx.referrers(ids) }

// EmptyParagraph makes the block that a document without text consists of.
func (tx *Tx) EmptyParagraph() *tree.Block { return tx.emptyParagraph() }

// Try runs fn and undoes what it did, in the trees as well, when it returns false. Pointers from before an undoing
// Try no longer belong to tx: ask again by id.
func (tx *Tx) Try(fn func() bool) { tx.try(fn) }

// Files: what is in the workspace beside the tree, by absolute path such as /data/assets/a.png.

// File is a file or folder of the workspace that is not part of the tree.
type File struct {
	Path    string
	Dir     bool
	Size    int64
	Changed time.Time
}

// Stat returns a file or folder, or nil.
func (tx *Tx) Stat(path string) *File { return tx.stat(path) }

// ReadFile returns what a file holds, nil when it is a folder or not there.
func (tx *Tx) ReadFile(path string) []byte { return tx.readFile(path) }

// WriteFile replaces a file; the folders above it are made. The zero time means now.
func (tx *Tx) WriteFile(path string, data []byte, changed time.Time) {
	tx.writeFile(path, data, changed)
}

// MakeDir makes a folder and those above it.
func (tx *Tx) MakeDir(path string) { tx.makeDir(path) }

// RemoveFile removes a file, or a folder with all in it.
func (tx *Tx) RemoveFile(path string) { tx.removeFile(path) }

// RenameFile moves a file, or a folder with all in it; the folders above the new place are made.
func (tx *Tx) RenameFile(from, to string) { tx.renameFile(from, to) }

// Files returns what lies right below a folder, by name.
func (tx *Tx) Files(dir string) []File { return tx.files(dir, false) }

// FilesBelow returns everything below a folder, by path.
func (tx *Tx) FilesBelow(dir string) []File { return tx.files(dir, true) }

// Records: what a family of endpoints keeps for itself, such as cards or snapshots.

// Record is one thing a family keeps. Kind and ID name it; Owner and At are what lists are made by.
type Record struct {
	Kind, ID string
	Owner    string
	At       int64
	Body     []byte
}

// Record returns a record, nil when there is none.
func (tx *Tx) Record(kind, id string) *Record { return tx.record(kind, id) }

// PutRecord adds or replaces a record.
func (tx *Tx) PutRecord(r Record) { tx.putRecord(r) }

// RemoveRecord removes a record if it is there.
func (tx *Tx) RemoveRecord(kind, id string) { tx.removeRecord(kind, id) }

// Records returns the records of a kind, or of one owner in it if owner is not "", by At and then by ID.
func (tx *Tx) Records(kind, owner string) []Record { return tx.records(kind, owner) }

// SQL.

// Row is one row of a result, valid until the function it was given to returns.
type Row interface {
	// Text and Int return the value of a column, counted from 0.
	Text(column int) string
	Int(column int) int64
	// Names are the columns.
	Names() []string
	// Value is a column as SQLite holds it: nil, int64, float64, string or []byte.
	Value(column int) any
}

// Rows calls each for every row of a statement of ours until it returns false. It sees what fn given to Update has
// changed in trees only after Flush.
func (tx *Tx) Rows(each func(Row) bool, statement string, args ...any) {
	tx.rows(each, statement, args...)
}

// Flush writes what was changed in trees so far, within the transaction, so that Rows sees it. In a View it does
// nothing.
func (tx *Tx) Flush() { tx.flush() }
