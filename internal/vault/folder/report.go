package folder

import (
	"cmp"
	"fmt"
	"path"
	"slices"

	"collie/internal/sorting"
)

// Codes of a [Problem]. They are stable.
const (
	codeUnreadable      = "unreadable"        // a file or folder that the system does not let us read
	codeBinary          = "binary"            // a file with a name of Markdown that is not text: left out
	codeEncoding        = "encoding"          // text in an unknown encoding: left out
	codeEncodingGuessed = "encoding-guessed"  // text that is not UTF-8, read as GB18030 or UTF-16
	codeTooLarge        = "too-large"         // a file above the limit: left out
	codeSymlink         = "symlink"           // a symbolic link to a folder, or out of the folder: left out
	codeNotRegular      = "not-regular"       // a pipe, socket or device: left out
	codeFrontMatter     = "front-matter"      // front matter that is not YAML, or too much: kept as code
	codeFrontMatterKey  = "front-matter-key"  // a key of the front matter whose value could not be kept
	codeTitleChanged    = "title-changed"     // a title that the vault cannot hold as it is
	codeTooDeep         = "too-deep"          // a document below the seventh level: moved up
	codeIDTaken         = "id-taken"          // an id that the vault or another file has: a new one was given
	codeLinkMissing     = "link-missing"      // a link to a page, heading or block that is not there: kept as it was
	codeFileMissing     = "file-missing"      // an image or attachment that is not there: the link is kept as it was
	codeHidden          = "hidden"            // a hidden file or folder that may hold notes: left out
	codeNotLinked       = "not-linked"        // a file that no page names: left out
	codeQuery           = "query"             // a query of another program: kept as code
	codeIncomplete      = "incomplete-export" // an export that was interrupted
	codeAssetRenamed    = "asset-renamed"     // an asset whose name is taken by another file in the vault
	codeDatabaseTaken   = "database-taken"    // a database that the vault has already, with another content: left out
	codeDatabase        = "database"          // a database without its file, or one that cannot be read
	codeCard            = "card"              // a flashcard that could not be read
	codeCallout         = "callout"           // the fold mark of a callout, and what stands behind a bar in its kind: left out
	codeImageAttrs      = "image-attributes"  // attributes of an image in HTML that Markdown has no word for: left out
	codeChanged         = "changed"           // a line that the vault cannot hold as it is
	codeMarkdown        = "markdown"          // a document that Markdown cannot say exactly
	codeDocumentID      = "document-id"       // a document with a malformed id
	codeConflict        = "conflict"          // a document or asset that was changed here as well: what is here stays
	codePathTaken       = "path-taken"        // a document at the path of another one
	codeNotebookClosed  = "notebook-closed"   // a notebook that is closed: nothing in it was touched
	codePage            = "notebook-page"     // the text of a notebook itself, which an archive holds as a document
	codeFileKept        = "file-kept"         // a file of the earlier export that could not be removed
)

// Report says what an import or export did.
type Report struct {
	Notebooks, Documents, Blocks int
	// Files counts assets and other files besides the documents.
	Files int
	// States has the state of each file of an import.
	States []FileState
	// From is the former path of the folder, if the import recognized it as moved; else "".
	From string
	// Problems lists what could not be kept or was changed, by path and line.
	Problems []Problem
	// Changes counts the lines that are written differently but mean the same, by kind.
	Changes []Change
}

// Problem is one thing that could not be kept or was changed.
type Problem struct {
	// Path is the file or folder, with slashes; in an export the document's path.
	Path string `json:"path"`
	// Line counts from 1; 0 means the whole file.
	Line int `json:"line,omitempty"`
	// Code is one of the codes of this package.
	Code string `json:"code"`
	// What names the thing. Why says what is wrong with it and what was done.
	What string `json:"what"`
	Why  string `json:"why"`
}

// maxWhat bounds what a problem quotes, in characters.
const maxWhat = 200

func (r *Report) problem(path string, line int, code, what, why string) {
	r.Problems = append(r.Problems, Problem{path, line, code, shortenText(what), why})
}

func shortenText(what string) string {
	if runes := []rune(what); len(runes) > maxWhat {
		what = string(runes[:maxWhat]) + "…"
	}
	return what
}

// sort puts the worst problems first: what is missing in the vault, what differs there, links without a target,
// changes of form, and last the files to which nothing links.
func (r *Report) sort() {
	sorting.Stable(r.Problems, func(a, b Problem) int {
		return cmp.Or(cmp.Compare(rank(a.Code), rank(b.Code)), cmp.Compare(a.Path, b.Path), cmp.Compare(a.Line, b.Line))
	})
	sorting.Stable(r.States, func(a, b FileState) int { return cmp.Compare(a.Path, b.Path) })
}

// rank returns how bad a problem is, 0 for the worst.
func rank(code string) int {
	switch code {
	case codeUnreadable, codeBinary, codeEncoding, codeTooLarge, codeSymlink, codeNotRegular, codeIncomplete, codeDatabase, codeDatabaseTaken, codeCard:
		return 0
	case codeLinkMissing, codeFileMissing:
		return 2
	case codeEncodingGuessed, codeTitleChanged, codeTooDeep, codeIDTaken, codeQuery, codeAssetRenamed, codeImageAttrs, codeCallout:
		return 3
	case codeHidden, codeNotLinked:
		return 4
	}
	return 1
}

// ByFolder returns the problems, with the files to which nothing links counted by folder.
func (r *Report) ByFolder() []Problem {
	var problems []Problem
	counts, at := map[string]int{}, map[string]int{}
	for _, p := range r.Problems {
		if p.Code != codeNotLinked {
			problems = append(problems, p)
			continue
		}
		dir := path.Dir(p.Path) + "/"
		if counts[dir]++; counts[dir] == 1 {
			at[dir] = len(problems)
			problems = append(problems, p)
			continue
		}
		problems[at[dir]] = Problem{Path: dir, Code: codeNotLinked, What: fmt.Sprintf("%d files", counts[dir]), Why: "no page links to these files: left out"}
	}
	return problems
}

// changeKinds is a set of harmless differences between a line in the file and in the vault: written differently, with
// the same meaning.
type changeKinds uint16

const (
	asReference changeKinds = 1 << iota
	asEmbed
	asAddress
	asTag
	asCallout
	asComment
	asAttribute
	asTask
	asHeading
	asCode
	asDefinition
	asImage
	asFront
	asLayout
	asInvisible
)

// kindNames has the names of the kinds in a [Change], and their descriptions.
var kindNames = [...]struct {
	kind      changeKinds
	name, why string
}{
	{asReference, "reference", "links to pages, headings and blocks are references to them"},
	{asEmbed, "embed", "embedded pages and blocks are blocks that show them"},
	{asAddress, "address", "links to files of the folder lead to the assets they became"},
	{asTag, "tag", "tags are closed (#tag#), and a # that begins none is escaped"},
	{asCallout, "callout", "the kind of a callout is in upper case"},
	{asComment, "comment", "comments between %% are HTML comments"},
	{asAttribute, "attribute", "properties, names of blocks and attribute lists are attributes of their blocks"},
	{asTask, "task", "words of tasks are boxes"},
	{asHeading, "heading", "headings begin with number signs"},
	{asCode, "code", "indented code, blocks of Org mode and macros stand between fences or backticks"},
	{asDefinition, "definition", "links by name have their address in them"},
	{asImage, "image", "images in HTML, and sizes of images, are written as Markdown with an attribute list"},
	{asFront, "front-matter", "front matter is attributes of the document"},
	{asInvisible, "zero-width", "zero-width spaces are left out"},
	{asLayout, "layout", "numbers of lists count on, code spans and items of text stay on one line, marks of lists, quotes, tables, emphasis, rules and fences are written in one way, with blank lines between blocks"},
}

// Change counts lines that are written differently in the vault but mean the same.
type Change struct {
	// Kind is a short stable name; Why describes the change.
	Kind  string `json:"kind"`
	Why   string `json:"why"`
	Lines int    `json:"lines"`
}

// recordChange records that a line of a file is written differently.
func (im *importer) recordChange(path string, line int, k changeKinds) {
	for i, kind := range kindNames {
		if k&kind.kind != 0 {
			im.changes[i]++
		}
	}
	if im.o.OnChange != nil {
		im.o.OnChange(path, line, k.names())
	}
}

// names returns the names of kinds.
func (k changeKinds) names() []string {
	var names []string
	for _, kind := range kindNames {
		if k&kind.kind != 0 {
			names = append(names, kind.name)
		}
	}
	return names
}

// summarizeChanges adds the number of lines of each kind of change to the report, the most frequent kind first.
func (im *importer) summarizeChanges() {
	for i, kind := range kindNames {
		if im.changes[i] > 0 {
			im.report.Changes = append(im.report.Changes, Change{kind.name, kind.why, im.changes[i]})
		}
	}
	slices.SortStableFunc(im.report.Changes, func(a, b Change) int { return b.Lines - a.Lines })
}

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
