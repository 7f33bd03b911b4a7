package folder

// State is what an import did with a file of the folder, or with a document from an earlier import.
type State string

// The states of files.
const (
	Added       State = "added"
	Updated     State = "updated"     // the file has changed and the document has not
	Unchanged   State = "unchanged"   // the file still gives the same document
	Moved       State = "moved"       // the file was elsewhere in the folder
	Overwritten State = "overwritten" // changed in both, and the file takes precedence
	Conflict    State = "conflict"    // changed in both: the vault's version stays
	Removed     State = "removed"     // the document was removed in the vault, and stays so
	Restored    State = "restored"    // removed in the vault, and the file takes precedence
	Gone        State = "gone"        // the file is gone: the document stays
	Closed      State = "closed"      // its notebook is closed
	LeftOut     State = "left-out"    // it could not be read
)

// FileState says what became of one file.
type FileState struct {
	// Path is the path in the folder; it ends with a slash for a folder without a file of its own.
	Path  string `json:"path"`
	State State  `json:"state"`
	// Kind is page or asset.
	Kind string `json:"kind"`
	// Target is the id of the document, or the address of the asset.
	Target string `json:"target,omitempty"`
	// From is the path before the file was moved.
	From string `json:"from,omitempty"`
}

// Count returns how many files have a state.
func (r *Report) Count(s State) (n int) {
	for i := range r.States {
		if r.States[i].State == s {
			n++
		}
	}
	return n
}
