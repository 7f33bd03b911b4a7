package markup

import (
	"strings"

	"github.com/88250/lute/ast"

	"collie/internal/vault/tree"
)

// This file writes blocks as Markdown, with and without their attributes.

// Markdown returns a block without attribute lists as in blocks.markdown; "" for a document.
func Markdown(b *tree.Block) string {
	switch {
	case b.Kind == tree.Doc:
		return ""
	case !b.Container():
		return b.Text
	}
	return renderer{}.block(b)
}

// Kramdown returns a block with attribute lists; for a document, its blocks and then its own list.
func Kramdown(b *tree.Block) string { return renderer{lists: true}.block(b) }

// Textmark is like Kramdown, but writes formatted text as the <span> elements of the editor.
func Textmark(b *tree.Block) string { return renderer{lists: true, marks: true}.block(b) }

// Export returns the Markdown of a document's blocks without attribute lists.
func Export(d *tree.Block) string { return renderer{}.blocks(d.Children, "\n\n") }

// renderer writes blocks as Markdown.
type renderer struct {
	// lists writes the attribute lists of blocks.
	lists bool
	// marks writes formatted text as the editor's <span> marks.
	marks bool
}

func (r renderer) blocks(list []*tree.Block, between string) string {
	parts := make([]string, len(list))
	for i, b := range list {
		parts[i] = r.block(b)
	}
	return strings.Join(parts, between)
}

// block returns a block and everything below it as Markdown.
func (r renderer) block(b *tree.Block) string {
	switch b.Kind {
	case tree.Doc:
		body := r.blocks(b.Children, "\n\n")
		if r.lists {
			body += "\n\n" + tree.IAL(b.Attrs)
		}
		return body
	case tree.List:
		return r.close(b, r.blocks(b.Children, "\n"))
	case tree.Item:
		return r.item(b)
	case tree.Quote, tree.Callout:
		return r.quote(b)
	case tree.Super:
		return r.close(b, "{{{"+b.Marker+"\n"+r.blocks(b.Children, "\n\n")+"\n\n}}}")
	case tree.IFrame, tree.Video, tree.Audio, tree.Widget:
		if r.lists && len(b.Attrs) > 0 {
			return b.Text + "\n\n" + tree.IAL(b.Attrs)
		}
		return b.Text
	case tree.Paragraph:
		if r.marks {
			return r.close(b, spanText(b.Text))
		}
	case tree.Heading:
		if r.marks {
			return r.close(b, strings.Repeat("#", b.Level())+" "+spanText(headingText(b.Text)))
		}
	}
	return r.close(b, b.Text)
}

// close appends the attribute list of a block to its text.
func (r renderer) close(b *tree.Block, text string) string {
	switch {
	case !r.lists || len(b.Attrs) == 0:
		return text
	case text == "":
		return tree.IAL(b.Attrs)
	}
	return text + "\n" + tree.IAL(b.Attrs)
}

// item returns a list item with its marker. Its lines are indented by the width of the marker.
func (r renderer) item(b *tree.Block) string {
	head := b.Marker + " "
	pad := strings.Repeat(" ", len(head))
	if r.lists && len(b.Attrs) > 0 {
		head += tree.IAL(b.Attrs)
	}
	if b.Task != "" {
		head += "[" + b.Task + "] "
	}
	text := indent(r.blocks(b.Children, "\n\n"), pad)
	if r.lists && b.Task != "" && len(b.Children) > 0 && b.Children[0].Text == "" && b.Children[0].Kind == tree.Paragraph {
		head += "\n" + pad // right after the box, the list would be text
	}
	return head + text
}

// indent adds pad before every line except the first and empty ones.
func indent(text, pad string) string {
	if !strings.Contains(text, "\n") {
		return text
	}
	var out strings.Builder
	for line := range strings.Lines(text) {
		if out.Len() > 0 && line != "\n" {
			out.WriteString(pad)
		}
		out.WriteString(line)
	}
	return out.String()
}

// quote returns a quote or a callout: each line begins with >.
func (r renderer) quote(b *tree.Block) string {
	var out strings.Builder
	if b.Kind == tree.Callout {
		kind, title := tree.CutCallout(b.Marker)
		out.WriteString(strings.TrimRight("> [!"+kind+"] "+title, " ") + "\n")
	}
	for line := range strings.Lines(r.blocks(b.Children, "\n\n")) {
		if line == "\n" {
			out.WriteString(">\n")
			continue
		}
		out.WriteString("> " + line)
	}
	if r.lists && len(b.Attrs) > 0 {
		out.WriteString("\n>")
	}
	return r.close(b, out.String())
}

// spanText returns the text of a leaf with <span> elements for its marks, as in the kernel's kramdown of mode textmark.
func spanText(text string) string {
	if !strings.ContainsAny(text, markChars) || isTooDeep(text) {
		return text
	}
	leaf := parseInline(insertStandIns(text))
	if leaf == nil {
		return text
	}
	var out strings.Builder
	w := writer{}
	flattenMarks(leaf)
	for n := leaf.FirstChild; n != nil; n = n.Next {
		if n.Type == ast.NodeTextMark {
			out.WriteString(w.markdown() + spanElement(n))
			w.pieces = nil
			continue
		}
		w.node(n, nil)
	}
	return removeStandIns(out.String() + w.markdown())
}
