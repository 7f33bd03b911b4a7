package kerneltest

import (
	"strconv"
	"strings"
)

// syNode is a node of a .sy file.
type syNode struct {
	ID              string            `json:"ID,omitempty"`
	Spec            string            `json:"Spec,omitempty"`
	Type            string            `json:"Type"`
	Data            string            `json:"Data,omitempty"`
	HeadingLevel    int               `json:"HeadingLevel,omitempty"`
	ListData        map[string]any    `json:"ListData,omitzero"`
	AttributeViewID string            `json:"AttributeViewID,omitempty"`
	Properties      map[string]string `json:"Properties,omitempty"`
	MarkType        string            `json:"TextMarkType,omitempty"`
	MarkText        string            `json:"TextMarkTextContent,omitempty"`
	MarkHref        string            `json:"TextMarkAHref,omitempty"`
	MarkRefID       string            `json:"TextMarkBlockRefID,omitempty"`
	MarkRefSubtype  string            `json:"TextMarkBlockRefSubtype,omitempty"`
	MarkMath        string            `json:"TextMarkInlineMathContent,omitempty"`
	Children        []syNode          `json:"Children,omitempty"`
}

// syFile renders a document as the file it would be.
func syFile(d *document) []byte {
	node := newSyNode(d.root)
	node.Spec = "2"
	return mustJSON(node)
}

func newSyNode(b *block) syNode {
	node := syNode{ID: b.id, Type: nodeTypes[b.kind], HeadingLevel: b.level(), Properties: b.attrs}
	switch b.kind {
	case kindDatabase:
		node.AttributeViewID = databaseID(b.text)
		return node
	case kindList, kindItem:
		node.ListData = listData(b)
	case kindHeading:
		node.Children = inlineNodes(strings.TrimSpace(strings.TrimLeft(b.text, "#")))
	case kindParagraph:
		node.Children = inlineNodes(b.text)
	default:
		if !b.container() && b.text != "" {
			node.Children = []syNode{{Type: "NodeText", Data: b.text}}
		}
	}
	for _, child := range b.children {
		node.Children = append(node.Children, newSyNode(child))
	}
	return node
}

// listData is the kind of a list, and for an item its mark.
func listData(b *block) map[string]any {
	data := map[string]any{}
	switch b.subtype() {
	case "o":
		data["Typ"] = 1
	case "t":
		data["Typ"] = 3
	}
	if b.kind == kindItem {
		data["Marker"] = []byte(strings.ReplaceAll(b.marker, "-", "*"))
		if b.subtype() != "o" {
			data["BulletChar"] = '*'
			return data
		}
		data["Delimiter"] = b.marker[len(b.marker)-1]
		data["Num"], _ = strconv.Atoi(b.marker[:len(b.marker)-1])
	}
	return data
}

func inlineNodes(text string) []syNode {
	var nodes []syNode
	for _, s := range spansOf(text) {
		node := syNode{Type: "NodeTextMark", MarkType: s.kind, MarkText: s.content}
		switch s.kind {
		case "", "img": // an image is kept as its markdown
			node = syNode{Type: "NodeText", Data: s.markdown}
		case "a":
			node.MarkHref = s.target
		case "block-ref":
			node.MarkRefID, node.MarkRefSubtype = s.target, s.subtype
		case "inline-math":
			node.MarkText, node.MarkMath = "", s.content
		}
		nodes = append(nodes, node)
	}
	return nodes
}
