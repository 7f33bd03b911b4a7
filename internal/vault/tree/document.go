package tree

import "time"

// MaxDepth bounds the nesting of documents; one at the top of its notebook has depth 1.
const MaxDepth = 7

// Document is one document. Its blocks are below Root once they are loaded.
type Document struct {
	// Root is the block for the document, never nil. Unless Loaded is set it has no children.
	Root   *Block
	Loaded bool
	Box    *Notebook
	Parent *Document // nil at the top of the notebook
	// Sort is its position among its siblings in manual order; equal ones are ordered by time, newest first.
	Sort int
	// Number is the position of the document in the order of creation in the workspace.
	Number  int64
	Changed time.Time
	// Stored is for the storage.
	Stored any
}

// ID returns the document's id, which is that of its root.
func (d *Document) ID() string { return d.Root.ID }

// Title returns the attribute title.
func (d *Document) Title() string { return d.Root.Attrs["title"] }

// Hidden reports whether d is the page of its notebook.
func (d *Document) Hidden() bool { return d.ID() == d.Box.ID }

// Dir returns the folder of d's children in the notebook, without a trailing slash: /<id>/<id>.
func (d *Document) Dir() string {
	if d.Parent == nil {
		return "/" + d.ID()
	}
	return d.Parent.Dir() + "/" + d.ID()
}

// Path returns the path of the document in its notebook: /<id>/<id>.sy.
func (d *Document) Path() string { return d.Dir() + ".sy" }

// HPath returns the path of titles, without the notebook's name; "/" for a page.
func (d *Document) HPath() string {
	switch {
	case d.Hidden():
		return "/"
	case d.Parent == nil:
		return "/" + d.Title()
	}
	return d.Parent.HPath() + "/" + d.Title()
}

// Depth returns the nesting of the document: 1 at the top of its notebook.
func (d *Document) Depth() int {
	if d.Parent == nil {
		return 1
	}
	return d.Parent.Depth() + 1
}

// Inside reports whether d is other or is below it.
func (d *Document) Inside(other *Document) bool {
	for up := d; up != nil; up = up.Parent {
		if up.ID() == other.ID() {
			return true
		}
	}
	return false
}
