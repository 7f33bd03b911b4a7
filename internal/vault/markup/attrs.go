package markup

import (
	"fmt"
	"strings"

	"collie/internal/vault/tree"

	"github.com/88250/lute/ast"
)

// attrListsByID collects the attribute lists in a text by id. Lute invents missing ids and times; an attribute that is
// not in these lists is invented.
func attrListsByID(markdown string) map[string]map[string]string {
	lists := map[string]map[string]string{}
	for rest := markdown; ; {
		_, after, found := strings.Cut(rest, "{:")
		if !found {
			return lists
		}
		list, _, closed := strings.Cut(after, "}")
		if !closed {
			return lists
		}
		rest = after
		if strings.Contains(list, `id="`) {
			attrs := tree.ParseIAL(list)
			lists[attrs["id"]] = attrs
		}
	}
}

// attrs returns the attributes of a node, nil for none: without those that lute invented, and without those whose names an
// attribute list cannot have, which are reported as alterations.
func (c converter) attrs(n *ast.Node) map[string]string {
	var attrs map[string]string
	for _, pair := range n.KramdownIAL {
		name, value := strings.ToLower(pair[0]), pair[1]
		if c.isInvented(n, name, value) {
			continue
		}
		if !tree.ValidAttrName(name) {
			c.reportAlteration(n, fmt.Sprintf("the attribute %q is left out: its name may only have English letters, digits and _ : . -", name))
			continue
		}
		if attrs == nil {
			attrs = map[string]string{}
		}
		attrs[name] = removeStandIns(tree.UnescapeAttr(value))
	}
	return attrs
}

// isInvented reports whether lute invented an attribute.
func (c converter) isInvented(n *ast.Node, name, value string) bool {
	switch name {
	case "id":
		return c.sourceAttrs != nil && c.sourceAttrs[value] == nil
	case "updated":
		if c.sourceAttrs == nil {
			return false
		}
		if attrs := c.sourceAttrs[n.ID]; attrs != nil {
			return attrs["updated"] == ""
		}
		return len(n.ID) > 14 && value == n.ID[:14]
	}
	return false
}
