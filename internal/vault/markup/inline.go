package markup

import (
	"strings"

	"github.com/88250/lute/ast"
	"github.com/88250/lute/parse"
)

// This file writes the text of a leaf block in a form that stays the same when it is read again. Whatever is given to lute
// first gets stand-ins, noncharacters in place of those that lute would lose or misread; see [insertStandIns].

// parseInline parses the text of a leaf with lute. The result has the inline nodes as children; it is nil if lute
// panics.
func parseInline(text string) *ast.Node {
	var t *parse.Tree
	if catchPanic(func() { t = parse.Inline("", []byte(text), luteEngine().ParseOptions) }) != nil {
		return nil
	}
	unwrapDocuments(t.Root)
	return t.Root.FirstChild
}

// unwrapDocuments replaces nested documents below a node by their content. Lute creates some for a ~ between other
// marks, and code that walks the nodes does not descend into them.
func unwrapDocuments(n *ast.Node) {
	for c := n.FirstChild; c != nil; {
		next := c.Next
		unwrapDocuments(c)
		if c.Type == ast.NodeDocument {
			if len(c.Tokens) > 0 {
				c.InsertBefore(&ast.Node{Type: ast.NodeText, Tokens: c.Tokens})
			}
			for c.FirstChild != nil {
				c.InsertBefore(c.FirstChild)
			}
			c.Unlink()
		}
		c = next
	}
}

// maxPasses bounds how often [converter.inline] reads and writes a text again. Some texts of strange marks never stop
// changing.
const maxPasses = 4

// inline writes the text of a leaf from its nodes, in a form that does not change when it is read and written again.
// One pass is not always enough, since adjacent marks may mean something else than their nodes.
func (c converter) inline(leaf *ast.Node) string {
	table := leaf.Type == ast.NodeTableCell
	text, stable := c.writeLeaf(leaf, table)
	for pass := 0; pass < maxPasses && !stable; pass++ {
		parsed := parseInline(insertStandIns(text))
		if parsed == nil {
			break
		}
		rewritten, _ := converter{}.writeLeaf(parsed, table)
		text, stable = rewritten, removeStandIns(rewritten) == removeStandIns(text)
	}
	return text
}

// writeLeaf writes the text of a leaf. stable reports whether reading and writing that text is sure to give the same
// text.
func (c converter) writeLeaf(leaf *ast.Node, table bool) (text string, stable bool) {
	w := writer{table: table, lessThan: c.tagEscape(leaf), literalMarks: true}
	w.children(leaf, nil)
	text = w.markdown()
	if w.marks > 0 || c.literal && strings.ContainsAny(text, markChars) {
		return c.readBackText(leaf, text, table, w.escaped), false
	}
	return text, !w.rewrote
}

// tagEscape returns what to write for the < of a tag that was typed as text in the editor: &lt;, or \< if the text has a &,
// since lute takes everything from a & to the next ; for an entity. It returns "", to leave tags alone, for other text.
func (c converter) tagEscape(leaf *ast.Node) string {
	switch {
	case !c.fromEditor:
		return ""
	case strings.Contains(leaf.Content(), "&"):
		return `\<`
	}
	return "&lt;"
}

// readBackText returns a text that is read as the nodes of leaf: text itself, or else the first of these that is. (1)
// With the text of marks escaped, only if escaped says that this makes a difference; (2) with <span> elements, which can
// express what Markdown cannot; (3) with all text escaped; (4) with both. 3 and 4 are only tried if text must not be
// taken for Markdown, see converter.literal. If none is, it returns the last.
func (c converter) readBackText(leaf *ast.Node, text string, table, escaped bool) string {
	flattenMarks(leaf)
	meaning := nodesMeaning(leaf)
	if hasMeaning(text, meaning) {
		return text
	}
	for _, w := range []writer{{}, {asElements: true}, {escape: true}, {asElements: true, escape: true}} {
		if w.escape && !c.literal {
			continue
		}
		if !w.escape && !w.asElements && !escaped {
			continue // it would be text again
		}
		w.table, w.lessThan = table, c.tagEscape(leaf)
		w.children(leaf, nil)
		if text = w.markdown(); hasMeaning(text, meaning) {
			break
		}
	}
	return text
}

// hasMeaning reports whether text is parsed as a leaf with this meaning.
func hasMeaning(text, meaning string) bool {
	leaf := parseInline(insertStandIns(text))
	if leaf == nil {
		return false
	}
	flattenMarks(leaf)
	return removeStandIns(nodesMeaning(leaf)) == removeStandIns(meaning)
}

// flattenMarks replaces the nested marks of leaf by a sequence of text marks, as the kernel stores them.
func flattenMarks(leaf *ast.Node) {
	t := &parse.Tree{Root: leaf, Context: &parse.Context{ParseOption: luteEngine().ParseOptions}}
	_ = catchPanic(func() { parse.NestedInlines2FlattedSpansHybrid(t, false) }) // on failure leaf stays as it is
	for image := leaf.FirstChild; image != nil; image = image.Next {
		if image.Type == ast.NodeImage {
			removeImageMarks(image)
		}
	}
}

// removeImageMarks removes the text marks that lute adds for the text of an image inside marks.
func removeImageMarks(image *ast.Node) {
	for c := image.FirstChild; c != nil; c = c.Next {
		if previous := c.Previous; c.Type == ast.NodeLinkText && previous.Type == ast.NodeTextMark &&
			unescapeHTML(previous.TextMarkTextContent) == string(c.Tokens) {
			previous.Unlink()
		}
	}
}

// nodesMeaning returns a string that is equal for leaves that mean the same: the text of the leaf, and wherever the mark
// changes the new mark with all its values, between two bytes \x02. The marks must be flat, see [flattenMarks].
func nodesMeaning(leaf *ast.Node) string {
	var out strings.Builder
	last := ""
	for n := leaf.FirstChild; n != nil; n = n.Next {
		mark, text := "", ""
		switch n.Type {
		case ast.NodeTextMark:
			mark = strings.Join([]string{
				sortedWords(n.TextMarkType), unescapeHTML(n.TextMarkAHref), unescapeHTML(n.TextMarkATitle),
				unescapeHTML(n.TextMarkInlineMathContent), unescapeHTML(n.TextMarkInlineMemoContent), n.TextMarkBlockRefID, n.TextMarkFileAnnotationRefID,
			}, "\x01")
			text = unescapeHTML(n.TextMarkTextContent)
		case ast.NodeKramdownSpanIAL:
			mark = "ial"
			text = string(n.Tokens)
		default:
			text = n.Content()
			if n.Type == ast.NodeSoftBreak || n.Type == ast.NodeBr {
				text = "\n"
			}
			switch n.Type {
			case ast.NodeImage:
				mark = "img"
			case ast.NodeEmoji:
				text = emojiText(n)
			}
		}
		if text = strings.ReplaceAll(text, "\u200b", ""); text == "" && n.Type != ast.NodeTextMark {
			continue
		}
		if mark != last {
			out.WriteString("\x02" + mark + "\x02")
			last = mark
		}
		out.WriteString(text)
	}
	return out.String()
}
