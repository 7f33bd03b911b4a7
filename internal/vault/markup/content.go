package markup

import (
	"strings"

	"collie/internal/vault/tree"

	"github.com/88250/lute/ast"
)

// This file writes the plain text of blocks, as searches and SQL see it.

// Content returns the plain text of a block as in blocks.content; for a document, its title.
func Content(b *tree.Block) string {
	if !b.Container() {
		return leafContent(b)
	}
	if b.Kind == tree.Doc {
		return b.Attrs["title"]
	}
	var out strings.Builder
	addContent(&out, b)
	return out.String()
}

// addContent writes the content of a container and all below it.
func addContent(out *strings.Builder, b *tree.Block) {
	if !b.Container() {
		out.WriteString(leafContent(b))
		return
	}
	if b.Kind != tree.List {
		out.WriteByte(' ')
	}
	if b.Kind == tree.Callout {
		kind, icon, title := calloutParts(b.Marker)
		out.WriteString(strings.Join(strings.Fields(kind+" "+icon+" "+title), " ") + " ")
	}
	for _, child := range b.Children {
		addContent(out, child)
	}
}

// leafContent returns the plain text of a leaf, "" for kinds without text.
func leafContent(b *tree.Block) string {
	switch b.Kind {
	case tree.Heading:
		return Plain(headingText(b.Text))
	case tree.Paragraph:
		return Plain(b.Text)
	case tree.Table:
		return tableContent(b.Text)
	case tree.Code:
		return codeContent(b.Text)
	case tree.Math:
		return mathContent(b.Text)
	case tree.HTML:
		return b.Text
	}
	return ""
}

// FirstContent returns the text of a container's first leaf as in blocks.fcontent; for a document, its title.
func FirstContent(b *tree.Block) string {
	switch {
	case b.Kind == tree.Doc:
		return Content(b)
	case !b.Container():
		return ""
	}
	first := b
	for len(first.Children) > 0 {
		first = first.Children[0]
	}
	return Content(first)
}

// Plain returns the text of a leaf without its marks as in blocks.content: a link is its text and address, an image
// its text, address and title, a tag #tag#.
func Plain(text string) string {
	if !strings.ContainsAny(text, markChars) {
		return text
	}
	var out strings.Builder
	for _, s := range Spans(text) {
		switch s.Kind {
		case "a":
			out.WriteString(s.Content + " " + s.Target)
			if s.Title != "" {
				out.WriteString(" " + s.Title)
			}
		case "img":
			out.WriteString(s.Content + " " + s.Target + " " + s.Title)
		case "tag":
			out.WriteString("#" + s.Content + "#")
		default:
			out.WriteString(s.Content)
		}
	}
	return out.String()
}

// headingText returns a heading without its number signs.
func headingText(text string) string { return strings.TrimSpace(strings.TrimLeft(text, "#")) }

// calloutParts splits a callout's marker into the kind, icon and title to show, with the defaults of the kind.
func calloutParts(marker string) (kind, icon, title string) {
	kind, title = tree.CutCallout(marker)
	icon = ast.GetCalloutIcon(kind)
	if first, rest, _ := strings.Cut(title, " "); first != "" && isIcon(first) {
		icon, title = first, rest
	}
	if title == "" {
		title = ast.GetCalloutTitle(kind)
	}
	return kind, icon, title
}

// isIcon reports whether a word seems to be an emoji: all its characters are in the ranges of symbols and emojis.
func isIcon(word string) bool {
	for _, r := range word {
		if r < 0x2000 || r >= 0x2e80 && r < 0x1f000 {
			return false
		}
	}
	return true
}

// tableContent returns the plain texts of the cells of a table. The second line is the delimiter row.
func tableContent(text string) string {
	var texts []string
	for i, line := range strings.Split(text, "\n") {
		if i == 1 {
			continue
		}
		for _, cell := range splitRow(line) {
			if cell != "" {
				texts = append(texts, Plain(cell))
			}
		}
	}
	return strings.Join(texts, " ")
}

// diagramLanguages are the languages of code that is shown as a picture.
var diagramLanguages = map[string]bool{
	"abc": true, "echarts": true, "flowchart": true, "graphviz": true, "mermaid": true, "mindmap": true, "plantuml": true,
}

// codeContent returns the text between the fences; for a diagram without the final line feed.
func codeContent(text string) string {
	_, info, code := codeParts(text)
	if diagramLanguages[strings.TrimSpace(info)] {
		return strings.TrimSuffix(code, "\n")
	}
	return code
}

// codeParts splits a code block at its fences. The code ends in a line feed unless it is empty.
func codeParts(text string) (fence, info, code string) {
	first, code, _ := strings.Cut(text, "\n")
	info = strings.TrimLeft(first, "`~")
	fence = first[:len(first)-len(info)]
	return fence, info, strings.TrimSuffix(code, fence)
}

func mathContent(text string) string { return strings.TrimSpace(strings.Trim(text, "$")) }
