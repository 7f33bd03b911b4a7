package markup

import (
	"slices"
	"strings"

	"github.com/88250/lute/ast"
)

// This file writes the inline nodes of a leaf block as Markdown.

// writer writes the inline nodes of a leaf as Markdown, in pieces with their kinds. writeLeaf and readBackText try several
// settings of it until the text is read back as the same nodes.
type writer struct {
	pieces []Span
	// table is set inside a table cell, where bars must be escaped.
	table bool
	// asElements writes text marks as <span> elements.
	asElements bool
	// escape escapes text that looks like marks.
	escape bool
	// literalMarks leaves the text inside text marks unescaped. escaped reports whether escaping would have changed any of it.
	literalMarks, escaped bool
	// lessThan is written for a < in text that would begin an HTML tag; "" leaves it as it is. It is ignored if escape is set.
	lessThan string
	// rewrote reports that a mark was written differently than it was read.
	rewrote bool
	// marks counts text marks, lute's nodes of text with its styles.
	marks int
}

// The kinds of pieces that only open or close a mark around other pieces.
const (
	edgeOpen  = "\x00open"
	edgeClose = "\x00close"
)

// markdown returns all that was written.
func (w *writer) markdown() string {
	if len(w.pieces) == 1 {
		return w.pieces[0].Markdown
	}
	var out strings.Builder
	for _, p := range w.pieces {
		out.WriteString(p.Markdown)
	}
	return out.String()
}

func (w *writer) put(s Span) { w.pieces = append(w.pieces, s) }

// text adds plain text; kinds are the marks around it.
func (w *writer) text(kinds []string, content, markdown string) {
	w.put(Span{Kind: strings.Join(kinds, " "), Content: content, Markdown: markdown})
}

// children writes the nodes below n; kinds are the marks around them.
func (w *writer) children(n *ast.Node, kinds []string) {
	for c := n.FirstChild; c != nil; c = c.Next {
		if c.Type == ast.NodeTextMark && !w.asElements {
			c = w.run(c)
			continue
		}
		w.node(c, kinds)
	}
}

// node writes one node; kinds are the marks around it.
func (w *writer) node(n *ast.Node, kinds []string) {
	switch n.Type {
	case ast.NodeText, ast.NodeLinkText:
		text := string(n.Tokens)
		markdown := text
		switch {
		case w.escape:
			markdown = escapeMarks(text)
		case w.lessThan != "":
			markdown = tagStart.ReplaceAllString(text, w.lessThan+"$1")
		}
		if w.table {
			markdown = escapeBars(markdown)
		}
		w.text(kinds, text, markdown)
	case ast.NodeSoftBreak:
		w.text(kinds, "\n", "\n")
	case ast.NodeHardBreak:
		w.rewrote = true
		w.text(kinds, "\n", "\n")
	case ast.NodeBr:
		w.text(kinds, "\n", "<br />")
	case ast.NodeBackslash:
		content := tokensOf(n.FirstChild)
		w.text(kinds, content, `\`+content)
	case ast.NodeHTMLEntity:
		w.text(kinds, string(n.Tokens), string(n.HtmlEntityTokens))
	case ast.NodeEmoji:
		w.rewrote = true
		text := emojiText(n)
		w.text(kinds, text, text)
	case ast.NodeStrong:
		w.rewrote = w.rewrote || n.FirstChild != nil && n.FirstChild.Type == ast.NodeStrongU8eOpenMarker
		w.writeEnclosed(n, kinds, "strong", "**", "**")
	case ast.NodeEmphasis:
		w.rewrote = w.rewrote || n.FirstChild != nil && n.FirstChild.Type == ast.NodeEmU8eOpenMarker
		w.writeEnclosed(n, kinds, "em", "*", "*")
	case ast.NodeStrikethrough:
		w.writeEnclosed(n, kinds, "s", "~~", "~~")
	case ast.NodeMark:
		w.writeEnclosed(n, kinds, "mark", "==", "==")
	case ast.NodeUnderline:
		w.writeEnclosed(n, kinds, "u", "<u>", "</u>")
	case ast.NodeKbd:
		w.writeEnclosed(n, kinds, "kbd", "<kbd>", "</kbd>")
	case ast.NodeSub:
		w.rewrote = true
		w.writeEnclosed(n, kinds, "sub", "<sub>", "</sub>")
	case ast.NodeSup:
		w.rewrote = true
		w.writeEnclosed(n, kinds, "sup", "<sup>", "</sup>")
	case ast.NodeTag:
		content := n.Content()
		w.put(Span{Kind: "tag", Content: content, Markdown: "#" + w.childrenText(n) + "#"})
	case ast.NodeCodeSpan:
		w.code(n)
	case ast.NodeInlineMath:
		content := tokensOf(n.ChildByType(ast.NodeInlineMathContent))
		w.put(Span{Kind: "inline-math", Content: content, Markdown: "$" + w.escapeBarsInTable(content) + "$"})
	case ast.NodeLink:
		w.link(n)
	case ast.NodeImage:
		w.image(n)
	case ast.NodeBlockRef:
		w.reference(n)
	case ast.NodeFileAnnotationRef:
		id, text := tokensOf(n.ChildByType(ast.NodeFileAnnotationRefID)), tokensOf(n.ChildByType(ast.NodeFileAnnotationRefText))
		w.put(newAnnotation(id, text))
	case ast.NodeTextMark:
		w.mark(n)
	case ast.NodeKramdownSpanIAL:
		w.attach(string(n.Tokens))
	default:
		if n.FirstChild != nil {
			w.children(n, kinds)
		} else if !n.IsMarker() {
			w.text(kinds, string(n.Tokens), string(n.Tokens))
		}
	}
}

// childrenText returns the Markdown of what is inside a node.
func (w *writer) childrenText(n *ast.Node) string {
	inner := writer{table: w.table, asElements: w.asElements, escape: w.escape, lessThan: w.lessThan}
	inner.children(n, nil)
	w.rewrote = w.rewrote || inner.rewrote
	w.marks += inner.marks
	return inner.markdown()
}

// writeEnclosed writes the children of n between an opening and a closing mark.
func (w *writer) writeEnclosed(n *ast.Node, kinds []string, kind, open, closing string) {
	w.pieces = append(w.pieces, Span{Kind: edgeOpen, Markdown: open})
	w.children(n, append(slices.Clip(kinds), kind))
	w.pieces = append(w.pieces, Span{Kind: edgeClose, Markdown: closing})
}

// attach appends an attribute list to the mark that was written last.
func (w *writer) attach(list string) {
	if len(w.pieces) == 0 {
		w.text(nil, list, list)
		return
	}
	w.pieces[len(w.pieces)-1].Markdown += list
}

// emojiText returns the character of an emoji, or its name if it is a picture.
func emojiText(n *ast.Node) string {
	var out strings.Builder
	for c := n.FirstChild; c != nil; c = c.Next {
		switch alias := c.ChildByType(ast.NodeEmojiAlias); {
		case c.Type == ast.NodeEmojiUnicode:
			out.Write(c.Tokens)
		case alias != nil:
			out.Write(alias.Tokens)
		}
	}
	return out.String()
}
