package markup

import (
	"strings"

	"github.com/88250/lute/ast"
)

// This file writes code spans, links, images and references, each from its node.

func (w *writer) code(n *ast.Node) {
	content := tokensOf(n.ChildByType(ast.NodeCodeSpanContent))
	w.put(Span{Kind: "code", Content: content, Markdown: codeSpan(w.escapeBarsInTable(content))})
}

// link adds a link. Its label may contain other marks.
func (w *writer) link(n *ast.Node) {
	if !strings.HasPrefix(tokensOf(n.FirstChild), "[") {
		w.rewrote = true // <https://...>
	}
	inner := writer{table: w.table, asElements: w.asElements, escape: w.escape, lessThan: w.lessThan}
	for c := n.ChildByType(ast.NodeOpenBracket); c != nil && c.Type != ast.NodeCloseBracket; c = c.Next {
		if c.Type != ast.NodeOpenBracket {
			inner.node(c, nil)
		}
	}
	w.rewrote, w.marks = w.rewrote || inner.rewrote, w.marks+inner.marks
	s := Span{Kind: "a", Target: tokensOf(n.ChildByType(ast.NodeLinkDest)), Title: tokensOf(n.ChildByType(ast.NodeLinkTitle))}
	for _, p := range inner.pieces {
		s.Content += p.Content
	}
	s.Markdown = "[" + inner.markdown() + "](" + linkDestination(s.Target, s.Title) + ")"
	w.put(s)
}

// image adds an image.
func (w *writer) image(n *ast.Node) {
	s := Span{Kind: "img", Target: tokensOf(n.ChildByType(ast.NodeLinkDest)), Title: tokensOf(n.ChildByType(ast.NodeLinkTitle))}
	var markdown strings.Builder
	markdown.WriteString("![")
	for c := n.FirstChild; c != nil && c.Type != ast.NodeCloseBracket; c = c.Next {
		switch c.Type {
		case ast.NodeLinkText:
			s.Content += string(c.Tokens)
			markdown.WriteString(w.escapeBarsInTable(string(c.Tokens)))
		case ast.NodeBackslash:
			s.Content += tokensOf(c.FirstChild)
			markdown.WriteString(`\` + tokensOf(c.FirstChild))
		case ast.NodeBang, ast.NodeOpenBracket:
		default:
			inner := writer{table: w.table}
			inner.node(c, nil)
			for _, p := range inner.pieces {
				s.Content += p.Content
			}
			markdown.WriteString(inner.markdown())
		}
	}
	s.Markdown = markdown.String() + "](" + linkDestination(s.Target, s.Title) + ")"
	w.put(s)
}

// reference adds a reference to a block. Its subtype is "d" for a dynamic anchor and "s" for a static one.
func (w *writer) reference(n *ast.Node) {
	id := tokensOf(n.ChildByType(ast.NodeBlockRefID))
	if text := n.ChildByType(ast.NodeBlockRefDynamicText); text != nil {
		w.put(newReference(id, tokensOf(text), "d"))
		return
	}
	text := n.ChildByType(ast.NodeBlockRefText)
	if text == nil {
		w.put(Span{Kind: "block-ref", Content: id, Markdown: "((" + id + "))", Target: id, Subtype: "s"})
		return
	}
	w.put(newReference(id, tokensOf(text), "s"))
}

// escapeBarsInTable escapes the bars in content if it is inside a table.
func (w *writer) escapeBarsInTable(content string) string {
	if w.table {
		return escapeBars(content)
	}
	return content
}

func escapeBars(text string) string {
	if !strings.Contains(text, "|") {
		return text
	}
	return strings.ReplaceAll(strings.ReplaceAll(text, `\|`, "|"), "|", `\|`)
}
