package workspace

import (
	"context"
	"errors"
)

// Options say how a workspace is opened. The zero value is for everyday use.
type Options struct {
	// ReadOnly opens the file for reading; Update answers errReadOnly.
	ReadOnly bool
	// Readers is how many views may run at once; 0 means 4.
	Readers int
	// CacheBlocks is how many blocks of documents lately used stay in memory; 0 means 20,000.
	CacheBlocks int
	// CheckViews has a view panic that has changed a tree, which others would then see. It is for tests.
	CheckViews bool
}

// errReadOnly is what Update returns on a workspace opened for reading.
var errReadOnly = errors.New("the workspace is opened for reading only")

// WhenErased has do called at the end of each Update that has erased blocks with custom attributes: with these, by the id of
// the block, which may be there again. It is set before the workspace is used.
func (w *Workspace) WhenErased(do func(tx *Tx, erased map[string]map[string]string)) {
	w.whenErased = do
}

// View runs fn in a snapshot: it sees one state of the file whatever others write meanwhile. Trees it gets are handed
// on to others when it ends, so it must not change them, nor keep them. The error is fn's, or that of the storage,
// which the methods of Tx keep to themselves.
func (w *Workspace) View(ctx context.Context, fn func(*Tx) error) error { return w.view(ctx, fn) }

// Update runs fn alone: no other process or goroutine writes meanwhile. What fn changed in trees it got from tx, and
// what it did with the methods of tx, is committed when fn returns nil, and undone otherwise. It survives the end of
// the process at any moment after Update has returned.
func (w *Workspace) Update(ctx context.Context, fn func(*Tx) error) error { return w.update(ctx, fn) }
