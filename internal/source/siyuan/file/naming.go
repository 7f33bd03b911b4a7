package file

import (
	"encoding/hex"
	"html"
	"regexp"
	"slices"
	"strings"
)

// naming finds which of some assets texts name, in whatever form. The work is that of the texts,
// however many assets there are.
type naming struct {
	found   map[string]bool // by the path from assets/ on
	lengths []int           // of those paths
}

// newNaming is a search for assets, by their paths below data/.
func newNaming(assets []string) *naming {
	n := &naming{found: map[string]bool{}}
	for _, p := range assets {
		t := tailOf(p)
		n.found[t] = false
		if !slices.Contains(n.lengths, len(t)) {
			n.lengths = append(n.lengths, len(t))
		}
	}
	return n
}

// has reports whether a text that was read names an asset.
func (n *naming) has(asset string) bool { return n.found[tailOf(asset)] }

// read looks for the assets in a text as it is, and with its escapes decoded.
func (n *naming) read(text string) {
	n.scan(text)
	plain := html.UnescapeString(text)
	if plain != text {
		n.scan(plain)
	}
	if !strings.Contains(plain, "%") {
		return
	}
	n.scan(escape.ReplaceAllStringFunc(plain, func(e string) string {
		b, _ := hex.DecodeString(e[1:]) // the pattern has two digits
		return string(b)
	}))
}

func (n *naming) scan(text string) {
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

// escape is one percent-encoded byte.
var escape = regexp.MustCompile(`%[0-9a-fA-F]{2}`)
