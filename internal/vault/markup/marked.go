package markup

import (
	"strings"

	"github.com/88250/lute/ast"
)

// marked writes the text of a leaf with <span> elements for its marks, as the kernel's kramdown in the mode textmark.
func marked(text string) string {
	if !strings.ContainsAny(text, marking) || hostile(text) {
		return text
	}
	leaf := parseInline(shield(text))
	if leaf == nil {
		return text
	}
	var out strings.Builder
	w := writer{}
	leaf = flattened(leaf)
	for n := leaf.FirstChild; n != nil; n = n.Next {
		if n.Type == ast.NodeTextMark {
			out.WriteString(w.markdown() + spanElement(n))
			w.pieces = nil
			continue
		}
		w.node(n, nil)
	}
	return restore(out.String() + w.markdown())
}
