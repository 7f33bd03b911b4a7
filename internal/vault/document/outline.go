package document

import (
	"html"
	"strings"

	"collie/internal/vault/api"
	"collie/internal/vault/markup"
	"collie/internal/vault/tree"
	"collie/internal/vault/workspace"
)

// This file has the endpoint for the outline of a document.

// heading is a heading with the headings under it.
type heading struct {
	*tree.Block
	children []*heading
}

// headings returns the tree of the headings of a document, without those in quotes and lists.
func headings(root *tree.Block) []*heading {
	stack := []*heading{{}}
	for _, b := range root.Children {
		if b.Kind != tree.Heading {
			continue
		}
		for len(stack) > 1 && stack[len(stack)-1].Level() >= b.Level() {
			stack = stack[:len(stack)-1]
		}
		h, parent := &heading{Block: b}, stack[len(stack)-1]
		parent.children = append(parent.children, h)
		stack = append(stack, h)
	}
	return stack[0].children
}

// outlineEntry is a heading at the top of an outline.
type outlineEntry struct {
	ID       string            `json:"id"`
	Box      string            `json:"box"`
	Name     string            `json:"name"` // escaped for HTML, like all names in outlines
	HPath    string            `json:"hPath"`
	Type     string            `json:"type"`
	NodeType string            `json:"nodeType"`
	SubType  string            `json:"subType"`
	Depth    int               `json:"depth"`
	Count    int               `json:"count"`
	Folded   bool              `json:"folded"`
	Updated  string            `json:"updated"`
	Created  string            `json:"created"`
	Blocks   []*api.FoundBlock `json:"blocks,omitempty"` // the headings under it
}

// getDocOutline returns the headings of the document that contains a block: null if there are none, and an empty list
// if the block does not exist. With preview the title comes first.
func getDocOutline(tx *workspace.Tx, req api.Request) api.Reply {
	b := tx.Block(req.Str("id"))
	if b == nil {
		return api.OK([]any{})
	}
	d := b.Doc
	var list []outlineEntry
	if req.OptFlag("preview", false) {
		list = append(list, newEntry(d, d.ID(), d.Title(), "h1"))
	}
	for _, h := range headings(d.Root) {
		entry := newEntry(d, h.ID, markup.Content(h.Block), h.Subtype())
		entry.Blocks = foundHeadings(h.children, 1)
		entry.Count = len(entry.Blocks)
		list = append(list, entry)
	}
	if len(list) == 0 {
		return api.Done()
	}
	return api.OK(list)
}

func newEntry(d *tree.Document, id, name, subtype string) outlineEntry {
	return outlineEntry{
		ID: id, Box: d.Box.ID, Name: escapeHTML(name), Type: "outline", NodeType: tree.NodeType(tree.Heading),
		SubType: subtype,
	}
}

// foundHeadings returns headings below the top of an outline, with those under them.
func foundHeadings(list []*heading, depth int) []*api.FoundBlock {
	var blocks []*api.FoundBlock
	for _, h := range list {
		block := api.NewFoundBlock(h.Block)
		block.HPath, block.ParentID, block.Name, block.Alias, block.Memo, block.Tag = "", "", "", "", "", ""
		block.FContent, block.Markdown, block.IAL, block.Sort = "", "", nil, 0
		block.Content, block.Depth = escapeHTML(block.Content), depth
		block.Children = foundHeadings(h.children, depth+1)
		block.Count = len(block.Children)
		blocks = append(blocks, block)
	}
	return blocks
}

// escapeHTML escapes a heading for HTML, including blanks.
func escapeHTML(text string) string {
	return strings.ReplaceAll(html.EscapeString(text), " ", "&nbsp;")
}
