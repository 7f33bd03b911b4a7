package search

import (
	"html"
	"strings"

	"collie/internal/lazyregexp"
	"collie/internal/vault/markup"
	"collie/internal/vault/tree"
)

// This file replaces text inside a leaf and keeps the Markdown around it.

// literalKinds are the kinds of leaves whose text is replaced as a whole, with their names in replaceTypes.
var literalKinds = map[string]string{tree.Code: "codeBlock", tree.Math: "mathBlock", tree.HTML: "htmlBlock"}

// spanKinds are the kinds of spans whose name in replaceTypes is another.
var spanKinds = map[string]string{
	"a": "aText", "img": "imgText", "inline-math": "inlineMath", "inline-memo": "inlineMemo", "block-ref": "blockRef",
	"file-annotation-ref": "fileAnnotationRef",
}

// A replacer replaces what is searched for, in some kinds of text.
type replacer struct {
	replace    func(text string) string
	isReplaced func(kind string) bool // kind is a name of replaceTypes
}

// inLeaf returns the text of a leaf after the replacement.
func (r replacer) inLeaf(b *tree.Block) string {
	if name := literalKinds[b.Kind]; name != "" {
		if r.isReplaced(name) {
			return r.replace(b.Text)
		}
		return b.Text
	}
	if b.Kind == tree.Table {
		return r.inTable(b.Text)
	}
	return r.inInline(b.Text)
}

// betweenCells is what stands between the cells of a row, with the blanks around it, and the edges of the row.
var betweenCells = lazyregexp.New(`^[ \t]*\|?[ \t]*|[ \t]*\|[ \t]*|[ \t]*$`)

// escapedBar stands for a bar inside a cell while a row is split.
const escapedBar = "\x00"

// escapedBars and plainBars read the backslashes of a row in pairs: one behind another does not escape.
var (
	escapedBars = strings.NewReplacer(`\\`, `\\`, `\|`, escapedBar)
	plainBars   = strings.NewReplacer(`\\`, `\\`, `\|`, "|")
)

// inTable replaces in the cells of a table. Its second line is the row of delimiters.
func (r replacer) inTable(text string) string {
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		if i == 1 {
			continue
		}
		line = escapedBars.Replace(line)
		lines[i] = replaceBetween(line, betweenCells, r.inCell)
		lines[i] = strings.ReplaceAll(lines[i], escapedBar, `\|`)
	}
	return strings.Join(lines, "\n")
}

// lineBreaks are written as an element in a cell, since a row is one line.
var lineBreaks = strings.NewReplacer("\r\n", "<br />", "\n", "<br />")

// inCell replaces in a cell of a table, and writes the result so that it stays one cell.
func (r replacer) inCell(cell string) string {
	text := strings.ReplaceAll(cell, escapedBar, `\|`)
	replaced := r.inInline(text)
	if replaced == text {
		return cell
	}
	replaced = lineBreaks.Replace(plainBars.Replace(replaced))
	if end := len(replaced) - len(strings.TrimRight(replaced, `\`)); end%2 == 1 {
		replaced += `\` // or the bar behind the cell would be part of it
	}
	return strings.ReplaceAll(replaced, "|", escapedBar)
}

// inInline replaces in a text with formats.
func (r replacer) inInline(text string) string {
	var out strings.Builder
	for _, s := range markup.Spans(text) {
		switch {
		case s.Kind != "":
			out.WriteString(r.inSpan(s))
		case r.isReplaced("text"):
			out.WriteString(replaceBetween(s.Markdown, markupInText, r.replace))
		default:
			out.WriteString(s.Markdown)
		}
	}
	return out.String()
}

// markupInText is what plain text contains that nobody reads as text: tags of elements that have a meaning in notes, comments and
// entities. A < behind a backslash begins no tag.
var markupInText = lazyregexp.New(`\\\\|\\<|</?(?:span|u|kbd|sub|sup|b|strong|em|i|s|del|mark|code|a|img|br|font|iframe|video|audio)(?:[ \t/][^<>]*)?>|<!--.*?-->` +
	`|&(?:[a-zA-Z][a-zA-Z0-9]*|#[0-9]+|#[xX][0-9a-fA-F]+);`)

// replaceBetween replaces in what stands before, between and after the matches of a pattern.
func replaceBetween(text string, kept *lazyregexp.Regexp, replace func(string) string) string {
	var out strings.Builder
	end := 0
	put := func(stretch string) {
		if stretch != "" {
			out.WriteString(replace(stretch))
		}
	}
	for _, m := range kept.FindAllStringIndex(text, -1) {
		put(text[end:m[0]])
		out.WriteString(text[m[0]:m[1]])
		end = m[1]
	}
	put(text[end:])
	return out.String()
}

// inSpan replaces in the text of a formatted span, and in the address and the title of a link or an image.
func (r replacer) inSpan(s markup.Span) string {
	inText := false
	for kind := range strings.FieldsSeq(s.Kind) {
		name := kind
		if other := spanKinds[kind]; other != "" {
			name = other
		}
		inText = inText || r.isReplaced(name)
	}
	kind, _, _ := strings.Cut(s.Kind, " ")
	out := rewrite{left: s.Markdown}
	switch isElement := strings.HasPrefix(s.Markdown, "<"); {
	case s.Content == s.Target && strings.HasSuffix(kind, "-ref"): // a reference without a text
		return s.Markdown
	case kind == "inline-math" && isElement:
		if out.skip(` data-content="`) && inText {
			out.part(html.EscapeString(s.Content), html.EscapeString(r.replace(s.Content)))
		}
		return out.rest()
	}
	text := s.Content
	if inText {
		text = r.replace(text)
	}
	out.keep(len(openingMark.FindString(s.Markdown)))
	out.part(s.Content, text)
	at := strings.LastIndex(out.left, "](")
	if strings.HasPrefix(out.left, "](") {
		at = 0
	}
	if at >= 0 && (kind == "a" || kind == "img") {
		out.keep(at + len("]("))
		address, title := "aHref", "aTitle"
		if kind == "img" {
			address, title = "imgSrc", "imgTitle"
		}
		r.inPart(&out, s.Target, address)
		if quote := strings.IndexAny(out.left, `"'`); quote >= 0 {
			out.keep(quote + 1)
			r.inPart(&out, s.Title, title)
		}
	}
	return out.rest()
}

// inPart replaces in a text that comes next, if its kind is replaced.
func (r replacer) inPart(out *rewrite, text, kind string) {
	if r.isReplaced(kind) {
		out.part(text, r.replace(text))
	} else {
		out.part(text, text)
	}
}

// openingMark is what a span begins with before its text: the tag of an element, the id or path of a reference, or marks.
var openingMark = lazyregexp.New("^(?:<[a-zA-Z][^>]*>|(?:\\(\\(|<<)[^'\"]*['\"]|!?\\[[*=~]*|`+ ?|\\$+|#|[*=~]+)")

// A rewrite writes parts of a Markdown text anew, one after the other.
type rewrite struct {
	left string // what comes after the parts so far
	out  strings.Builder
}

// keep takes the first bytes of what is left as they are.
func (w *rewrite) keep(size int) {
	w.out.WriteString(w.left[:size])
	w.left = w.left[size:]
}

// skip keeps everything up to and including the next occurrence of a text. It returns false if there is none.
func (w *rewrite) skip(text string) bool {
	at := strings.Index(w.left, text)
	if at < 0 {
		return false
	}
	w.keep(at + len(text))
	return true
}

// part writes another text if what is left begins with old. It does not if that is written with escapes, which then stay.
func (w *rewrite) part(old, text string) {
	if left, ok := strings.CutPrefix(w.left, old); ok && old != "" {
		w.out.WriteString(text)
		w.left = left
	}
}

// rest returns the text with all parts.
func (w *rewrite) rest() string {
	return w.out.String() + w.left
}
