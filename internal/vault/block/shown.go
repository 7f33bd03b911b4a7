package block

import (
	"strings"

	"collie/internal/vault/markup"
	"collie/internal/vault/tree"
)

// shownBlock is a block that refers or mentions, as the editor shows it.
type shownBlock struct {
	DOM        string `json:"dom"`
	BlockPaths []any  `json:"blockPaths"` // always empty
	Expand     bool   `json:"expand"`     // always true
}

// appendShown adds a leaf to list, or the list item it stands in, unless it lacks the keyword. A mention is marked.
func appendShown(list []shownBlock, b *tree.Block, keyword, mention string) []shownBlock {
	if !contains(markup.Content(b), keyword) {
		return list
	}
	dom := markup.DOM(shownAs(b))
	if mention != "" {
		dom = markFirst(dom, mention)
	}
	return append(list, shownBlock{DOM: dom, BlockPaths: []any{}, Expand: true})
}

// shownAs returns the block that stands for a leaf in lists: the item it lies in, or the leaf itself.
func shownAs(b *tree.Block) *tree.Block {
	if b.Parent != nil && b.Parent.Kind == tree.Item {
		return b.Parent
	}
	return b
}

// markFirst marks the first place of a text in DOM, outside of tags. DOM that shows the text in parts stays as it is.
func markFirst(dom, text string) string {
	for at := 0; ; {
		open := strings.IndexByte(dom[at:], '>')
		if open < 0 {
			return dom
		}
		start := at + open + 1
		length := strings.IndexByte(dom[start:], '<')
		if length < 0 {
			return dom
		}
		if i, n := find(dom[start:start+length], text); i >= 0 {
			i += start
			return dom[:i] + `<span data-type="search-mark">` + dom[i:i+n] + `</span>` + dom[i+n:]
		}
		at = start + length
	}
}

// find returns where escaped HTML shows a text, and how long it is there; -1 if it does not.
func find(escaped, text string) (at, length int) {
	for _, escape := range escapedForms {
		shown := escape.Replace(text)
		if at := strings.Index(escaped, shown); at >= 0 {
			return at, len(shown)
		}
	}
	return -1, 0
}

// escapedForms are the ways in which text stands between tags.
var escapedForms = []*strings.Replacer{
	strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&quot;"),
	strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;"),
}
