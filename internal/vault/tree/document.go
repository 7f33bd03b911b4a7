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
	// Sort is its place among its siblings in manual order; equal ones are ordered by time, newest first.
	Sort int
	// Made numbers the documents of the workspace in the order of their creation.
	Made    int64
	Changed time.Time
	// Stored is the storage's own data.
	Stored any
}

// ID is the document's id, which is that of its root.
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

// Path returns /<id>/<id>.sy.
func (d *Document) Path() string { return d.Dir() + ".sy" }

// HPath returns the path by titles, without the notebook's name; "/" for a page.
func (d *Document) HPath() string {
	switch {
	case d.Hidden():
		return "/"
	case d.Parent == nil:
		return "/" + d.Title()
	}
	return d.Parent.HPath() + "/" + d.Title()
}

// Depth returns 1 for a document at the top of its notebook.
func (d *Document) Depth() int {
	if d.Parent == nil {
		return 1
	}
	return d.Parent.Depth() + 1
}

// Inside reports whether d is other or below it.
func (d *Document) Inside(other *Document) bool {
	for up := d; up != nil; up = up.Parent {
		if up.ID() == other.ID() {
			return true
		}
	}
	return false
}
