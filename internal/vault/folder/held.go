package folder

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"
	"strings"

	"collie/internal/lazyregexp"
	"collie/internal/vault/tree"
)

// dynamicRef matches a reference whose text follows its target.
var dynamicRef = lazyregexp.New(`\(\((\d{14}-[0-9a-z]{7}) '.*?'\)\)`)

// idAsText matches an id in an attribute list that became text.
var idAsText = lazyregexp.New(`\bid="\d{14}-[0-9a-z]{7}"`)

// ownHere reports whether an attribute is about the use of a block in the vault and not its content.
func ownHere(name string) bool {
	switch name {
	case "id", "updated", "title", "type", "fold", "heading-fold", "custom-avs", "custom-riff-decks", "custom-hidden":
		return true
	}
	return false
}

// heldHash returns a hash of a document's content, the same for new blocks and for those in the vault. It ignores
// ids, times, the text of dynamic references, and attributes about the use of blocks.
func heldHash(attrs map[string]string, blocks []*tree.Block) string {
	if len(blocks) == 1 && blocks[0].Kind == tree.Paragraph && blocks[0].Text == "" && len(contentAttrs(blocks[0].Attrs)) == 0 {
		blocks = nil // the placeholder of an empty document
	}
	sum := sha256.New()
	writeHeld(sum, contentAttrs(attrs)...)
	for _, b := range blocks {
		hashBlock(sum, b)
	}
	return hex.EncodeToString(sum.Sum(nil))
}

// blockHash is heldHash for one block with all in it.
func blockHash(b *tree.Block) string {
	sum := sha256.New()
	hashBlock(sum, b)
	return string(sum.Sum(nil))
}

func hashBlock(sum hash.Hash, b *tree.Block) {
	text := b.Text
	if strings.Contains(text, "((") {
		text = dynamicRef.ReplaceAllString(text, "(($1))")
	}
	if strings.Contains(text, "{: ") {
		text = idAsText.ReplaceAllString(text, "id")
	}
	writeHeld(sum, b.Kind, b.Marker, b.Task, text)
	writeHeld(sum, contentAttrs(b.Attrs)...)
	_, _ = fmt.Fprint(sum, len(b.Children), ";")
	for _, child := range b.Children {
		hashBlock(sum, child)
	}
}

// writeHeld writes texts so that different lists give different bytes.
func writeHeld(sum hash.Hash, texts ...string) {
	for _, text := range texts {
		_, _ = fmt.Fprint(sum, len(text), ":", text)
	}
	_, _ = fmt.Fprint(sum, ".")
}

// contentAttrs returns the attributes that belong to a block's content, as names and values.
func contentAttrs(attrs map[string]string) (list []string) {
	for _, name := range sortedKeys(attrs) {
		if value := attrs[name]; value != "" && !ownHere(name) {
			list = append(list, name, value)
		}
	}
	return list
}
