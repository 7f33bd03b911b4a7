package workspace

import (
	"strings"

	"zombiezen.com/go/sqlite"

	"collie/internal/vault/markup"
	"collie/internal/vault/tree"
)

// refreshAnchors updates the dynamic anchors, ((id 'text')), of definitions that changed, and reports whether any was
// stale. SiYuan does this a moment after the change.
func (tx *Tx) refreshAnchors(changed []*tree.Block) (stale bool) {
	for _, def := range changed {
		for _, b := range tx.referringBlocks(def.ID) {
			if text := TextWithAnchors(b, def); text != b.Text {
				b.Text, stale = text, true
			}
		}
	}
	return stale
}

// referringBlocks returns the blocks of any notebook that refer to a block, with their documents loaded.
func (tx *Tx) referringBlocks(def string) []*tree.Block {
	var ids []string
	tx.query(func(s *sqlite.Stmt) bool {
		ids = append(ids, s.ColumnText(0))
		return true
	}, "SELECT DISTINCT node.id FROM ref JOIN node ON node.n = ref.node WHERE ref.def = ?", def)
	var found []*tree.Block
	for _, id := range ids {
		if b := tx.find(id); b != nil && !b.Container() {
			found = append(found, b)
		}
	}
	return found
}

// maxAnchor bounds the characters of a dynamic anchor, by SiYuan's default. Without it, blocks that refer to each
// other more than once would grow each other's text without end.
const maxAnchor = 96

// anchorOf returns the dynamic anchor for a definition.
func anchorOf(def *tree.Block) string {
	text := strings.TrimSpace(markup.Content(def))
	if short := truncate(text, maxAnchor); short != text {
		return short + "..."
	}
	return text
}

// TextWithAnchors returns the text of b with its dynamic anchors of def updated.
func TextWithAnchors(b, def *tree.Block) string {
	text := b.Text
	for _, s := range markup.References(b) {
		if s.Target != def.ID || s.Subtype != "d" || s.Markdown == "" {
			continue
		}
		text = strings.ReplaceAll(text, s.Markdown, markup.DynamicReference(def.ID, strings.ReplaceAll(anchorOf(def), "'", "’")))
	}
	return text
}
