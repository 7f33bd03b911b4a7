package tree

import "time"

// MaxDepth is how deep documents lie below each other at most; one at the top of its notebook has depth 1.
const MaxDepth = 7

// Document is one document. Its blocks hang below Root, once they are loaded.
type Document struct {
	// Root is the block that stands for the document. It is never nil; without Loaded it has no children.
	Root   *Block
	Loaded bool
	Box    *Notebook
	Parent *Document // nil at the top of the notebook
	// Sort is the place among its siblings in manual order; equal ones follow by time, the newest first.
	Sort int
	// Made counts the documents of the workspace as they are made.
	Made    int64
	Changed time.Time
	// Stored is for the storage below.
	Stored any
}

// ID is the document's id, which is that of its root.
func (d *Document) ID() string { return d.Root.ID }

// Title is what its attribute title says.
func (d *Document) Title() string { return d.Root.Attrs["title"] }

// Hidden reports whether d is the page of its notebook.
func (d *Document) Hidden() bool { return d.ID() == d.Box.ID }

// Dir is the folder of d's children inside the notebook, without a trailing slash: /<id>/<id>.
func (d *Document) Dir() string {
	if d.Parent == nil {
		return "/" + d.ID()
	}
	return d.Parent.Dir() + "/" + d.ID()
}

// Path is /<id>/<id>.sy.
func (d *Document) Path() string { return d.Dir() + ".sy" }

// HPath is the path by titles, without the notebook's name; "/" for a page.
func (d *Document) HPath() string {
	switch {
	case d.Hidden():
		return "/"
	case d.Parent == nil:
		return "/" + d.Title()
	}
	return d.Parent.HPath() + "/" + d.Title()
}

// Depth is 1 for a document at the top of its notebook.
func (d *Document) Depth() int {
	if d.Parent == nil {
		return 1
	}
	return d.Parent.Depth() + 1
}

// Inside reports whether d is other or lies below it.
func (d *Document) Inside(other *Document) bool {
	for up := d; up != nil; up = up.Parent {
		if up.ID() == other.ID() {
			return true
		}
	}
	return false
}
