package action

import (
	"encoding/hex"
	"html"
	"slices"
	"strings"

	"collie/internal/lazyregexp"
)

// Naming finds which of a set of assets are named in texts, in any form. The time depends on the texts, not on the
// number of assets. It is not safe for concurrent use.
type Naming struct {
	found   map[string]bool // by path from assets/ on
	lengths []int           // lengths of those paths
}

// NewNaming returns a search for assets, given by their paths below data/.
func NewNaming(assets []string) *Naming {
	n := &Naming{found: map[string]bool{}}
	for _, p := range assets {
		t := AssetTail(p)
		n.found[t] = false
		if !slices.Contains(n.lengths, len(t)) {
			n.lengths = append(n.lengths, len(t))
		}
	}
	return n
}

// Has reports whether a text that was read names an asset.
func (n *Naming) Has(asset string) bool { return n.found[AssetTail(asset)] }

// Read searches a text, as it is and with its escapes decoded.
func (n *Naming) Read(text string) {
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

func (n *Naming) scan(text string) {
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
