package markup

import (
	"bytes"

	"github.com/88250/lute/ast"
)

// zeroWidth is the space that the kernel adds around marks as a place for the cursor.
const zeroWidth = "\u200b"

// toKernelForm gives a tree from Markdown the form that the kernel's files have: zero-width spaces behind code, keys,
// tags and images, and before an image that follows no text; names of HTML elements as tokens of images and parts of
// tables; no tokens at the brackets of images, no alignment at rows; the lines of a leaf joined into one text.
func toKernelForm(root *ast.Node) {
	var needSpace []*ast.Node
	ast.Walk(root, func(n *ast.Node, entering bool) ast.WalkStatus {
		if !entering {
			return ast.WalkContinue
		}
		switch n.Type {
		case ast.NodeTextMark:
			if n.ContainTextMarkTypes("code", "tag", "kbd") {
				needSpace = append(needSpace, n)
			}
		case ast.NodeParagraph, ast.NodeHeading:
			joinLines(n)
		case ast.NodeImage:
			n.Tokens = []byte("span")
			needSpace = append(needSpace, n)
			for c := n.FirstChild; c != nil; c = c.Next {
				switch c.Type {
				case ast.NodeBang, ast.NodeOpenBracket, ast.NodeCloseBracket, ast.NodeOpenParen, ast.NodeCloseParen, ast.NodeLinkSpace:
					c.Tokens = nil
				}
			}
		case ast.NodeTableHead:
			n.Tokens = []byte("thead")
		case ast.NodeTableRow:
			n.Tokens, n.TableAligns = []byte("tr"), nil
		case ast.NodeTableCell:
			n.Tokens = []byte("td")
			joinLines(n)
			if n.ParentIs(ast.NodeTableHead) {
				n.Tokens = []byte("th")
			}
		}
		return ast.WalkContinue
	})
	for _, n := range needSpace {
		if n.Type == ast.NodeImage && (n.Previous == nil || n.Previous.Type != ast.NodeText) {
			n.InsertBefore(&ast.Node{Type: ast.NodeText, Tokens: []byte(zeroWidth)})
		}
		if next := n.Next; next != nil && next.Type == ast.NodeText {
			next.Tokens = []byte(zeroWidth + string(next.Tokens))
			continue
		}
		n.InsertAfter(&ast.Node{Type: ast.NodeText, Tokens: []byte(zeroWidth)})
	}
}

// joinLines joins consecutive texts and line breaks of a leaf.
func joinLines(leaf *ast.Node) {
	for n := leaf.FirstChild; n != nil; n = n.Next {
		if !isText(n) {
			continue
		}
		tokens := bytes.Clone(n.Tokens)
		for n.Next != nil && isText(n.Next) {
			tokens = append(tokens, n.Next.Tokens...)
			n.Next.Unlink()
		}
		n.Type, n.Tokens = ast.NodeText, tokens
	}
}

func isText(n *ast.Node) bool { return n.Type == ast.NodeText || n.Type == ast.NodeSoftBreak }
