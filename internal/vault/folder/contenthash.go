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

// isUsageAttr reports whether an attribute describes how the vault uses a block, and not its content.
func isUsageAttr(name string) bool {
	switch name {
	case "id", "updated", "title", "type", "fold", "heading-fold", "custom-avs", "custom-riff-decks", "custom-hidden":
		return true
	}
	return false
}

// contentHash returns a hash of a document's content. New blocks and the same blocks in the vault have the same hash:
// it ignores ids, times, the text of dynamic references, and attributes that only describe use in the vault.
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

func hashBlock(sum hash.Hash, b *tree.Block) {
	text := b.Text
	if strings.Contains(text, "((") {
		text = dynamicRef.ReplaceAllString(text, "(($1))")
	}
	if strings.Contains(text, "{: ") {
		text = idAsText.ReplaceAllString(text, "id")
	}
	writeTexts(sum, b.Kind, b.Marker, b.Task, text)
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
