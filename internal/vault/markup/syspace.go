package markup

import "github.com/88250/lute/ast"

// zeroWidth is what the kernel puts around marks so that the cursor finds a place beside them.
const zeroWidth = "\u200b"

// finish gives a tree what the kernel's files have and Markdown has not: the zero-width spaces beside code, keys, tags
// and images, and the names of HTML elements on the parts of tables.
func finish(root *ast.Node) {
	var spaced, breaks []*ast.Node
	ast.Walk(root, func(n *ast.Node, entering bool) ast.WalkStatus {
		if !entering {
			return ast.WalkContinue
		}
		switch n.Type {
		case ast.NodeTextMark:
			if n.ContainTextMarkTypes("code", "tag", "kbd") {
				spaced = append(spaced, n)
			}
		case ast.NodeSoftBreak:
			breaks = append(breaks, n)
		case ast.NodeImage:
			n.Tokens = []byte("span")
			spaced = append(spaced, n)
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
			if n.ParentIs(ast.NodeTableHead) {
				n.Tokens = []byte("th")
			}
		}
		return ast.WalkContinue
	})
	for _, n := range breaks {
		joinLines(n)
	}
	for _, n := range spaced {
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

// joinLines makes a line break and the text on both its sides one text.
func joinLines(n *ast.Node) {
	n.Type, n.Tokens = ast.NodeText, []byte("\n")
	if before := n.Previous; before != nil && before.Type == ast.NodeText {
		n.Tokens = []byte(string(before.Tokens) + "\n")
		before.Unlink()
	}
	if after := n.Next; after != nil && after.Type == ast.NodeText {
		n.Tokens = []byte(string(n.Tokens) + string(after.Tokens))
		after.Unlink()
	}
}
