package workspace

import "errors"

// Options say how a workspace is opened. The zero value is for everyday use.
type Options struct {
	// ReadOnly opens the file for reading; Update answers errReadOnly.
	ReadOnly bool
	// Readers is how many views may run at once; 0 means 4.
	Readers int
	// CheckTrees makes a transaction panic at its end if it leaves a tree in memory that differs from the file: later
	// transactions would see that tree. It is for tests.
	CheckTrees bool
}

// errReadOnly is what Update returns on a workspace opened for reading.
var errReadOnly = errors.New("the workspace is opened for reading only")

// WhenErased has do called at the end of each Update that has erased blocks with custom attributes: with these, by the id of
// the block, which may be there again. It is set before the workspace is used.
func (w *Workspace) WhenErased(do func(tx *Tx, erased map[string]map[string]string)) {
	w.whenErased = do
}
