package markup

import (
	"strconv"
	"strings"

	"collie/internal/vault/tree"

	"github.com/88250/lute/ast"
	"github.com/88250/lute/parse"
)

// This file converts blocks to the syntax tree of the parser, for rendering.

// newTree returns lute's syntax tree of blocks. Text marks are not nested, as in the kernel's files.
func newTree(blocks ...*tree.Block) *parse.Tree {
	t := &parse.Tree{Root: &ast.Node{Type: ast.NodeDocument}, Context: &parse.Context{ParseOption: luteEngine().ParseOptions}}
	for _, b := range blocks {
		t.Root.AppendChild(newNode(b))
	}
	return t
}

// newNode returns the node of a block with all below it.
func newNode(b *tree.Block) *ast.Node {
	n := &ast.Node{Type: ast.Str2NodeType(tree.NodeType(b.Kind)), ID: b.ID, KramdownIAL: attrPairs(b)}
	switch b.Kind {
	case tree.List, tree.Item:
		n.ListData = listData(b)
		if b.Task != "" && b.Kind == tree.Item {
			box := &ast.Node{Type: ast.NodeTaskListItemMarker}
			box.ReviveFromMarker(b.Task[0])
			n.AppendChild(box)
		}
	case tree.Quote:
		n.AppendChild(&ast.Node{Type: ast.NodeBlockquoteMarker, Tokens: []byte(">")})
	case tree.Super:
		n.AppendChild(&ast.Node{Type: ast.NodeSuperBlockOpenMarker})
		n.AppendChild(&ast.Node{Type: ast.NodeSuperBlockLayoutMarker, Tokens: []byte(b.Marker)})
	case tree.Callout:
		n.CalloutType, n.CalloutIcon, n.CalloutTitle = calloutParts(b.Marker)
	}
	if !b.Container() {
		fillLeaf(n, b)
	}
	for _, child := range b.Children {
		n.AppendChild(newNode(child))
	}
	if b.Kind == tree.Super {
		n.AppendChild(&ast.Node{Type: ast.NodeSuperBlockCloseMarker})
	}
	return n
}

// attrPairs returns the attributes of a block in lute's order: id, updated, then the others.
func attrPairs(b *tree.Block) [][]string {
	var pairs, others [][]string
	for _, name := range tree.Names(b.Attrs) {
		pair := []string{name, tree.EscapeAttr(b.Attrs[name])}
		if name == "id" || name == "updated" {
			pairs = append(pairs, pair)
			continue
		}
		others = append(others, pair)
	}
	if b.Kind == tree.Table {
		return append(pairs, others...)
	}
	// The kernel writes updated last, except in a table, where the widths of the columns follow it.
	if n := len(pairs); n == 2 {
		return append(append(pairs[:1:1], others...), pairs[1])
	}
	return append(pairs, others...)
}

// listData returns the kind of a list, and for an item its mark. The numbers are lute's: 0 bullets, 1 numbers, 3
// tasks.
func listData(b *tree.Block) *ast.ListData {
	data := &ast.ListData{}
	switch b.Subtype() {
	case "o":
		data.Typ = 1
	case "t":
		data.Typ = 3
	}
	if b.Kind != tree.Item {
		return data
	}
	if data.Typ != 1 {
		data.BulletChar, data.Marker = '*', []byte("*")
		return data
	}
	data.Marker = []byte(b.Marker)
	data.Delimiter = '.'
	data.Num, _ = strconv.Atoi(strings.TrimRight(b.Marker, ".)"))
	return data
}

// fillLeaf adds the text of a leaf to its node.
func fillLeaf(n *ast.Node, b *tree.Block) {
	switch b.Kind {
	case tree.Heading:
		n.HeadingLevel = min(max(b.Level(), 1), 6)
		moveInline(n, headingText(b.Text))
	case tree.Paragraph:
		moveInline(n, b.Text)
	case tree.Table:
		fillTable(n, b.Text)
	case tree.Code:
		fence, info, code := codeParts(b.Text)
		n.IsFencedCodeBlock = true
		if isDiagram(info) {
			code = strings.TrimSuffix(code, "\n")
		}
		n.AppendChild(&ast.Node{Type: ast.NodeCodeBlockFenceOpenMarker, Tokens: []byte(fence)})
		n.AppendChild(&ast.Node{Type: ast.NodeCodeBlockFenceInfoMarker, CodeBlockInfo: []byte(info)})
		n.AppendChild(&ast.Node{Type: ast.NodeCodeBlockCode, Tokens: []byte(code)})
		n.AppendChild(&ast.Node{Type: ast.NodeCodeBlockFenceCloseMarker, Tokens: []byte(fence)})
	case tree.Math:
		n.AppendChild(&ast.Node{Type: ast.NodeMathBlockOpenMarker})
		n.AppendChild(&ast.Node{Type: ast.NodeMathBlockContent, Tokens: []byte(mathContent(b.Text))})
		n.AppendChild(&ast.Node{Type: ast.NodeMathBlockCloseMarker})
	case tree.Embed:
		script := strings.TrimSuffix(strings.TrimPrefix(b.Text, "{{"), "}}")
		n.AppendChild(&ast.Node{Type: ast.NodeOpenBrace})
		n.AppendChild(&ast.Node{Type: ast.NodeOpenBrace})
		n.AppendChild(&ast.Node{Type: ast.NodeBlockQueryEmbedScript, Tokens: []byte(script)})
		n.AppendChild(&ast.Node{Type: ast.NodeCloseBrace})
		n.AppendChild(&ast.Node{Type: ast.NodeCloseBrace})
	case tree.Database:
		n.AttributeViewID, n.AttributeViewType = htmlAttr(b.Text, "data-av-id"), htmlAttr(b.Text, "data-av-type")
	case tree.Break:
	default:
		n.Tokens = []byte(b.Text)
	}
}

// isDiagram reports whether a language of code is that of a diagram. The kernel stores these without a final line feed.
func isDiagram(language string) bool {
	switch language {
	case "mermaid", "echarts", "mindmap", "flowchart", "graphviz", "plantuml", "abc":
		return true
	}
	return false
}

// moveInline parses a text and moves its inline nodes below n.
func moveInline(n *ast.Node, text string) {
	if text == "" {
		return
	}
	var leaf *ast.Node
	if !isTooDeep(text) && strings.ContainsAny(text, markChars+"\n") {
		leaf = parseInline(insertStandIns(text))
	}
	if leaf == nil {
		n.AppendChild(&ast.Node{Type: ast.NodeText, Tokens: []byte(text)})
		return
	}
	flattenMarks(leaf)
	for c := leaf.FirstChild; c != nil; c = leaf.FirstChild { // AppendChild takes c out of leaf
		n.AppendChild(c)
		joinMark(c)
	}
}

// joinMark merges a text mark with the one before it if they have the same kinds, and brings it into the form of the
// kernel's files.
func joinMark(n *ast.Node) {
	if n.Type != ast.NodeTextMark {
		return
	}
	n.TextMarkType = sortedWords(n.TextMarkType)
	n.TextMarkInlineMathContent = unescapeHTML(n.TextMarkInlineMathContent)
	previous := n.Previous
	if previous == nil || previous.Type != ast.NodeTextMark || n.TextMarkType != previous.TextMarkType || len(enclosingOf(strings.Fields(n.TextMarkType))) == 0 {
		return
	}
	if n.IsSameTextMarkType(previous) && n.TextMarkInlineMathContent == "" && n.TextMarkFileAnnotationRefID == previous.TextMarkFileAnnotationRefID {
		n.TextMarkTextContent = previous.TextMarkTextContent + n.TextMarkTextContent
		previous.Unlink()
	}
}

// fillTable parses the Markdown of a table with lute and moves the result into n.
func fillTable(n *ast.Node, text string) {
	t := parseTree(insertStandIns(text))
	var table *ast.Node
	if t != nil {
		table = t.Root.ChildByType(ast.NodeTable)
	}
	if table == nil {
		n.Type = ast.NodeParagraph
		n.AppendChild(&ast.Node{Type: ast.NodeText, Tokens: []byte(text)})
		return
	}
	_ = catchPanic(func() { parse.NestedInlines2FlattedSpansHybrid(t, false) })
	for _, cell := range table.ChildrenByType(ast.NodeTableCell) {
		for c := cell.FirstChild; c != nil; c = c.Next {
			joinMark(c)
		}
	}
	n.TableAligns = table.TableAligns
	for c := table.FirstChild; c != nil; c = table.FirstChild {
		n.AppendChild(c)
	}
}
