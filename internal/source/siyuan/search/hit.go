package search

import (
	"html"
	"strings"

	"collie/internal/source/siyuan/action"
	"collie/internal/source/siyuan/content"
	"collie/internal/source/siyuan/kernel"
)

// This file shortens hits to what callers need, and shows the places that match.

// hit is a block that was found, reduced to the fields that callers need.
type hit struct {
	ID       kernel.ID `json:"id" about:"id of the block"`
	Type     string    `json:"type" about:"NodeParagraph, NodeHeading, NodeDocument, …"`
	SubType  string    `json:"subtype,omitempty" about:"h1 to h6 of a heading, u, o or t of a list"`
	HPath    string    `json:"hPath" about:"human path of its document in its notebook"`
	FSPath   string    `json:"fsPath,omitempty" about:"the same with the notebook, as fs takes it"`
	Plain    string    `json:"plainContent,omitempty" about:"its text; of a long one what is around the matches"`
	Name     string    `json:"name,omitempty" about:"its name, alias, memo and tags, where it has them"`
	Alias    string    `json:"alias,omitempty"`
	Memo     string    `json:"memo,omitempty"`
	Tag      string    `json:"tag,omitempty"`
	Children []hit     `json:"children,omitempty" about:"of a document, where hits are grouped: those in it, in the same form"`
	Notebook kernel.ID `json:"box" about:"its notebook" verbose:"yes"`
	Root     kernel.ID `json:"rootID,omitempty" about:"its document" verbose:"yes"`
	Parent   kernel.ID `json:"parentID,omitempty" about:"the block above it" verbose:"yes"`
	Path     string    `json:"path,omitempty" about:"storage path of its document" verbose:"yes"`
	Excerpt  string    `json:"excerpt,omitempty" about:"the first 200 characters" verbose:"yes"`
	Content  string    `json:"content,omitempty" about:"its text as HTML with <mark> around matches" verbose:"yes"`
	Markdown string    `json:"markdown,omitempty" about:"its Markdown, 400 characters at most" verbose:"yes"`
	RefText  string    `json:"refText,omitempty" about:"what a reference to it would show" verbose:"yes"`
}

// hitOf makes a hit of a found block. Without marks its content is plain text.
func hitOf(f *kernel.Found, withMarks bool) hit {
	text := parsePassage(f.Content)
	plain := func(s string) string { return parsePassage(s).fullText() }
	h := hit{
		ID: f.ID, Type: f.Type, SubType: f.SubType, HPath: documentHPath(f), Plain: text.plain(), Name: plain(f.Name), Alias: plain(f.Alias),
		Memo: plain(f.Memo), Tag: plain(f.Tag), Notebook: f.Notebook, Root: f.Root, Parent: f.Parent, Path: f.Path,
		Excerpt: content.Clip(text.fullText(), excerptRunes), Content: text.plain(), Markdown: content.Clip(content.Clean(f.Markdown), maxWholeRunes),
		RefText: content.Clip(f.RefText, maxWholeRunes),
	}
	if withMarks {
		h.Content = text.markedHTML()
	}
	for i := range f.Children {
		h.Children = append(h.Children, hitOf(&f.Children[i], withMarks))
	}
	return h
}

func hitsOf(found []kernel.Found, withMarks bool) []hit {
	out := make([]hit, 0, len(found))
	for i := range found {
		out = append(out, hitOf(&found[i], withMarks))
	}
	return out
}

// readableHits removes hits in hidden notebooks, merges duplicates of the index, and keeps only the readable hits of a
// grouped document. dropped is the number of hidden hits. It is only for deciding whether the kernel's totals can be used; it
// must not appear in a result, because the number of hits for a chosen text would reveal hidden text.
func readableHits(r *action.Request, found []kernel.Found) (readable []kernel.Found, dropped int) {
	readable = make([]kernel.Found, 0, len(found))
	seen := make(map[kernel.ID]bool, len(found))
	for _, f := range found {
		if seen[f.ID] {
			continue
		}
		seen[f.ID] = true
		if !r.Readable(f.Notebook) {
			dropped += max(1, len(f.Children))
			continue
		}
		if f.Children != nil {
			below, n := readableHits(r, f.Children)
			f.Children, dropped = below, dropped+n
		}
		readable = append(readable, f)
	}
	return readable, dropped
}

const (
	openMark, closeMark = "<mark>", "</mark>"

	maxWholeRunes = 400 // longest content that is shown whole, in characters
	contextRunes  = 150 // characters shown on either side of a match in longer content
	excerptRunes  = 200
)

// passage is the text of a hit with the positions of its matches.
type passage struct {
	text  []rune
	marks [][2]int // start and end of each match
}

// parsePassage parses a text of the kernel: HTML with <mark> around each match.
func parsePassage(s string) passage {
	var p passage
	for s != "" {
		before, rest, found := strings.Cut(s, openMark)
		p.add(before)
		if !found {
			break
		}
		inside, after, _ := strings.Cut(rest, closeMark)
		from := len(p.text)
		p.add(inside)
		p.marks = append(p.marks, [2]int{from, len(p.text)})
		s = after
	}
	return p
}

func (p *passage) add(s string) {
	p.text = append(p.text, []rune(content.Clean(html.UnescapeString(strings.ReplaceAll(s, closeMark, ""))))...)
}

// plain returns the text without marks, shortened if it is long.
func (p passage) plain() string { return p.render(func(s string, _ bool) string { return s }) }

// markedHTML returns the text as HTML with marks, shortened if it is long.
func (p passage) markedHTML() string {
	return p.render(func(s string, match bool) string {
		s = html.EscapeString(s)
		if match {
			return openMark + s + closeMark
		}
		return s
	})
}

// fullText returns the whole text without marks.
func (p passage) fullText() string { return string(p.text) }

// render writes the visible parts of the text. It calls write for each matching and non-matching piece.
func (p passage) render(write func(s string, match bool) string) string {
	var b strings.Builder
	end := 0
	for _, w := range p.windows() {
		if w[0] > end || end == 0 && w[0] > 0 {
			b.WriteString("…")
		}
		at := w[0]
		for _, m := range p.marks {
			if m[0] < at || m[1] > w[1] {
				continue
			}
			b.WriteString(write(string(p.text[at:m[0]]), false))
			b.WriteString(write(string(p.text[m[0]:m[1]]), true))
			at = m[1]
		}
		b.WriteString(write(string(p.text[at:w[1]]), false))
		end = w[1]
	}
	if end < len(p.text) {
		b.WriteString("…")
	}
	return b.String()
}

// windows returns the parts of the text to show: all of a short text, the surroundings of the matches in a long one, or
// its beginning if there are no matches.
func (p passage) windows() [][2]int {
	if len(p.text) <= maxWholeRunes {
		return [][2]int{{0, len(p.text)}}
	}
	if len(p.marks) == 0 {
		return [][2]int{{0, maxWholeRunes}}
	}
	var out [][2]int
	for _, m := range p.marks {
		w := [2]int{max(m[0]-contextRunes, 0), min(m[1]+contextRunes, len(p.text))}
		if last := len(out) - 1; last >= 0 && w[0] <= out[last][1] {
			out[last][1] = max(out[last][1], w[1])
			continue
		}
		out = append(out, w)
	}
	return out
}
