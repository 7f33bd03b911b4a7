package workspace

import "errors"

// Options say how a workspace is opened. The zero value works.
type Options struct {
	// ReadOnly opens the file for reading; Update then fails.
	ReadOnly bool
	// Readers bounds how many views run at once; 0 means 4.
	Readers int
	// CheckTrees makes a transaction panic at its end if a tree in memory differs from the file, since later
	// transactions would see that tree. It is for tests.
	CheckTrees bool
}

// errReadOnly is the error of Update on a workspace that was opened for reading.
var errReadOnly = errors.New("the workspace is opened for reading only")

// OnErased sets a function that is called at the end of each Update that has erased blocks with custom attributes. It
// gets those attributes by block id. The block may exist again by then. Set it before the workspace is used.
func (w *Workspace) OnErased(do func(tx *Tx, erased map[string]map[string]string)) {
	w.onErased = do
}
