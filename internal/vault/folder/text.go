package folder

import (
	"maps"
	"strings"

	"collie/internal/vault/markup"
	"collie/internal/vault/tree"
)

// bodyOf writes the blocks of a document as Markdown for a folder. A block gets an attribute list if its id is
// referenced or if it has attributes of its own. If that would be read back differently, or if allIDs is set, all
// blocks get one. exact is false if the result is read back differently even so.
func bodyOf(root *tree.Block, isReferenced func(id string) bool, allIDs bool) (text string, exact bool) {
	if !allIDs {
		lean := root.Clone()
		lean.Walk(func(b *tree.Block) {
			if b != lean {
				b.Attrs = attrsFor(b, func(id string) bool { return isReferenced(id) || needsAttrList(b) })
			}
		})
		if text = renderText(lean); readsAs(text, lean) {
			return text, true
		}
	}
	full := root.Clone()
	full.Walk(func(b *tree.Block) {
		if b != full {
			b.Attrs = attrsFor(b, func(string) bool { return true })
		}
	})
	text = renderText(full)
	return text, readsAs(text, full)
}

// needsAttrList reports whether a block would be misread without an attribute list: as nothing, or as one list with the
// one before it.
func needsAttrList(b *tree.Block) bool {
	switch b.Kind {
	case tree.Paragraph:
		return b.Text == "" && (b.Parent.Kind != tree.Doc || len(b.Parent.Children) > 1)
	case tree.List:
		next := b.Sibling(1)
		return next != nil && next.Kind == tree.List
	}
	return false
}

// attrsFor returns the attributes with which a block is written, nil for none.
func attrsFor(b *tree.Block, isReferenced func(id string) bool) map[string]string {
	attrs := maps.Clone(b.Attrs)
	if b.Kind == tree.Table && strings.Trim(attrs["colgroup"], "|") == "" {
		delete(attrs, "colgroup") // it follows from the table
	}
	if attrs["updated"] == b.Created() {
		delete(attrs, "updated")
	}
	meaningful := len(attrs)
	for _, name := range []string{"id", "updated"} {
		if _, ok := attrs[name]; ok {
			meaningful--
		}
	}
	if meaningful == 0 && !isReferenced(b.ID) {
		return nil
	}
	attrs["id"] = b.ID
	return attrs
}

func renderText(root *tree.Block) string {
	parts := make([]string, len(root.Children))
	for i, b := range root.Children {
		parts[i] = markup.Kramdown(b)
	}
	return strings.ToValidUTF8(strings.Trim(strings.Join(parts, "\n\n"), "\n"), "\ufffd")
}

// readsAs reports whether a text is parsed as the blocks below root.
func readsAs(text string, root *tree.Block) bool {
	return sameBlocks(markup.Parse(text), root.Children, true)
}

// sameBlocks reports whether two lists of blocks are equal. At the top, an empty list equals an empty paragraph.
func sameBlocks(got, want []*tree.Block, top bool) bool {
	if top && len(got) == 0 && len(want) == 1 && want[0].Kind == tree.Paragraph && want[0].Text == "" && len(want[0].Attrs) == 0 {
		return true // an empty document
	}
	if len(got) != len(want) {
		return false
	}
	for i, g := range got {
		w := want[i]
		if g.Kind != w.Kind || g.Text != w.Text || g.Marker != w.Marker || g.Task != w.Task ||
			!sameAttrs(g, w) || !sameBlocks(g.Children, w.Children, false) {
			return false
		}
	}
	return true
}

func sameAttrs(got, want *tree.Block) bool {
	attrs := got.Attrs
	if got.Kind == tree.Table && strings.Trim(attrs["colgroup"], "|") == "" && want.Attrs["colgroup"] == "" {
		attrs = maps.Clone(attrs)
		delete(attrs, "colgroup")
	}
	return maps.Equal(attrs, want.Attrs)
}
