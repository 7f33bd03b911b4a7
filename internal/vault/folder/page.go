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
	plain  dialect = iota // Markdown with what Obsidian adds
	logseq                // outlines of Logseq
	ours                  // written by Export
)

// page is a document to be: a file, a folder that has children, or both.
type page struct {
	file     string // path of the file, "" for a folder alone
	dir      string // path of the folder its children lie in
	name     string // of the file or folder, without extension
	plan     *plan
	parent   *page
	children []*page
	dialect  dialect

	modified time.Time
	size     int64
	broken   bool // its text cannot be read: there is no document
	id       string
	title    string
	front    front
	headings map[string]string // ids by text
	anchors  map[string]string // ids by ^anchor, or by uuid
	texts    map[string]string // what the blocks with these ids say
	defined  []string          // ids in attribute lists
	renamed  map[string]string // ids of this page that became others

	source  string                                                  // hash of the file
	row     *workspace.Imported                                     // what it became before, nil if nobody knows
	from    string                                                  // where it was then, if it was elsewhere
	adopted bool                                                    // id is that of a document that may be this one
	beside  bool                                                    // the notebook has another document at its path
	load    func(altered func(id, why string)) (*tree.Block, error) // of a page that is not Markdown
}

// plan is a notebook to be.
type plan struct {
	name  string
	top   []*page // at the top of the notebook
	page  *page   // the text of the notebook itself, nil without one
	kept  *keptNotebook
	id    string            // of the notebook, once it is made
	moved map[string]string // new addresses of assets whose name was taken
	same  bool              // the vault has this notebook
	// assets and databases are the folders that hold them, cards the file; "" for none. All in them is taken.
	assets, databases, cards string
}

// depth is 1 at the top of the notebook.
func (p *page) depth() int {
	if p.parent == nil {
		return 1
	}
	return p.parent.depth() + 1
}

// path is what problems call the page.
func (p *page) path() string {
	if p.file != "" {
		return p.file
	}
	return p.dir
}

// created is when the page was made, as ids and attributes hold it.
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

// survey finds what others may refer to in the lines of a page, and gives it ids.
func (p *page) survey(list []line, mint func(stamp string) string) {
	p.headings, p.anchors, p.texts = map[string]string{}, map[string]string{}, map[string]string{}
	created, _ := p.stamps()
	for i, l := range list {
		if l.code {
			continue
		}
		if strings.Contains(l.text, "{:") {
			for _, m := range listID.FindAllStringSubmatch(l.text, -1) {
				p.defined = append(p.defined, m[1])
			}
		}
		if p.dialect == ours {
			continue
		}
		_, rest := prefixOf(l.text)
		anchor := anchorOf(rest)
		if m := heading.FindStringSubmatch(rest); m != nil {
			id := ""
			if i+1 < len(list) {
				if given := listID.FindStringSubmatch(list[i+1].text); given != nil {
					id = given[1]
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
			if anchor != "" && p.anchors[folded(anchor)] == "" {
				p.anchors[folded(anchor)] = id
			}
			continue
		}
		if anchor != "" && p.anchors[folded(anchor)] == "" {
			id := mint(created)
			p.anchors[folded(anchor)] = id
			if p.texts[id], _ = cutAnchor(shownText(rest)); p.texts[id] == "" && i > 1 {
				p.texts[id] = shownText(list[i-2].text) // the anchor stands below its block
			}
		}
		if m := logseqUUID.FindStringSubmatch(rest); p.dialect == logseq && m != nil && p.anchors[folded(m[1])] == "" {
			id := mint(created)
			p.anchors[folded(m[1])] = id
			for j := i - 1; j >= 0 && p.texts[id] == ""; j-- { // the bullet above its properties
				if _, above := prefixOf(list[j].text); property.FindString(above) == "" {
					p.texts[id] = shownText(above)
				}
			}
		}
	}
}

// anchorOf is the name behind a text, as in "text ^name", "" for none.
func anchorOf(text string) string {
	if !strings.Contains(text, "^") {
		return ""
	}
	if m := anchorEnd.FindStringSubmatch(text); m != nil {
		return m[1]
	}
	return ""
}

func cutAnchor(text string) (rest, anchor string) {
	if anchor = anchorOf(text); anchor == "" {
		return text, ""
	}
	return strings.TrimRight(anchorEnd.ReplaceAllString(text, ""), " \t"), anchor
}

var notInHeading = lazyregexp.New(`[^\p{L}\p{N}]+`)

// headingKey is what headings are found by: links spell them without marks, and addresses with hyphens for blanks.
func headingKey(text string) string {
	if strings.ContainsAny(text, "*_`[(<") {
		text = markup.Plain(wikiLink.ReplaceAllString(text, "$1"))
	}
	return notInHeading.ReplaceAllString(folded(text), "")
}

var wikiLink = lazyregexp.New(`\[\[(?:[^\]|]*\|)?([^\]]*)\]\]`)

// shownText is the text of a line as references show it.
func shownText(text string) string {
	_, text = prefixOf(text)
	text = strings.TrimPrefix(strings.TrimSpace(taskWord.ReplaceAllString(text, "")), "[ ] ")
	text = wikiLink.ReplaceAllString(text, "$1")
	if runes := []rune(text); len(runes) > 80 {
		text = string(runes[:80]) + "…"
	}
	return text
}

// text is what a reference to a target shows.
func (t target) text() string {
	if t.id == "" {
		return t.page.title
	}
	return t.page.texts[t.id]
}
