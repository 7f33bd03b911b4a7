package document

import (
	"html"
	"strings"

	"collie/internal/vault/api"
	"collie/internal/vault/markup"
	"collie/internal/vault/tree"
	"collie/internal/vault/workspace"
)

// heading is a heading with those under it.
type heading struct {
	*tree.Block
	below []*heading
}

// headings builds the tree of a document's own headings; those in quotes and lists do not count.
func headings(root *tree.Block) []*heading {
	stack := []*heading{{}}
	for _, b := range root.Children {
		if b.Kind != tree.Heading {
			continue
		}
		for len(stack) > 1 && stack[len(stack)-1].Level() >= b.Level() {
			stack = stack[:len(stack)-1]
		}
		h, above := &heading{Block: b}, stack[len(stack)-1]
		above.below = append(above.below, h)
		stack = append(stack, h)
	}
	return stack[0].below
}

// outlineEntry is a heading at the top of an outline.
type outlineEntry struct {
	ID       string            `json:"id"`
	Box      string            `json:"box"`
	Name     string            `json:"name"` // escaped for HTML, as all names in outlines
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

// getDocOutline answers the headings of the document a block lies in: null when there are none, and an empty list for
// a block that does not exist. With preview the title comes first.
func getDocOutline(tx *workspace.Tx, req api.Request) api.Reply {
	b := tx.Block(req.Str("id"))
	if b == nil {
		return api.OK([]any{})
	}
	d := b.Doc
	var list []outlineEntry
	if req.OptFlag("preview", false) {
		list = append(list, newOutlined(d, d.ID(), d.Title(), "h1"))
	}
	for _, h := range headings(d.Root) {
		entry := newOutlined(d, h.ID, markup.Content(h.Block), h.Subtype())
		entry.Blocks = foundHeadings(h.below, 1)
		entry.Count = len(entry.Blocks)
		list = append(list, entry)
	}
	if len(list) == 0 {
		return api.Done()
	}
	return api.OK(list)
}

func newOutlined(d *tree.Document, id, name, subtype string) outlineEntry {
	return outlineEntry{
		ID: id, Box: d.Box.ID, Name: escapeHTML(name), Type: "outline", NodeType: tree.NodeType(tree.Heading),
		SubType: subtype,
	}
}

// foundHeadings returns the headings below the top of an outline.
func foundHeadings(list []*heading, depth int) []*api.FoundBlock {
	var blocks []*api.FoundBlock
	for _, h := range list {
		found := api.Found(h.Block)
		found.HPath, found.ParentID, found.Name, found.Alias, found.Memo, found.Tag = "", "", "", "", "", ""
		found.FContent, found.Markdown, found.IAL, found.Sort = "", "", nil, 0
		found.Content, found.Depth = escapeHTML(found.Content), depth
		found.Children = foundHeadings(h.below, depth+1)
		found.Count = len(found.Children)
		blocks = append(blocks, found)
	}
	return blocks
}

// escapeHTML returns a heading escaped for HTML, blanks included.
func escapeHTML(text string) string {
	return strings.ReplaceAll(html.EscapeString(text), " ", "&nbsp;")
}
