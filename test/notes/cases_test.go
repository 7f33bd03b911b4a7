package notes_test

import "collie/internal/source/siyuan/access"

// kind says how the outcome of an action depends on the levels of notebooks.
type kind uint8

const (
	// needs: the notebook that contains the named thing must have the level.
	needs kind = iota
	// filters: it always runs, but leaves out what may not be read.
	filters
	// everywhere: every notebook of the workspace must have the level.
	everywhere
	// people: only a person at a terminal may call it.
	people
	// free: it does not depend on any notebook.
	free
)

// aim returns the arguments of a call about a place.
type aim func(w *workspace, p *place) object

// useCase is one use of an action, with the level it needs, written by hand.
type useCase struct {
	act  string
	how  string // distinguishes the cases of one action
	kind kind
	need access.Level
	args aim
	// writes marks a case that changes something although it needs no more than r.
	writes bool
	// shows is a word of the place that the result contains if the place may be read.
	shows string
	// mild marks a case that names several things and answers for each one separately.
	mild bool
	// vain marks a case that has no effect even when it is allowed, for example because the copy does not
	// exist.
	vain bool
}

// cases returns the cases of all tools.
func cases() []useCase {
	var all []useCase
	for _, list := range [][]useCase{
		fsCases, notebookCases, documentCases, blockCases, avCases, fileCases, searchCases, tagCases, systemCases,
		flashcardCases, mascotCases, timelineCases,
	} {
		all = append(all, list...)
	}
	return all
}

// The levels of notebooks, with short names for the tables of cases.
const (
	r   = access.Read
	rw  = access.Write
	rwd = access.Delete
)
