package folder

// State is what became of a file of the folder, or of a document it had become before.
type State string

// The states of files.
const (
	Added       State = "added"
	Updated     State = "updated"     // the file has changed, the document here had not
	Unchanged   State = "unchanged"   // the file makes what it made before
	Moved       State = "moved"       // it is a file that was elsewhere in the folder
	Overwritten State = "overwritten" // it was changed here as well, and the file was to win
	Conflict    State = "conflict"    // it was changed in both places: what is here stays
	Removed     State = "removed"     // the document was removed here, and stays so
	Restored    State = "restored"    // it was removed here, and the file was to win
	Gone        State = "gone"        // the file is not in the folder any more: the document stays
	Closed      State = "closed"      // its notebook is closed
	LeftOut     State = "left-out"    // it could not be read
)

// FileState says what became of one file.
type FileState struct {
	// Path is that in the folder; of a folder that no file stands for it ends with a slash.
	Path  string `json:"path"`
	State State  `json:"state"`
	// Kind is page or asset.
	Kind string `json:"kind"`
	// Target is the id of the document, or the address of the asset.
	Target string `json:"target,omitempty"`
	// From is where the file was before it was moved.
	From string `json:"from,omitempty"`
}

// Count is how many files have a state.
func (r *Report) Count(s State) (n int) {
	for i := range r.States {
		if r.States[i].State == s {
			n++
		}
	}
	return n
}
