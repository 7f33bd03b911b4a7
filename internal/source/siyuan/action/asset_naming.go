package action

import (
	"encoding/hex"
	"html"
	"slices"
	"strings"

	"collie/internal/lazyregexp"
)

// AssetMentions finds out which of a set of assets are named in the texts given to it, in any form. The time depends on the texts, not on the
// number of assets. It is not safe for concurrent use.
type AssetMentions struct {
	found   map[string]bool // for each asset, by its path from assets/ on, whether some text names it
	lengths []int           // the different lengths of those paths
}

// NewAssetMentions returns a search for assets, given by their paths below data/.
func NewAssetMentions(assets []string) *AssetMentions {
	n := &AssetMentions{found: map[string]bool{}}
	for _, p := range assets {
		t := AssetTail(p)
		n.found[t] = false
		if !slices.Contains(n.lengths, len(t)) {
			n.lengths = append(n.lengths, len(t))
		}
	}
	return n
}

// Has reports whether some text that was added names an asset.
func (n *AssetMentions) Has(asset string) bool { return n.found[AssetTail(asset)] }

// AddText searches a text, as it is and with its escapes decoded.
func (n *AssetMentions) AddText(text string) {
	n.scan(text)
	plain := html.UnescapeString(text)
	if plain != text {
		n.scan(plain)
	}
	if !strings.Contains(plain, "%") {
		return
	}
	n.scan(percentEncoded.ReplaceAllStringFunc(plain, func(e string) string {
		b, _ := hex.DecodeString(e[1:]) // cannot fail: the pattern has two hexadecimal digits
		return string(b)
	}))
}

// scan marks the assets that a text names literally.
func (n *AssetMentions) scan(text string) {
	const folder = "assets/"
	for {
		i := strings.Index(text, folder)
		if i < 0 {
			return
		}
		text = text[i:]
		for _, l := range n.lengths {
			if l > len(text) {
				continue
			}
			if _, wanted := n.found[text[:l]]; wanted {
				n.found[text[:l]] = true
			}
		}
		text = text[len(folder):]
	}
}

// percentEncoded matches one percent-encoded byte.
var percentEncoded = lazyregexp.New(`%[0-9a-fA-F]{2}`)

// AssetTail returns the path of an asset from its folder assets/ on, as documents write it.
func AssetTail(path string) string {
	if i := strings.Index("/"+path, "/assets/"); i >= 0 {
		return path[i:]
	}
	return path
}
