package markup

import (
	"html"
	"slices"
	"strings"

	"github.com/88250/lute/ast"
)

// This file writes formatted text as Markdown.

// enclosingMarks are the marks written around a text, by kind.
var enclosingMarks = map[string]string{"strong": "**", "em": "*", "s": "~~", "mark": "=="}

// elementMarks are the marks written as HTML elements. Lute reads no other marks inside them.
var elementMarks = []string{"u", "kbd", "sup", "sub"}

// textEscapes are the characters that text inside an element cannot contain.
var textEscapes = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;")

// mark writes a text mark, which may have several kinds.
func (w *writer) mark(n *ast.Node) {
	w.marks++
	kinds := markKinds(n)
	s, plain := w.writeInnermost(n, kinds)
	if w.asElements || !plain {
		s.Markdown = w.escapeBarsInTable(spanElement(n))
		w.put(s)
		return
	}
	stack := markStack{}
	stack.change(w, enclosingOf(kinds), nil)
	w.put(s)
	stack.change(w, nil, nil)
}

// run writes consecutive text marks and returns the last. They share enclosing marks where they can: **a *b* c** is
// three text marks.
func (w *writer) run(n *ast.Node) *ast.Node {
	stack := markStack{}
	for ; ; n = n.Next {
		kinds := markKinds(n)
		s, plain := w.writeInnermost(n, kinds)
		listed := n.Next != nil && n.Next.Type == ast.NodeKramdownSpanIAL
		switch {
		case listed || !plain:
			stack.change(w, nil, nil)
			w.mark(n)
		default:
			w.marks++
			stack.change(w, enclosingOf(kinds), n)
			w.put(s)
		}
		if n.Next == nil || n.Next.Type != ast.NodeTextMark {
			stack.change(w, nil, nil)
			return n
		}
	}
}

// markKinds returns the kinds of a text mark, without "text" if there are others.
func markKinds(n *ast.Node) []string {
	kinds := strings.Fields(sortedWords(n.TextMarkType))
	if len(kinds) > 1 {
		kinds = slices.DeleteFunc(kinds, func(kind string) bool { return kind == "text" })
	}
	return kinds
}

// markStack is the stack of open enclosing marks, outermost first.
type markStack []string

// change closes and opens marks until exactly those in want are open. A mark that continues in more of the text marks
// from n on is opened first.
func (open *markStack) change(w *writer, want []string, n *ast.Node) {
	keep := 0
	for keep < len(*open) && slices.Contains(want, (*open)[keep]) {
		keep++
	}
	for _, kind := range slices.Backward((*open)[keep:]) {
		w.pieces = append(w.pieces, Span{Kind: edgeClose, Markdown: enclosingMarks[kind]})
	}
	*open = (*open)[:keep]
	var missing []string
	for _, kind := range want {
		if !slices.Contains(*open, kind) {
			missing = append(missing, kind)
		}
	}
	slices.SortStableFunc(missing, func(a, b string) int { return runLength(n, b) - runLength(n, a) })
	for _, kind := range missing {
		w.pieces = append(w.pieces, Span{Kind: edgeOpen, Markdown: enclosingMarks[kind]})
		*open = append(*open, kind)
	}
}

// runLength returns how many consecutive text marks from n on have a kind.
func runLength(n *ast.Node, kind string) int {
	count := 0
	for ; n != nil && n.Type == ast.NodeTextMark && n.IsTextMarkType(kind); n = n.Next {
		count++
	}
	return count
}

// enclosingOf returns those kinds of a text mark that [enclosingMarks] has.
func enclosingOf(kinds []string) []string {
	var found []string
	for _, kind := range []string{"strong", "em", "s", "mark"} {
		if slices.Contains(kinds, kind) {
			found = append(found, kind)
		}
	}
	return found
}

// markKind returns the [Span.Kind] of a text mark: what it refers to if anything, else its style.
func markKind(kinds []string) string {
	for _, kind := range []string{"block-ref", "file-annotation-ref", "a", "tag", "inline-math", "inline-memo", "code"} {
		if slices.Contains(kinds, kind) {
			return kind
		}
	}
	return strings.Join(kinds, " ")
}

// writeInnermost writes a text mark without its enclosing marks, and reports whether Markdown can express all its kinds.
func (w *writer) writeInnermost(n *ast.Node, kinds []string) (Span, bool) {
	text := strings.ReplaceAll(unescapeHTML(n.TextMarkTextContent), zeroWidth, "")
	s := Span{Content: text}
	rest := slices.DeleteFunc(slices.Clone(kinds), func(kind string) bool { return enclosingMarks[kind] != "" })
	take := func(kind string) bool {
		at := slices.Index(rest, kind)
		if at >= 0 {
			rest = slices.Delete(rest, at, at+1)
		}
		return at >= 0
	}
	switch {
	case take("inline-math"):
		s.Content = strings.ReplaceAll(unescapeHTML(n.TextMarkInlineMathContent), "_esc_newline_", "\n")
		s.Markdown = "$" + w.escapeBarsInTable(s.Content) + "$"
	case take("block-ref"):
		s = newReference(n.TextMarkBlockRefID, text, n.TextMarkBlockRefSubtype)
	case take("file-annotation-ref"):
		s = newAnnotation(n.TextMarkFileAnnotationRefID, text)
	case take("a"):
		s.Target, s.Title = unescapeHTML(n.TextMarkAHref), unescapeHTML(n.TextMarkATitle)
		inner := w.inMark(text, escapeMarks)
		if take("code") {
			inner = codeSpan(text)
		}
		s.Markdown = "[" + w.escapeBarsInTable(inner) + "](" + linkDestination(s.Target, s.Title) + ")"
	case take("tag"):
		s.Markdown = "#" + w.escapeBarsInTable(w.inMark(text, escapeInTag)) + "#"
	case take("code"):
		s.Markdown = codeSpan(w.escapeBarsInTable(text))
	case len(rest) == 1 && slices.Contains(elementMarks, rest[0]):
		s.Markdown = "<" + rest[0] + ">" + w.escapeBarsInTable(textEscapes.Replace(text)) + "</" + rest[0] + ">"
		rest = nil
	default:
		s.Markdown = w.escapeBarsInTable(w.inMark(text, escapeMarks))
	}
	s.Kind = markKind(kinds)
	return s, len(rest) == 0 && s.Content != ""
}

// inMark returns the text of a mark, escaped unless literalMarks is set.
func (w *writer) inMark(text string, escape func(string) string) string {
	escaped := escape(text)
	w.escaped = w.escaped || escaped != text
	if w.literalMarks {
		return text
	}
	return escaped
}

// spanElement writes a text mark as a <span> element that lute reads back as that mark.
func spanElement(n *ast.Node) string {
	var out strings.Builder
	attr := func(name, value string) {
		if value != "" {
			out.WriteString(" " + name + `="` + value + `"`)
		}
	}
	out.WriteString("<span")
	attr("data-type", n.TextMarkType)
	attr("data-subtype", n.TextMarkBlockRefSubtype)
	attr("data-id", n.TextMarkBlockRefID+n.TextMarkFileAnnotationRefID)
	attr("data-href", n.TextMarkAHref)
	attr("data-title", n.TextMarkATitle)
	attr("data-inline-memo-content", html.EscapeString(html.UnescapeString(n.TextMarkInlineMemoContent)))
	if n.TextMarkInlineMathContent != "" {
		attr("data-subtype", "math")
		attr("data-content", html.EscapeString(html.UnescapeString(n.TextMarkInlineMathContent)))
		attr("contenteditable", "false")
		attr("class", "render-node")
	}
	return out.String() + ">" + strings.ReplaceAll(n.TextMarkTextContent, "\u200b", "") + "</span>"
}

func unescapeHTML(text string) string {
	if !strings.Contains(text, "&") {
		return text
	}
	return html.UnescapeString(text)
}

// sortedWords returns the words of a text in order, without duplicates.
func sortedWords(text string) string {
	if !strings.Contains(text, " ") {
		return text
	}
	words := strings.Fields(text)
	slices.Sort(words)
	return strings.Join(slices.Compact(words), " ")
}
