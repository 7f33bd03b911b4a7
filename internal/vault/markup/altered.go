package markup

import (
	"fmt"
	"strings"

	"collie/internal/vault/tree"

	"github.com/88250/lute/ast"
)

// This file finds out what of a text cannot be kept as it is, and says why.

// reportAlteration passes on why a node was altered, if it was and somebody wants to know.
func (c converter) reportAlteration(n *ast.Node, why string) {
	if c.onAltered != nil && why != "" {
		c.onAltered(n.ID, why)
	}
}

// holdsBlocks reports whether a node contains blocks.
func holdsBlocks(n *ast.Node) bool { return n.FirstChild != nil && n.FirstChild.IsBlock() }

// flattenReason returns why a container is left out, as a text for the user. known says whether its type is known.
func flattenReason(n *ast.Node, known bool) string {
	if n.Type != ast.NodeDocument && known {
		return fmt.Sprintf("a container below %d others is left out: what it holds stays, one level up", maxDepth)
	}
	return "a container of the type " + typeOf(n) + " is left out: what it holds stays, one level up"
}

// typeOf returns the type of a node as .sy files name it.
func typeOf(n *ast.Node) string {
	if n.TypeStr != "" {
		return n.TypeStr
	}
	return n.Type.String()
}

// alterationReason returns how block b differs from the node n that it was made from, "" if it does not.
func alterationReason(n *ast.Node, b *tree.Block) string {
	if tree.KindOf(n.Type.String()) == "" {
		return "a block of the type " + typeOf(n) + " is a paragraph here"
	}
	converted := newNode(&tree.Block{Kind: b.Kind, ID: b.ID, Text: b.Text, Marker: b.Marker, Task: b.Task})
	switch {
	case b.Kind == tree.Callout && calloutText(n) != calloutText(converted):
		return fmt.Sprintf("a callout of the kind %q is %q here", calloutText(n), calloutText(converted))
	case !b.Container() && leafMeaning(n) != leafMeaning(converted):
		return "the text cannot be kept as it is"
	}
	return ""
}

// calloutText returns the first line of a callout as it is shown.
func calloutText(n *ast.Node) string {
	kind, icon, title := n.CalloutType, n.CalloutIcon, n.CalloutTitle
	if icon == "" {
		icon = ast.GetCalloutIcon(kind)
	}
	if title == "" {
		title = ast.GetCalloutTitle(kind)
	}
	return strings.Join(strings.Fields(removeStandIns(kind+"] "+icon+" "+title)), " ")
}

// leafMeaning returns a form of a leaf for comparison. Leaves with the same meaning have the same form, whatever blanks
// they contain.
func leafMeaning(leaf *ast.Node) string {
	var out strings.Builder
	ast.Walk(leaf, func(n *ast.Node, entering bool) ast.WalkStatus {
		if !entering {
			return ast.WalkContinue
		}
		switch n.Type {
		case ast.NodeParagraph, ast.NodeHeading, ast.NodeTableCell:
			out.WriteString(removeBlanks(nodesMeaning(n)) + "\n")
		case ast.NodeLinkDest, ast.NodeLinkTitle, ast.NodeCodeBlockCode, ast.NodeMathBlockContent, ast.NodeBlockQueryEmbedScript,
			ast.NodeHTMLBlock, ast.NodeIFrame, ast.NodeVideo, ast.NodeAudio, ast.NodeWidget:
			out.Write(n.Tokens)
			out.WriteByte('\n')
		case ast.NodeCodeBlockFenceInfoMarker:
			out.Write(n.CodeBlockInfo)
			out.WriteByte('\n')
		case ast.NodeAttributeView:
			out.WriteString(n.AttributeViewID)
		}
		return ast.WalkContinue
	})
	return strings.Join(strings.Fields(strings.ReplaceAll(removeStandIns(out.String()), zeroWidth, "")), " ")
}

// removeBlanks removes the blanks from an outline: nobody sees whether a blank between words is inside or outside a
// mark.
func removeBlanks(outline string) string {
	var out strings.Builder
	last := ""
	parts := strings.Split("\x02\x02"+outline, "\x02")
	for i := 1; i+1 < len(parts); i += 2 {
		mark, text := parts[i], strings.Join(strings.Fields(strings.ReplaceAll(parts[i+1], zeroWidth, "")), "")
		if text == "" && parts[i+1] != "" {
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
