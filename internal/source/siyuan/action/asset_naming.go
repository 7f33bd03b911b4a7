package action

import (
	"encoding/hex"
	"html"
	"slices"
	"strings"

	"collie/internal/lazyregexp"
)

// Naming finds which of some assets texts name, in whatever form. The work is that of the texts,
// however many assets there are. It is not safe for concurrent use.
type Naming struct {
	found   map[string]bool // by the path from assets/ on
	lengths []int           // of those paths
}

// NewNaming is a search for assets, by their paths below data/.
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

// Read looks for the assets in a text as it is, and with its escapes decoded.
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
		b, _ := hex.DecodeString(e[1:]) // the pattern has two digits
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

// percentEncoded is one percent-encoded byte.
var percentEncoded = lazyregexp.New(`%[0-9a-fA-F]{2}`)

// AssetTail is the path of an asset from its folder assets/ on, which is how documents write it.
func AssetTail(path string) string {
	if i := strings.Index("/"+path, "/assets/"); i >= 0 {
		return path[i:]
	}
	return path
}
