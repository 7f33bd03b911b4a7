package workspace

import (
	"errors"

	"zombiezen.com/go/sqlite"
)

// Trouble is a kind of problem with the file itself. Nothing was written then.
type Trouble string

// The kinds of trouble.
const (
	Damaged   Trouble = "damaged"
	Newer     Trouble = "newer"     // written by a later Collie
	Foreign   Trouble = "foreign"   // written by another program
	Unwritten Trouble = "read-only" // the file or its folder may not be written
	DiskFull  Trouble = "disk-full"
	Locked    Trouble = "locked"   // another process holds it
	Unopened  Trouble = "unopened" // it, or a file beside it, cannot be opened
)

// troubleError is an error with its Trouble.
type troubleError struct {
	text    string
	trouble Trouble
}

func (t *troubleError) Error() string { return t.text }

// TroubleOf returns the trouble that an error of a workspace is about, "" for none.
func TroubleOf(err error) Trouble {
	if e, ok := errors.AsType[*troubleError](err); ok {
		return e.trouble
	}
	if err == nil {
		return ""
	}
	switch sqlite.ErrCode(err).ToPrimary() {
	case sqlite.ResultCorrupt, sqlite.ResultNotADB:
		return Damaged
	case sqlite.ResultReadOnly, sqlite.ResultPerm:
		return Unwritten
	case sqlite.ResultFull:
		return DiskFull
	case sqlite.ResultBusy, sqlite.ResultLocked:
		return Locked
	case sqlite.ResultCantOpen:
		return Unopened
	}
	return ""
}
