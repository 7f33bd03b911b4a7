package kerneltest

import (
	"cmp"
	"slices"
	"strings"
	"time"
)

// workspace is everything a kernel keeps. All of it is guarded by Kernel.mu.
type workspace struct {
	ids       map[string]bool // every id ever given out
	notebooks map[string]*notebook
	documents map[string]*document
	blocks    map[string]*block // every block of an open notebook, documents included
	files     map[string]*storedFile
	made      int
	pending   []func() // what deleteBlock left to do
	// changedDefs are the blocks whose text changed since the last flush.
	changedDefs map[string]bool
}

func newWorkspace() workspace {
	return workspace{
		ids:       map[string]bool{},
		notebooks: map[string]*notebook{},
		documents: map[string]*document{},
		blocks:    map[string]*block{},
		files:     newFiles(),
	}
}

// notebook is one notebook, open or closed.
type notebook struct {
	id   string
	conf notebookConf
	// page is the hidden document that has the notebook's id; nil on a notebook that only has a configuration.
	page *document
}

// notebookConf is data/<notebook>/.siyuan/conf.json.
type notebookConf struct {
	Name                  string  `json:"name"`
	Sort                  int     `json:"sort"`
	Icon                  string  `json:"icon"`
	Closed                bool    `json:"closed"`
	RefCreateSaveBox      string  `json:"refCreateSaveBox"`
	RefCreateSavePath     string  `json:"refCreateSavePath"`
	DocCreateSaveBox      string  `json:"docCreateSaveBox"`
	DocCreateSavePath     string  `json:"docCreateSavePath"`
	DailyNoteSavePath     string  `json:"dailyNoteSavePath"`
	DailyNoteTemplatePath string  `json:"dailyNoteTemplatePath"`
	SortMode              int     `json:"sortMode"`
	Encrypted             bool    `json:"encrypted"`
	BoxCrypt              *string `json:"boxCrypt"`
}

func newConf(name string) notebookConf {
	return notebookConf{
		Name: name, SortMode: 15,
		DailyNoteSavePath: `/daily note/{{now | date "2006/01"}}/{{now | date "2006-01-02"}}`,
	}
}

// document is one document; its blocks hang below root.
type document struct {
	root    *block
	box     *notebook
	parent  *document // nil at the top of the notebook
	sort    int
	made    int // counts the documents of the workspace as they are made
	changed time.Time
}

func (d *document) id() string    { return d.root.id }
func (d *document) title() string { return d.root.attrs["title"] }
func (d *document) hidden() bool  { return d.box.page == d }

// dir is the folder of d's children inside the notebook, without a trailing slash: /<id>/<id>.
func (d *document) dir() string {
	if d.parent == nil {
		return "/" + d.id()
	}
	return d.parent.dir() + "/" + d.id()
}

// path is /<id>/<id>.sy.
func (d *document) path() string { return d.dir() + ".sy" }

// hpath is the path by titles, without the notebook's name.
func (d *document) hpath() string {
	switch {
	case d.hidden():
		return "/"
	case d.parent == nil:
		return "/" + d.title()
	}
	return d.parent.hpath() + "/" + d.title()
}

// depth is 1 for a document at the top of its notebook.
func (d *document) depth() int {
	if d.parent == nil {
		return 1
	}
	return d.parent.depth() + 1
}

// inside reports whether d is other or lies below it.
func (d *document) inside(other *document) bool {
	for up := d; up != nil; up = up.parent {
		if up == other {
			return true
		}
	}
	return false
}

// children returns the documents directly below parent, or at the top of box when parent is nil, in manual order.
func (w *workspace) children(box *notebook, parent *document) []*document {
	var found []*document
	for _, d := range w.documents {
		if d.box == box && d.parent == parent && !d.hidden() && validID(d.id()) {
			found = append(found, d)
		}
	}
	slices.SortFunc(found, func(a, b *document) int {
		return cmp.Or(cmp.Compare(a.sort, b.sort), strings.Compare(b.id()[:14], a.id()[:14]), cmp.Compare(b.made, a.made))
	})
	return found
}

// below returns d and every document under it.
func (w *workspace) below(d *document) []*document {
	found := []*document{d}
	for _, child := range w.children(d.box, d) {
		found = append(found, w.below(child)...)
	}
	return found
}

// openDocument is the document with an id, unless its notebook is closed.
func (w *workspace) openDocument(id string) *document {
	if d := w.documents[id]; d != nil && !d.box.conf.Closed {
		return d
	}
	return nil
}

// openBlock is the block with an id, unless its notebook is closed.
func (w *workspace) openBlock(id string) *block {
	if b := w.blocks[id]; b != nil && b.doc != nil && !b.doc.box.conf.Closed {
		return b
	}
	return nil
}

// openNotebook is the open notebook with an id.
func (w *workspace) openNotebook(id string) *notebook {
	if box := w.notebooks[id]; box != nil && !box.conf.Closed && box.page != nil {
		return box
	}
	return nil
}

// documentAt finds a document of an open notebook by its path.
func (w *workspace) documentAt(box, path string) *document {
	for _, d := range w.documents {
		if d.box.id == box && !d.box.conf.Closed && d.path() == path {
			return d
		}
	}
	return nil
}

// documentsByHPath finds the documents of an open notebook with a path by titles, oldest first.
func (w *workspace) documentsByHPath(box, hpath string) []*document {
	var found []*document
	for _, d := range w.documents {
		if d.box.id == box && !d.box.conf.Closed && d.hpath() == hpath {
			found = append(found, d)
		}
	}
	slices.SortFunc(found, func(a, b *document) int { return strings.Compare(a.id(), b.id()) })
	return found
}

// adopt puts a document and its blocks into the workspace.
func (w *workspace) adopt(d *document) {
	w.documents[d.id()] = d
	if w.made++; d.made == 0 {
		d.made = w.made
	}
	d.root.doc = d
	w.register(d.root)
}

// register indexes b and all below it, under the document of b.
func (w *workspace) register(b *block) {
	w.blocks[b.id] = b
	w.ids[b.id] = true
	for _, child := range b.children {
		child.parent, child.doc = b, b.doc
		w.register(child)
	}
}

// forget drops b and all below it from the index.
func (w *workspace) forget(b *block) {
	delete(w.blocks, b.id)
	for _, child := range b.children {
		w.forget(child)
	}
}

// drop removes a document with all below it.
func (w *workspace) drop(d *document) {
	for _, gone := range w.below(d) {
		w.forget(gone.root)
		delete(w.documents, gone.id())
	}
}

// settle does what deleteBlock left to do.
func (w *workspace) settle() {
	for _, work := range w.pending {
		work()
	}
	w.pending = nil
}
