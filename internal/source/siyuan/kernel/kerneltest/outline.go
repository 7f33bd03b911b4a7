package kerneltest

import (
	"html"
	"strings"
)

// outlineFamily answers the headings of a document.
func outlineFamily(k *Kernel) {
	k.handle("/api/outline/getDocOutline", getDocOutline)
}

// headingNode is a heading with those under it.
type headingNode struct {
	b        *block
	children []*headingNode
}

// headingsOf builds the tree of a document's own headings; those in quotes and lists do not count.
func headingsOf(root *block) []*headingNode {
	top := &headingNode{}
	stack := []*headingNode{top}
	for _, b := range root.children {
		if b.kind != kindHeading {
			continue
		}
		for len(stack) > 1 && stack[len(stack)-1].b.level() >= b.level() {
			stack = stack[:len(stack)-1]
		}
		node := &headingNode{b: b}
		above := stack[len(stack)-1]
		above.children = append(above.children, node)
		stack = append(stack, node)
	}
	return top.children
}

func getDocOutline(k *Kernel, req request) reply {
	id := req.str("id")
	b := k.openBlock(id)
	if b == nil {
		return ok([]any{})
	}
	list := []any{}
	d := b.doc
	if req.optFlag("preview", false) {
		list = append(list, outlineEntry(d, d.id(), outlineName(d.title()), "h1"))
	}
	for _, node := range headingsOf(d.root) {
		entry := outlineEntry(d, node.b.id, outlineName(contentOf(node.b)), node.b.subtype())
		if blocks := k.outlineBlocks(node.children, 1); len(blocks) > 0 {
			entry["blocks"] = blocks
			entry["count"] = len(blocks)
		}
		list = append(list, entry)
	}
	if len(list) == 0 {
		return done()
	}
	return ok(list)
}

func outlineEntry(d *document, id, name, subtype string) map[string]any {
	return map[string]any{
		"id": id, "box": d.box.id, "name": name, "hPath": "", "type": "outline", "nodeType": nodeTypes[kindHeading],
		"subType": subtype, "depth": 0, "count": 0, "folded": false, "updated": "", "created": "",
	}
}

func (k *Kernel) outlineBlocks(nodes []*headingNode, depth int) []any {
	list := []any{}
	for _, node := range nodes {
		found := k.foundBlock(node.b)
		for _, empty := range []string{"hPath", "parentID", "name", "alias", "memo", "tag", "fcontent", "markdown"} {
			found[empty] = ""
		}
		found["ial"], found["sort"], found["depth"] = nil, 0, depth
		found["content"] = outlineName(contentOf(node.b))
		if below := k.outlineBlocks(node.children, depth+1); len(below) > 0 {
			found["children"] = below
			found["count"] = len(below)
		}
		list = append(list, found)
	}
	return list
}

// outlineName escapes a heading for HTML, blanks included.
func outlineName(text string) string {
	return strings.ReplaceAll(html.EscapeString(text), " ", "&nbsp;")
}
