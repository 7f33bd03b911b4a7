package markup

import (
	"strconv"
	"strings"

	"collie/internal/lazyregexp"
	"collie/internal/vault/tree"

	"github.com/88250/lute/ast"
	"github.com/88250/lute/parse"
)

// This file converts the syntax tree of the parser to blocks.

// converter converts lute's syntax tree to blocks.
type converter struct {
	// sourceAttrs has the attribute lists in the text by id; nil if lute has invented none of the ids and attributes.
	sourceAttrs map[string]map[string]string
	// literal says that text stays text even if it looks like Markdown.
	literal bool
	// fromEditor says that text comes from the editor, where Markdown may be typed but a tag is shown as it is.
	fromEditor bool
	// onAltered, if not nil, is called for each block that differs from its node.
	onAltered func(id, why string)
}

// children converts the nodes below n. Nested documents, and containers that are too deep or of an unknown kind, are
// replaced by their content.
func (c converter) children(n *ast.Node, depth int) []*tree.Block {
	var found []*tree.Block
	for child := n.FirstChild; child != nil; child = child.Next {
		if child.Type == ast.NodeKramdownBlockIAL {
			if child.IsEmptyBlockIAL() {
				found = append(found, c.emptyParagraph(child))
			}
			continue
		}
		if !child.IsBlock() {
			continue
		}
		known := tree.KindOf(child.Type.String()) != ""
		if depth >= maxDepth && child.IsContainerBlock() || child.Type == ast.NodeDocument || !known && holdsBlocks(child) {
			c.reportAlteration(child, flattenReason(child, known))
			found = append(found, c.children(child, depth)...)
			continue
		}
		b := c.block(child, depth)
		if found = append(found, b); c.onAltered != nil {
			c.reportAlteration(child, alterationReason(child, b))
		}
	}
	return found
}

// emptyParagraph returns the paragraph for an attribute list without a block.
func (c converter) emptyParagraph(list *ast.Node) *tree.Block {
	p := &ast.Node{Type: ast.NodeParagraph, KramdownIAL: parse.Tokens2IAL(list.Tokens)}
	p.ID = p.IALAttr("id")
	return c.block(p, 0)
}

// block converts a node with all below it. depth is how many containers it is in.
func (c converter) block(n *ast.Node, depth int) *tree.Block {
	b := &tree.Block{Kind: tree.KindOf(n.Type.String()), Attrs: c.attrs(n)}
	b.ID = b.Attrs["id"]
	if b.Kind == "" {
		b.Kind = tree.Paragraph
	}
	switch b.Kind {
	case tree.Item:
		b.Marker, b.Task = itemMarker(n)
	case tree.Super:
		b.Marker = "row"
		if layout := n.ChildByType(ast.NodeSuperBlockLayoutMarker); layout != nil && len(layout.Tokens) > 0 {
			b.Marker = strings.TrimSpace(string(layout.Tokens))
		}
	case tree.Callout:
		b.Marker = calloutMarker(n)
	}
	if !b.Container() {
		b.Text = removeStandIns(c.leaf(b, n))
		if b.Kind == tree.Paragraph && c.isStrayList(n, b.Text) {
			b.Text = ""
		}
		return b
	}
	for _, child := range c.children(n, depth+1) {
		child.Parent = b
		b.Children = append(b.Children, child)
	}
	if b.Kind == tree.Item && needsText(b) {
		b.Children = append([]*tree.Block{{Kind: tree.Paragraph, Parent: b}}, b.Children...)
	}
	return b
}

// strayList matches an attribute list that escapeParagraph has escaped at the start of a paragraph.
var strayList = lazyregexp.New(`^\\?\{: id="(\d{14}-[0-9a-z]{7})"\}$`)

// isStrayList reports whether the text of an item is just an attribute list that lute has invented. Lute invents one in an
// item that begins with a numbered item.
func (c converter) isStrayList(n *ast.Node, text string) bool {
	if c.sourceAttrs == nil || n.Parent == nil || n.Parent.Type != ast.NodeListItem || !strings.Contains(text, "{: id=") {
		return false
	}
	m := strayList.FindStringSubmatch(text)
	return m != nil && c.sourceAttrs[m[1]] == nil
}

// needsText reports whether an item must get an empty paragraph at its start: it is empty, begins with a list, or has a
// task box followed by something other than text.
func needsText(item *tree.Block) bool {
	if len(item.Children) == 0 {
		return true
	}
	first := item.Children[0].Kind
	return first == tree.List || item.Task != "" && first != tree.Paragraph
}

// itemMarker returns "-" or the number of an item, and the letter of its task.
func itemMarker(n *ast.Node) (marker, task string) {
	marker = "-"
	box := n.ChildByType(ast.NodeTaskListItemMarker)
	if data := n.ListData; data != nil && (data.Typ == 1 || box == nil && isNumbered(data.Marker)) {
		marker = strconv.Itoa(max(data.Num, 0)) + "."
	}
	if box != nil {
		task = " "
		switch {
		case box.TaskListItemMarker == 'x' || box.TaskListItemMarker == 0 && box.TaskListItemChecked:
			task = "X"
		case box.TaskListItemMarker != 0:
			task = string(rune(box.TaskListItemMarker))
		}
	}
	return marker, task
}

// isNumbered reports whether a marker is a number. Lute takes "1. [a](b)" for a task and then finds no box.
func isNumbered(marker []byte) bool { return len(marker) > 0 && marker[0] >= '0' && marker[0] <= '9' }

// calloutMarker returns the kind of a callout in a form that [tree.CutCallout] splits off, followed by icon and title
// where they differ from the kind's defaults.
func calloutMarker(n *ast.Node) string {
	icon, title := n.CalloutIcon, removeStandIns(n.CalloutTitle)
	if icon == ast.GetCalloutIcon(n.CalloutType) {
		icon = ""
	}
	if title == ast.GetCalloutTitle(n.CalloutType) || title == n.CalloutType && !ast.IsBuiltInCalloutType(title) {
		title = ""
	}
	words := func(text string) string {
		return strings.Join(strings.FieldsFunc(text, func(r rune) bool { return r == ' ' || r == '\t' || r == '\n' }), " ")
	}
	kind := words(strings.ReplaceAll(n.CalloutType, "]", "")) // a bracket would end it
	if strings.HasPrefix(kind, "[") || strings.Contains(kind, " ") {
		kind = "[" + kind + "]"
	}
	return removeStandIns(words(kind + " " + icon + " " + title))
}

// leaf returns the text of a leaf.
func (c converter) leaf(b *tree.Block, n *ast.Node) string {
	switch n.Type {
	case ast.NodeParagraph:
		return escapeParagraph(removeBlankLines(strings.TrimLeft(strings.TrimRight(c.inline(n), " \t\n"), "\n")))
	case ast.NodeHeading:
		level := min(max(n.HeadingLevel, 1), 6)
		text := strings.ReplaceAll(strings.TrimSpace(c.inline(n)), "\n", " ")
		return strings.TrimSpace(strings.Repeat("#", level) + " " + text)
	case ast.NodeThematicBreak:
		return "---"
	case ast.NodeTable:
		if b.Attrs["colgroup"] == "" && n.FirstChild != nil {
			b.Attrs = withAttr(b.Attrs, "colgroup", strings.Repeat("|", max(countColumns(n)-1, 0)))
		}
		return c.table(n)
	case ast.NodeCodeBlock:
		return codeText(n)
	case ast.NodeMathBlock:
		return "$$\n" + strings.TrimSpace(tokensOf(n.ChildByType(ast.NodeMathBlockContent))) + "\n$$"
	case ast.NodeBlockQueryEmbed:
		script := tokensOf(n.ChildByType(ast.NodeBlockQueryEmbedScript))
		return "{{" + strings.TrimSpace(script) + "}}"
	case ast.NodeAttributeView:
		return databaseText(n)
	case ast.NodeCustomBlock:
		return ";;;" + n.CustomBlockInfo + "\n" + strings.Trim(string(n.Tokens), "\n") + "\n;;;"
	}
	return removeBlankLines(strings.TrimSpace(string(n.Tokens)))
}

// removeBlankLines removes blank lines from a text that must not contain any, since they would end its block.
func removeBlankLines(text string) string {
	for strings.Contains(text, "\n\n") {
		text = strings.ReplaceAll(text, "\n\n", "\n")
	}
	return text
}

func tokensOf(n *ast.Node) string {
	if n == nil {
		return ""
	}
	return string(n.Tokens)
}

// withAttr returns attributes with one more, unless its value is empty. It changes the given map, except for nil.
func withAttr(attrs map[string]string, name, value string) map[string]string {
	if attrs == nil {
		attrs = map[string]string{}
	}
	if value != "" {
		attrs[name] = value
	}
	return attrs
}

// codeText returns a code block between fences that are longer than any in the code.
func codeText(n *ast.Node) string {
	code := strings.ReplaceAll(tokensOf(n.ChildByType(ast.NodeCodeBlockCode)), "\u200d```", "```")
	info := ""
	if mark := n.ChildByType(ast.NodeCodeBlockFenceInfoMarker); mark != nil {
		info = string(mark.CodeBlockInfo)
	}
	fence := "```"
	for strings.Contains(code, fence) {
		fence += "`"
	}
	if code != "" && !strings.HasSuffix(code, "\n") {
		code += "\n"
	}
	return fence + info + "\n" + code + fence
}

// databaseText returns the element that shows a database.
func databaseText(n *ast.Node) string {
	id, view := n.AttributeViewID, n.AttributeViewType
	if id == "" {
		id, view = htmlAttr(string(n.Tokens), "data-av-id"), htmlAttr(string(n.Tokens), "data-av-type")
	}
	if view == "" {
		view = "table"
	}
	return `<div data-type="NodeAttributeView" data-av-id="` + id + `" data-av-type="` + view + `"></div>`
}

// htmlAttr returns the value of an attribute in a tag, "" if it is missing.
func htmlAttr(tag, name string) string {
	_, rest, found := strings.Cut(tag, name+`="`)
	if !found {
		return ""
	}
	value, _, _ := strings.Cut(rest, `"`)
	return value
}
