package markup

import (
	"encoding/json"
	"fmt"

	"collie/internal/vault/tree"

	"github.com/88250/lute/ast"
	"github.com/88250/lute/render"
)

// This file reads and writes documents as .sy files.

// syVersion is the version of the .sy format that we write.
const syVersion = "2"

// SY returns a loaded document as a .sy file: the document's node as one JSON object on one line.
func SY(d *tree.Document) []byte {
	var out []byte
	err := catchPanic(func() {
		t := newTree()
		t.Root = newNode(d.Root)
		t.Root.Spec = syVersion
		toKernelForm(t.Root)
		out = render.NewJSONRenderer(t, luteEngine().RenderOptions, luteEngine().ParseOptions).Render()
	})
	if err != nil {
		return plainSY(d)
	}
	return []byte(removeStandIns(string(out)))
}

// plainSY is like SY for a document that lute cannot render: its Markdown in one paragraph.
func plainSY(d *tree.Document) []byte {
	file := map[string]any{
		"ID": d.Root.ID, "Spec": syVersion, "Type": tree.NodeType(tree.Doc), "Properties": d.Root.Attrs,
		"Children": []any{map[string]any{
			"ID": tree.RandomID(), "Type": tree.NodeType(tree.Paragraph),
			"Children": []any{map[string]any{"Type": "NodeText", "Data": Export(d.Root)}},
		}},
	}
	data, _ := json.Marshal(file) // cannot fail with strings and maps of strings
	return data
}

// ParseSY reads a .sy file and returns its root block with all below it. The error says what is wrong in the file.
func ParseSY(data []byte) (*tree.Block, error) { return ReadSY(data, nil) }

// ReadSY is like [ParseSY], but calls altered, unless it is nil, for each block that a note cannot hold as the file has it.
// It gets the block's id, which may be "", and what was changed.
func ReadSY(data []byte, altered func(id, why string)) (*tree.Block, error) {
	if hasTooManyNodes(data) {
		return nil, fmt.Errorf("the .sy file has more than %d nodes", maxNodes)
	}
	var root ast.Node
	if err := json.Unmarshal(data, &root); err != nil {
		return nil, fmt.Errorf("not a .sy file, which is one JSON object: %w", err)
	}
	if root.TypeStr != tree.NodeType(tree.Doc) {
		return nil, fmt.Errorf("not a .sy file: its root has the Type %q, expected %q", root.TypeStr, tree.NodeType(tree.Doc))
	}
	if !tree.ValidID(root.ID) {
		return nil, fmt.Errorf("the .sy file has the ID %q, expected one like 20240131120000-abcdefg", root.ID)
	}
	var b *tree.Block
	err := catchPanic(func() {
		convertFileNode(&root)
		b = converter{literal: true, onAltered: altered}.block(&root, 0)
	})
	if err != nil {
		return nil, fmt.Errorf("the .sy file cannot be read: %w", err)
	}
	return b, nil
}

// maxNodes bounds the nodes of a file: a node may take just two bytes there, but over a kilobyte in memory.
const maxNodes = 500_000

// hasTooManyNodes reports whether JSON has more than maxNodes objects.
func hasTooManyNodes(data []byte) bool {
	n, quoted := 0, false
	for i := 0; i < len(data); i++ {
		switch c := data[i]; {
		case c == '"':
			quoted = !quoted
		case c == '\\':
			i++
		case c == '{' && !quoted:
			n++
		}
	}
	return n > maxNodes
}

// convertFileNode converts a node from a file, and those below it, to a node of lute's tree. Files have children as
// lists, types as names, and tokens as text.
func convertFileNode(n *ast.Node) {
	n.Type = ast.Str2NodeType(n.TypeStr)
	n.Tokens = []byte(cleanNode(n.Data))
	n.TextMarkTextContent = cleanNode(n.TextMarkTextContent)
	if n.ID != "" {
		n.KramdownIAL = append(n.KramdownIAL, []string{"id", n.ID})
	}
	for name, value := range n.Properties {
		if name != "id" || n.ID == "" {
			n.KramdownIAL = append(n.KramdownIAL, []string{name, value})
		}
	}
	children := n.Children
	n.Children, n.Properties = nil, nil
	for _, child := range children {
		if child == nil {
			continue
		}
		convertFileNode(child)
		n.AppendChild(child)
	}
}
