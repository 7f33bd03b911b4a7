package markup

import (
	"strings"

	"collie/internal/vault/tree"

	"github.com/88250/lute/ast"
)

// givenAttrs collects the attribute lists of a text by id. Lute invents ids and times where they are missing; this
// tells them from given ones.
func givenAttrs(markdown string) map[string]map[string]string {
	given := map[string]map[string]string{}
	for rest := markdown; ; {
		_, after, found := strings.Cut(rest, "{:")
		if !found {
			return given
		}
		list, _, closed := strings.Cut(after, "}")
		if !closed {
			return given
		}
		rest = after
		if strings.Contains(list, `id="`) {
			attrs := tree.ParseIAL(list)
			given[attrs["id"]] = attrs
		}
	}
}

// attrs returns the attributes that were given to a node, nil for none.
func (c converter) attrs(n *ast.Node) map[string]string {
	var attrs map[string]string
	for _, pair := range n.KramdownIAL {
		name, value := strings.ToLower(pair[0]), pair[1]
		if c.isInvented(n, name, value) {
			continue
		}
		if attrs == nil {
			attrs = map[string]string{}
		}
		attrs[name] = removeStandIns(attrValues.Replace(value))
	}
	return attrs
}

// isInvented reports whether lute invented an attribute.
func (c converter) isInvented(n *ast.Node, name, value string) bool {
	switch name {
	case "id":
		return c.given != nil && c.given[value] == nil
	case "updated":
		if c.given == nil {
			return false
		}
		if given := c.given[n.ID]; given != nil {
			return given["updated"] == ""
		}
		return len(n.ID) > 14 && value == n.ID[:14]
	}
	return false
}

// attrValues reverses what tree.IAL does to an attribute's value.
var attrValues = strings.NewReplacer("&quot;", `"`, "&lt;", "<", "&gt;", ">", "&#123;", "{", "&#125;", "}", "_esc_newline_", "\n", "&amp;", "&")
