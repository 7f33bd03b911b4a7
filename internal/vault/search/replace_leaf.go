package search

import (
	"regexp"
	"strings"
	"sync"

	"collie/internal/vault/markup"
	"collie/internal/vault/tree"
)

// This file replaces text inside a leaf and keeps the Markdown around it.

// literalKinds are the kinds of leaves whose text is replaced as a whole, with their names in replaceTypes.
var literalKinds = map[string]string{tree.Code: "codeBlock", tree.Math: "mathBlock", tree.HTML: "htmlBlock"}

// spanKinds are the kinds of spans whose name in replaceTypes is another.
var spanKinds = map[string]string{
	"": "text", "a": "aText", "img": "imgText", "inline-math": "inlineMath", "inline-memo": "inlineMemo", "block-ref": "blockRef",
	"file-annotation-ref": "fileAnnotationRef",
}

// replaceInLeaf returns the text of a leaf after a replacement in those spans whose kind isReplaced accepts.
func replaceInLeaf(b *tree.Block, replace func(string) string, isReplaced func(kind string) bool) string {
	if name := literalKinds[b.Kind]; name != "" {
		if isReplaced(name) {
			return replace(b.Text)
		}
		return b.Text
	}
	replaceText := replaceOutsideMarkup(replace)
	if b.Kind == tree.Table {
		replace, replaceText = replaceInCells(replace), replaceInRows(replaceText)
	}
	var out strings.Builder
	for _, s := range markup.Spans(b.Text) {
		switch {
		case s.Kind != "":
			out.WriteString(replaceInSpan(s, replace, isReplaced))
		case isReplaced("text"):
			out.WriteString(replaceText(s.Markdown))
		default:
			out.WriteString(s.Markdown)
		}
	}
	return out.String()
}

// replaceInSpan returns the Markdown of a formatted span after a replacement in its text, and in the address and the title
// of a link or an image.
func replaceInSpan(s markup.Span, replace func(string) string, isReplaced func(kind string) bool) string {
	replaceText := false
	for kind := range strings.FieldsSeq(s.Kind) {
		name := kind
		if other := spanKinds[kind]; other != "" {
			name = other
		}
		replaceText = replaceText || isReplaced(name)
	}
	out := rewrite{left: s.Markdown}
	if opening := openingMark().FindString(s.Markdown); strings.Contains(s.Markdown[len(opening):], s.Content) {
		out.keep(len(opening))
	}
	switch kind, _, _ := strings.Cut(s.Kind, " "); {
	case kind == "a" && !strings.HasPrefix(s.Markdown, "["): // the text is the address
		out.part(s.Content, replace, isReplaced("aHref"))
	case kind == "a":
		out.part(s.Content, replace, replaceText)
		out.part(s.Target, replace, isReplaced("aHref"))
		out.part(s.Title, replace, isReplaced("aTitle"))
	case kind == "img":
		out.part(s.Content, replace, replaceText)
		out.part(s.Target, replace, isReplaced("imgSrc"))
		out.part(s.Title, replace, isReplaced("imgTitle"))
	default:
		out.part(s.Content, replace, replaceText)
	}
	return out.rest()
}

// openingMark is what a span begins with before its text: the tag of an element, the id or path of a reference, or marks.
var openingMark = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(?:<[a-zA-Z][^>]*>|(?:\(\(|<<)[^'"]*['"]|!?\[|[*=~` + "`" + `$#]+ ?)`)
})

// A rewrite replaces parts of a Markdown text one after the other.
type rewrite struct {
	left string // what comes after the parts so far
	out  strings.Builder
}

// keep takes the first bytes of what is left as they are.
func (r *rewrite) keep(size int) {
	r.out.WriteString(r.left[:size])
	r.left = r.left[size:]
}

// part replaces in the next occurrence of a text, if wanted. A text that is written with escapes does not occur and stays.
func (r *rewrite) part(text string, replace func(string) string, wanted bool) {
	at := strings.Index(r.left, text)
	if text == "" || at < 0 || at > 0 && r.left[at-1] == '\\' {
		return
	}
	r.keep(at)
	if !wanted {
		r.keep(len(text))
		return
	}
	r.out.WriteString(replace(text))
	r.left = r.left[len(text):]
}

// rest returns the text with all replacements.
func (r *rewrite) rest() string {
	return r.out.String() + r.left
}

// markupInText is what plain text contains that nobody reads as text: tags and entities.
var markupInText = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`</?[a-zA-Z][^<>]*>|<!--.*?-->|&(?:[a-zA-Z][a-zA-Z0-9]*|#[0-9]+|#[xX][0-9a-fA-F]+);`)
})

// replaceOutsideMarkup returns a replacement that keeps tags and entities as they are.
func replaceOutsideMarkup(replace func(string) string) func(string) string {
	return func(text string) string { return replaceBetween(text, markupInText(), replace) }
}

// replaceBetween replaces in what stands before, between and after the matches of a pattern.
func replaceBetween(text string, kept *regexp.Regexp, replace func(string) string) string {
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

// betweenCells is what stands between the cells of a table: bars with the blanks around them, and the row of delimiters.
var betweenCells = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?:(?m:^[ \t]*\|?(?:[ \t]*:?-+:?[ \t]*\|)+[ \t]*(?::?-+:?)?[ \t]*$)|\\\||[ \t]*\|[ \t]*|\n)+`)
})

// replaceInRows returns a replacement that keeps the cells of a table apart.
func replaceInRows(replace func(string) string) func(string) string {
	return func(text string) string { return replaceBetween(text, betweenCells(), replaceInCells(replace)) }
}

// A bar without escape ends a cell, and a line ends its row.
var (
	unescapedBar = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(^|[^\\])\|`) })
	linesInCell  = strings.NewReplacer("\r\n", "<br />", "\n", "<br />")
)

// replaceInCells returns a replacement whose result fits into a cell of a table.
func replaceInCells(replace func(string) string) func(string) string {
	return func(text string) string {
		return linesInCell.Replace(unescapedBar().ReplaceAllString(replace(text), `$1\|`))
	}
}
