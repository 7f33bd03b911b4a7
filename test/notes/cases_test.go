package notes_test

import "collie/internal/source/siyuan/access"

// kind says how the outcome of an action depends on the levels of notebooks.
type kind uint8

const (
	// needsLevel: the notebook that contains the named thing must have the level.
	needsLevel kind = iota
	// filtersResult: it always runs, but leaves out what may not be read.
	filtersResult
	// needsEverywhere: every notebook of the workspace must have the level.
	needsEverywhere
	// peopleOnly: only a person at a terminal may call it.
	peopleOnly
	// anyLevel: it does not depend on any notebook.
	anyLevel
)

// argsFunc returns the arguments of a call about a place.
type argsFunc func(w *workspace, p *place) object

// useCase is one use of an action, with the level it needs, written by hand. Tests call it about the notebook shut, whose
// level they set; see the fields of workspace.
type useCase struct {
	act  string // the name of the action, such as "fs.read"
	how  string // distinguishes the cases of one action
	kind kind
	need access.Level // from this level on the use is allowed
	args argsFunc
	// writes marks a case that changes something although it needs no more than r.
	writes bool
	// showsWord is a word of the place that the result contains if the place may be read.
	showsWord string
	// answersEach marks a case that names several things and answers for each one separately.
	answersEach bool
	// noEffect marks a case that changes nothing even when it is allowed, because the old version that it names does not exist.
	noEffect bool
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
