package folder

import (
	"strings"
	"time"

	"collie/internal/lazyregexp"
	"collie/internal/vault/markup"
	"collie/internal/vault/tree"
	"collie/internal/vault/workspace"
)

// dialect is how a file is read.
type dialect int

const (
	plain         dialect = iota // Markdown with Obsidian's extensions
	logseqDialect                // outlines of Logseq
	ownDialect                   // written by Export
)

// page is a document to be imported: a file, a folder with children, or both.
type page struct {
	file     string // path of the file, "" for just a folder
	dir      string // path of the folder with its children
	name     string // of the file or folder, without extension
	plan     *notebookPlan
	parent   *page
	children []*page
	dialect  dialect

	modified   time.Time
	size       int64
	broken     bool // its text cannot be read, so there is no document
	id         string
	title      string
	front      frontMatter
	headings   map[string]string // ids of headings by text
	anchors    map[string]string // ids of blocks by ^anchor, or by uuid
	texts      map[string]string // texts of the blocks with these ids
	definedIDs []string          // ids in attribute lists
	renamed    map[string]string // new ids by old ones of this page

	source    string                                                  // hash of the file
	row       *workspace.Imported                                     // what it became at an earlier import, nil if unknown
	from      string                                                  // its former path, if it was moved
	adopted   bool                                                    // id belongs to a document that may be this one
	pathTaken bool                                                    // the notebook has another document with its path
	load      func(altered func(id, why string)) (*tree.Block, error) // reads a page that is not Markdown
}

// notebookPlan is a notebook to be imported.
type notebookPlan struct {
	name     string
	top      []*page // pages at the top of the notebook
	page     *page   // text of the notebook itself, nil without one
	exported *exportedNotebook
	id       string            // of the notebook, once it exists
	moved    map[string]string // new addresses of assets whose name was taken
	inVault  bool              // the vault has this notebook
	// assets and databases are the folders with them, and cards the file; "" if there is none. Everything in them is
	// imported.
	assets, databases, cards string
}

// depth is 1 at the top of the notebook.
func (p *page) depth() int {
	if p.parent == nil {
		return 1
	}
	return p.parent.depth() + 1
}

// path returns the path that problems name.
func (p *page) path() string {
	if p.file != "" {
		return p.file
	}
	return p.dir
}

// stamps returns when the page was created and updated, in the form of ids and attributes.
func (p *page) stamps() (created, updated string) {
	modified := tree.Stamp(p.modified)
	if p.modified.IsZero() {
		modified = tree.Stamp(time.Now())
	}
	created, updated = p.front.created, p.front.updated
	if p.front.id != "" {
		created = p.front.id[:14]
	}
	switch {
	case created == "" && updated == "":
		created, updated = modified, modified
	case created == "":
		created = min(updated, modified)
	case updated == "":
		updated = max(created, modified)
	}
	return created, updated
}

var (
	heading    = lazyregexp.New(`^#{1,6}[ \t]+(.*?)(?:[ \t]+#+)?[ \t]*$`)
	anchorEnd  = lazyregexp.New(`(?:^|[ \t])\^([A-Za-z0-9-]+)[ \t]*$`)
	listID     = lazyregexp.New(`\{:[^{}\n]*?\bid="(\d{14}-[0-9a-z]{7})"`)
	logseqUUID = lazyregexp.New(`^[ \t]*id::[ \t]*([0-9A-Fa-f-]{36})[ \t]*$`)
)

// survey collects the headings, anchors and ids of a page, to which other pages may refer. Headings and anchors without
// an id get one from mint, which returns a new id with the given time.
func (p *page) survey(list []line, mint func(stamp string) string) {
	p.headings, p.anchors, p.texts = map[string]string{}, map[string]string{}, map[string]string{}
	created, _ := p.stamps()
	for i, l := range list {
		if l.code {
			continue
		}
		if strings.Contains(l.text, "{:") {
			for _, m := range listID.FindAllStringSubmatch(l.text, -1) {
				p.definedIDs = append(p.definedIDs, m[1])
			}
		}
		if p.dialect == ownDialect {
			continue
		}
		_, rest := prefixOf(l.text)
		anchor := anchorOf(rest)
		if m := heading.FindStringSubmatch(rest); m != nil {
			id := ""
			if i+1 < len(list) {
				if attrs := listID.FindStringSubmatch(list[i+1].text); attrs != nil {
					id = attrs[1]
				}
			}
			if id == "" {
				id = mint(created)
			}
			text, _ := cutAnchor(m[1])
			if key := headingKey(text); p.headings[key] == "" {
				p.headings[key] = id
			}
			p.texts[id] = shownText(text)
			if anchor != "" && p.anchors[foldName(anchor)] == "" {
				p.anchors[foldName(anchor)] = id
			}
			continue
		}
		if anchor != "" && p.anchors[foldName(anchor)] == "" {
			id := mint(created)
			p.anchors[foldName(anchor)] = id
			if p.texts[id], _ = cutAnchor(shownText(rest)); p.texts[id] == "" && i > 1 {
				p.texts[id] = shownText(list[i-2].text) // the anchor is below its block
			}
		}
		if m := logseqUUID.FindStringSubmatch(rest); p.dialect == logseqDialect && m != nil && p.anchors[foldName(m[1])] == "" {
			id := mint(created)
			p.anchors[foldName(m[1])] = id
			for j := i - 1; j >= 0 && p.texts[id] == ""; j-- { // the bullet above its properties
				if _, text := prefixOf(list[j].text); property.FindString(text) == "" {
					p.texts[id] = shownText(text)
				}
			}
		}
	}
}

// anchorOf returns the name in "text ^name", "" if there is none.
func anchorOf(text string) string {
	if !strings.Contains(text, "^") {
		return ""
	}
	if m := anchorEnd.FindStringSubmatch(text); m != nil {
		return m[1]
	}
	return ""
}

// cutAnchor splits "text ^name" at the name; anchor is "" if there is none.
func cutAnchor(text string) (rest, anchor string) {
	if anchor = anchorOf(text); anchor == "" {
		return text, ""
	}
	return strings.TrimRight(anchorEnd.ReplaceAllString(text, ""), " \t"), anchor
}

// notInHeading matches what two headings with the same key may differ in.
var notInHeading = lazyregexp.New(`[^\p{L}\p{N}]+`)

// headingKey returns the key to look up a heading, since links write headings without marks, and addresses with hyphens
// instead of blanks.
func headingKey(text string) string {
	if strings.ContainsAny(text, "*_`[(<") {
		text = markup.Plain(wikiLink.ReplaceAllString(text, "$1"))
	}
	return notInHeading.ReplaceAllString(foldName(text), "")
}

var wikiLink = lazyregexp.New(`\[\[(?:[^\]|]*\|)?([^\]]*)\]\]`)

// shownText returns the text of a line as a reference to it shows it.
func shownText(text string) string {
	_, text = prefixOf(text)
	text = strings.TrimPrefix(strings.TrimSpace(taskWord.ReplaceAllString(text, "")), "[ ] ")
	text = wikiLink.ReplaceAllString(text, "$1")
	if runes := []rune(text); len(runes) > 80 {
		text = string(runes[:80]) + "…"
	}
	return text
}

// text returns what a reference to a target shows.
func (t target) text() string {
	if t.id == "" {
		return t.page.title
	}
	return t.page.texts[t.id]
}
