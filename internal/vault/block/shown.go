package block

import (
	"strings"

	"collie/internal/vault/markup"
	"collie/internal/vault/tree"
)

// shownBlock is a block that refers to or mentions something, in the form for the editor.
type shownBlock struct {
	DOM        string `json:"dom"`
	BlockPaths []any  `json:"blockPaths"` // always empty
	Expand     bool   `json:"expand"`     // always true
}

// appendShown adds a leaf, or the list item that contains it, to list if it contains the keyword. A mention in it is
// marked.
func appendShown(list []shownBlock, b *tree.Block, keyword, mention string) []shownBlock {
	if !contains(markup.Content(b), keyword) {
		return list
	}
	dom := markup.DOM(itemOrSelf(b))
	if mention != "" {
		dom = markFirst(dom, mention)
	}
	return append(list, shownBlock{DOM: dom, BlockPaths: []any{}, Expand: true})
}

// itemOrSelf returns the block that is listed for a leaf: the item that contains it, or else the leaf.
func itemOrSelf(b *tree.Block) *tree.Block {
	if b.Parent != nil && b.Parent.Kind == tree.Item {
		return b.Parent
	}
	return b
}

// markFirst marks the first occurrence of text in a DOM, outside of tags. If the text is split by tags, the DOM stays
// as it is.
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
		if i, n := findEscaped(dom[start:start+length], text); i >= 0 {
			i += start
			return dom[:i] + `<span data-type="search-mark">` + dom[i:i+n] + `</span>` + dom[i+n:]
		}
		at = start + length
	}
}

// findEscaped returns the index of a text in escaped HTML and its length there; -1 if it is missing.
func findEscaped(escaped, text string) (at, length int) {
	for _, escape := range escapedForms {
		pattern := escape.Replace(text)
		if at := strings.Index(escaped, pattern); at >= 0 {
			return at, len(pattern)
		}
	}
	return -1, 0
}

// escapedForms are the ways to escape text between tags.
var escapedForms = []*strings.Replacer{
	strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&quot;"),
	strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;"),
}
