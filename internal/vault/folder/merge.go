package folder

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"
	"strings"

	"collie/internal/lazyregexp"
	"collie/internal/vault/tree"
	"collie/internal/vault/workspace"
)

// merger updates a document to the blocks made from its file. Equal blocks stay. A changed block gets its new text in
// place, so that references to it remain valid.
type merger struct {
	tx     *workspace.Tx
	linked map[string]bool        // ids of new blocks to which links refer
	old    map[string]*tree.Block // blocks of the document by id
	reused map[*tree.Block]bool   // old blocks that are used again
	hash   map[*tree.Block]string
}

// merge replaces the content of the document by blocks. linked has the ids among them that links refer to; these ids do
// not change.
func merge(tx *workspace.Tx, d *tree.Document, blocks []*tree.Block, linked map[string]bool) {
	m := &merger{tx, linked, map[string]*tree.Block{}, map[*tree.Block]bool{}, map[*tree.Block]string{}}
	for _, b := range d.Root.Children {
		b.Walk(func(b *tree.Block) { m.old[b.ID] = b })
	}
	for _, b := range blocks {
		b.Walk(func(b *tree.Block) {
			if old := m.old[b.Attrs["id"]]; old != nil {
				m.reused[old] = true // its id is needed, so no other block takes it
			}
		})
	}
	if len(blocks) == 0 {
		blocks = []*tree.Block{tx.EmptyParagraph()}
	}
	children := m.mergeList(d.Root.Children, blocks)
	d.Root.Children = nil
	d.Root.Insert(0, children...)
}

// hashOf returns the hash of a block and everything below it, which is computed once.
func (m *merger) hashOf(b *tree.Block) string {
	h, ok := m.hash[b]
	if !ok {
		h = blockHash(b)
		m.hash[b] = h
	}
	return h
}

// mergeList returns the blocks of one container after the merge: before are those of the document, after those of the file.
func (m *merger) mergeList(before, after []*tree.Block) []*tree.Block {
	partner := m.matchBlocks(before, after)
	merged := make([]*tree.Block, len(after))
	for i, b := range after {
		switch old := partner[i]; {
		case old == nil:
			merged[i] = m.newBlock(b)
		case m.isEqual(old, b):
			merged[i] = old
		default:
			m.replaceContent(old, b)
			merged[i] = old
		}
	}
	return merged
}

// blockPosition identifies a gap between kept blocks: the kept block before it, and the kind of block in it.
type blockPosition struct {
	after *tree.Block
	kind  string
}

// matchBlocks returns for each new block the old one that it replaces, nil for none: the one with its id, else an equal
// one, else one of its kind at the same position.
func (m *merger) matchBlocks(before, after []*tree.Block) []*tree.Block {
	partner := make([]*tree.Block, len(after))
	byHash := map[string][]*tree.Block{}
	matched := map[*tree.Block]bool{}
	for _, old := range before {
		if !m.reused[old] {
			byHash[m.hashOf(old)] = append(byHash[m.hashOf(old)], old)
		}
	}
	for i, b := range after {
		id := b.Attrs["id"]
		switch old := m.old[id]; {
		case old != nil && old.Kind == b.Kind && isIn(before, old):
			partner[i] = old
		case m.linked[id] || old != nil: // its id must not change, so it takes the place of no other block
		default:
			if list := byHash[m.hashOf(b)]; len(list) > 0 {
				partner[i], byHash[m.hashOf(b)] = list[0], list[1:]
				m.reused[list[0]] = true
			}
		}
		if partner[i] != nil {
			matched[partner[i]] = true
		}
	}
	open := map[blockPosition][]*tree.Block{}
	var last *tree.Block
	for _, old := range before {
		if matched[old] {
			last = old
		} else if !m.reused[old] {
			open[blockPosition{last, old.Kind}] = append(open[blockPosition{last, old.Kind}], old)
		}
	}
	last = nil
	for i, b := range after {
		if partner[i] != nil {
			last = partner[i]
			continue
		}
		at := blockPosition{last, b.Kind}
		if list := open[at]; len(list) > 0 && !m.linked[b.Attrs["id"]] && m.old[b.Attrs["id"]] == nil {
			partner[i], open[at] = list[0], list[1:]
			m.reused[list[0]] = true
		}
	}
	return partner
}

// isIn reports whether a block is in the container whose blocks are list.
func isIn(list []*tree.Block, b *tree.Block) bool {
	return len(list) > 0 && list[0].Parent == b.Parent
}

// isEqual reports whether two blocks are equal, apart from ids to which no links refer.
func (m *merger) isEqual(old, b *tree.Block) bool {
	return m.hashOf(old) == m.hashOf(b) && m.sameIDs(old, b)
}

// sameIDs reports whether the blocks to which links refer, among a new block and those below it, have the ids of the old ones.
func (m *merger) sameIDs(old, b *tree.Block) bool {
	if id := b.Attrs["id"]; m.linked[id] && id != old.ID || len(old.Children) != len(b.Children) {
		return false
	}
	for i := range b.Children {
		if !m.sameIDs(old.Children[i], b.Children[i]) {
			return false
		}
	}
	return true
}

// replaceContent gives an old block the content of a new one.
func (m *merger) replaceContent(old, b *tree.Block) {
	attrs := b.Attrs
	if attrs == nil {
		attrs = map[string]string{}
	}
	for name, value := range old.Attrs {
		if isUsageAttr(name) && (name != "updated" || attrs[name] == "") {
			attrs[name] = value
		}
	}
	children := m.mergeList(old.Children, b.Children)
	old.Text, old.Marker, old.Task, old.Attrs = b.Text, b.Marker, b.Task, attrs
	old.Children = nil
	old.Insert(0, children...)
}

// newBlock adds a block as a new one. Blocks of the document that moved into it keep their ids.
func (m *merger) newBlock(b *tree.Block) *tree.Block {
	var keep []string
	b.Walk(func(b *tree.Block) {
		if id := b.Attrs["id"]; m.old[id] != nil {
			keep = append(keep, id)
		}
	})
	return m.tx.Identify([]*tree.Block{b}, keep...)[0]
}

// dynamicRef matches a reference whose text follows its target.
var dynamicRef = lazyregexp.New(`\(\((\d{14}-[0-9a-z]{7}) '.*?'\)\)`)

// withoutDynamicTexts returns a text without the texts of its dynamic references.
func withoutDynamicTexts(text string) string {
	if !strings.Contains(text, "((") {
		return text
	}
	return dynamicRef.ReplaceAllString(text, "(($1))")
}

// delimiterRow matches the row below the head of a table. The number of its dashes depends on the width of the column, and
// so on the texts of dynamic references in it.
var (
	delimiterRow = lazyregexp.New(`\n\|[-:| ]+\|(?:\n|$)`)
	dashes       = lazyregexp.New(`-+`)
)

// idAsText matches an id in an attribute list that became text.
var idAsText = lazyregexp.New(`\bid="\d{14}-[0-9a-z]{7}"`)

// isUsageAttr reports whether an attribute describes how the vault uses a block, and not its content.
func isUsageAttr(name string) bool {
	switch name {
	case "id", "updated", "title", "type", "fold", "heading-fold", "custom-avs", "custom-riff-decks", "custom-hidden":
		return true
	}
	return false
}

// contentHash returns a hash of a document's content. New blocks and the same blocks in the vault have the same hash:
// it ignores ids, times, the text of dynamic references, the width of tables, and attributes that only describe use in the vault.
func contentHash(attrs map[string]string, blocks []*tree.Block) string {
	if len(blocks) == 1 && blocks[0].Kind == tree.Paragraph && blocks[0].Text == "" && len(contentAttrs(blocks[0].Attrs)) == 0 {
		blocks = nil // the placeholder of an empty document
	}
	sum := sha256.New()
	writeTexts(sum, contentAttrs(attrs)...)
	for _, b := range blocks {
		hashBlock(sum, b)
	}
	return hex.EncodeToString(sum.Sum(nil))
}

// blockHash is contentHash for one block and everything below it.
func blockHash(b *tree.Block) string {
	sum := sha256.New()
	hashBlock(sum, b)
	return string(sum.Sum(nil))
}

// hashBlock adds a block and everything below it to a hash, without ids, times and the texts of dynamic anchors.
func hashBlock(sum hash.Hash, b *tree.Block) {
	text := withoutDynamicTexts(b.Text)
	if b.Kind == tree.Table {
		text = delimiterRow.ReplaceAllStringFunc(text, func(row string) string { return dashes.ReplaceAllString(row, "-") })
	}
	if strings.Contains(text, "{: ") {
		text = idAsText.ReplaceAllString(text, "id")
	}
	writeTexts(sum, b.Kind, withoutDynamicTexts(b.Marker), b.Task, text) // a callout has its title in the marker
	writeTexts(sum, contentAttrs(b.Attrs)...)
	_, _ = fmt.Fprint(sum, len(b.Children), ";")
	for _, child := range b.Children {
		hashBlock(sum, child)
	}
}

// writeTexts hashes texts with their lengths, so that different lists never give the same bytes.
func writeTexts(sum hash.Hash, texts ...string) {
	for _, text := range texts {
		_, _ = fmt.Fprint(sum, len(text), ":", text)
	}
	_, _ = fmt.Fprint(sum, ".")
}

// contentAttrs returns the names and values of the attributes that belong to a block's content, sorted by name.
func contentAttrs(attrs map[string]string) (list []string) {
	for _, name := range sortedKeys(attrs) {
		if value := attrs[name]; value != "" && !isUsageAttr(name) {
			list = append(list, name, value)
		}
	}
	return list
}
