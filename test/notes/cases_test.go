package notes_test

import "collie/internal/source/siyuan/access"

// kind says how an action stands to the levels.
type kind uint8

const (
	// needs: what is named must have the level.
	needs kind = iota
	// filters: it always runs, and leaves out what may not be read.
	filters
	// everywhere: every notebook of the workspace must have the level.
	everywhere
	// people: only a person at a terminal may call it.
	people
	// free: it has to do with no notebook.
	free
)

// aim makes arguments that are about a place.
type aim func(w *workspace, p *place) object

// useCase is a use of an action and the level it needs, written down by hand.
type useCase struct {
	act  string
	how  string // tells the cases of one action apart
	kind kind
	need access.Level
	args aim
	// writes is for cases that change something though they need no more than r.
	writes bool
	// shows is a word of the place that the result has while it may be read.
	shows string
	// mild is for cases that name several things and answer for each by itself.
	mild bool
	// vain is for cases that have nothing to do when they may: there is no such copy, say.
	vain bool
}

// cases are all of them.
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

// The levels, as the tables of cases write them.
const (
	r   = access.Read
	rw  = access.Write
	rwd = access.Delete
)
