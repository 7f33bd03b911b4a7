package folder

import (
	"cmp"
	"fmt"
	"path"

	"collie/internal/sorting"
)

// Codes of a [Problem]. They are stable.
const (
	codeUnreadable      = "unreadable"        // a file or folder that the system does not let us read
	codeBinary          = "binary"            // a file named like Markdown that is none
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
