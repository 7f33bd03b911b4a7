package folder

import (
	"cmp"
	"fmt"
	"path"

	"collie/internal/sorting"
)

// Codes say what kind of problem a [Problem] is. They do not change.
const (
	Unreadable      = "unreadable"        // a file or folder that the system does not let us read
	Binary          = "binary"            // a file named like Markdown that is none
	Encoding        = "encoding"          // text in an unknown encoding: left out
	EncodingGuessed = "encoding-guessed"  // text that is not UTF-8, read as GB18030 or UTF-16
	TooLarge        = "too-large"         // a file above the limit: left out
	Symlink         = "symlink"           // a symbolic link to a folder, or out of the folder: left out
	NotRegular      = "not-regular"       // a pipe, socket or device: left out
	FrontMatter     = "front-matter"      // front matter that is not YAML, or too much: kept as code
	FrontMatterKey  = "front-matter-key"  // a key of the front matter whose value could not be kept
	TitleChanged    = "title-changed"     // a title that the vault cannot hold as it is
	TooDeep         = "too-deep"          // a document below the seventh level: moved up
	IDTaken         = "id-taken"          // an id that the vault or another file has: a new one was given
	LinkMissing     = "link-missing"      // a link to a page, heading or block that is not there: kept as it was
	FileMissing     = "file-missing"      // an image or attachment that is not there: the link is kept as it was
	Hidden          = "hidden"            // a hidden file or folder that may hold notes: left out
	NotLinked       = "not-linked"        // a file that no page names: left out
	Query           = "query"             // a query of another program: kept as code
	Incomplete      = "incomplete-export" // an export that was interrupted
	AssetRenamed    = "asset-renamed"     // an asset whose name is taken by another file in the vault
	DatabaseTaken   = "database-taken"    // a database that the vault has already, with another content: left out
	Database        = "database"          // a database without its file, or one that cannot be read
	Card            = "card"              // a flashcard that could not be read
	Callout         = "callout"           // the fold mark of a callout, and what stands behind a bar in its kind: left out
	ImageAttrs      = "image-attributes"  // attributes of an image in HTML that Markdown has no word for: left out
	Changed         = "changed"           // a line that the vault cannot hold as it is
	Markdown        = "markdown"          // a document that Markdown cannot say exactly
	DocumentID      = "document-id"       // a document with a malformed id
	ChangedBoth     = "conflict"          // a document or asset that was changed here as well: what is here stays
	PathTaken       = "path-taken"        // a document at the path of another one
	NotebookClosed  = "notebook-closed"   // a notebook that is closed: nothing in it was touched
	Page            = "notebook-page"     // the text of a notebook itself, which an archive holds as a document
	FileKept        = "file-kept"         // a file of the earlier export that could not be removed
)

// Report says what was done.
type Report struct {
	Notebooks, Documents, Blocks int
	// Files counts assets and other files beside the documents.
	Files int
	// States are what became of each file, of an import.
	States []FileState
	// From is the place that the folder was taken for, since it is no more; "" if it was not.
	From string
	// Problems are what could not be kept or was changed, by path and line.
	Problems []Problem
	// Changes count the lines that say the same in another form, by kind.
	Changes []Change
}

// Problem is one thing that could not be kept or was changed.
type Problem struct {
	// Path is the file in the folder, with slashes; in an export that of the document. It may be that of a folder.
	Path string `json:"path"`
	// Line is counted from 1, 0 if it is about the whole file.
	Line int `json:"line,omitempty"`
	// Code is one of the codes of this package.
	Code string `json:"code"`
	// What names the thing, Why says what is the matter and what became of it.
	What string `json:"what"`
	Why  string `json:"why"`
}

// maxWhat bounds what a problem quotes, in characters.
const maxWhat = 200

func (r *Report) problem(path string, line int, code, what, why string) {
	r.Problems = append(r.Problems, Problem{path, line, code, shortened(what), why})
}

func shortened(what string) string {
	if runes := []rune(what); len(runes) > maxWhat {
		what = string(runes[:maxWhat]) + "…"
	}
	return what
}

// sort puts the worst problems first: what is not in the vault at all, what is otherwise there, links that lead nowhere,
// what was done to the form, and last the files that nothing links to.
func (r *Report) sort() {
	sorting.Stable(r.Problems, func(a, b Problem) int {
		return cmp.Or(cmp.Compare(rank(a.Code), rank(b.Code)), cmp.Compare(a.Path, b.Path), cmp.Compare(a.Line, b.Line))
	})
	sorting.Stable(r.States, func(a, b FileState) int { return cmp.Compare(a.Path, b.Path) })
}

// rank is how bad a problem is, 0 for the worst.
func rank(code string) int {
	switch code {
	case Unreadable, Binary, Encoding, TooLarge, Symlink, NotRegular, Incomplete, Database, DatabaseTaken, Card:
		return 0
	case LinkMissing, FileMissing:
		return 2
	case EncodingGuessed, TitleChanged, TooDeep, IDTaken, Query, AssetRenamed, ImageAttrs, Callout:
		return 3
	case Hidden, NotLinked:
		return 4
	}
	return 1
}

// ByFolder are the problems, with the files that nothing links to counted by folder.
func (r *Report) ByFolder() []Problem {
	var found []Problem
	counts, at := map[string]int{}, map[string]int{}
	for _, p := range r.Problems {
		if p.Code != NotLinked {
			found = append(found, p)
			continue
		}
		dir := path.Dir(p.Path) + "/"
		if counts[dir]++; counts[dir] == 1 {
			at[dir] = len(found)
			found = append(found, p)
			continue
		}
		found[at[dir]] = Problem{Path: dir, Code: NotLinked, What: fmt.Sprintf("%d files", counts[dir]), Why: "no page links to these files: left out"}
	}
	return found
}
