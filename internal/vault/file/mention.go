package file

import (
	"html"
	"net/url"
	"regexp"
	"strings"
	"unicode"

	"collie/internal/siyuanapi"
	"collie/internal/vault/workspace"
)

// This file finds the assets that texts mention, in all spellings of their address.

// findMentioned returns those of assets (assets/...) that some text of the workspace mentions: blocks of any kind, also
// in closed notebooks, attributes and databases. With escaped, names written with escapes count as well. It reads every
// text that contains the address of an asset, so only rare calls should use it.
func findMentioned(tx *workspace.Tx, assets []string, escaped bool) map[string]bool {
	want, found := map[string]bool{}, map[string]bool{}
	for _, a := range assets {
		want[a] = true
	}
	look := func(text string) { collectMentions(text, want, escaped, found) }
	tx.Rows(func(row workspace.Row) bool {
		look(row.Text(0))
		look(html.UnescapeString(row.Text(1)))
		return true
	}, "SELECT markdown, ial FROM node WHERE instr(markdown, 'assets/') > 0 OR instr(ial, 'assets/') > 0")
	for _, f := range tx.FilesBelow(siyuanapi.Databases) {
		if !f.Dir {
			look(string(tx.ReadFile(f.Path)))
		}
	}
	return found
}

// maxAddress bounds the length of an address, in bytes.
const maxAddress = 1024

// collectMentions adds the assets in want that a text mentions to found. Names may contain spaces and brackets, so an
// address is tried up to each byte at which it may end.
func collectMentions(text string, want map[string]bool, escaped bool, found map[string]bool) {
	for {
		at := strings.Index(text, "assets/")
		if at < 0 {
			return
		}
		text = text[at:]
		address, _, _ := strings.Cut(text[:min(len(text), maxAddress)], "\n")
		for end := len("assets/"); end <= len(address); end++ {
			if end < len(address) && isNameByte(address[end]) {
				continue
			}
			name := address[:end]
			if want[name] {
				found[name] = true
			}
			if !escaped {
				continue
			}
			for _, reading := range readings(name) {
				if want[reading] {
					found[reading] = true
				}
			}
		}
		text = text[len("assets/"):]
	}
}

// readings returns the addresses that an address with escapes may mean.
func readings(address string) []string {
	var list []string
	if strings.Contains(address, "&") {
		list = append(list, html.UnescapeString(address))
	}
	if plain, err := url.PathUnescape(address); err == nil && plain != address {
		list = append(list, plain, html.UnescapeString(plain))
	}
	return list
}

// isNameByte reports whether a byte can only continue a name, so that no address ends before it.
func isNameByte(b byte) bool {
	return b >= 0x80 || b == '_' || b == '-' || b == '.' || b == '%' || '0' <= b && b <= '9' || 'a' <= b|0x20 && b|0x20 <= 'z'
}

// spellings returns a pattern for every way to write the address of an asset: plain, or with any character escaped for
// a URL or for HTML. replaceAddress checks the bytes around a match.
func spellings(address string) *regexp.Regexp {
	var pattern strings.Builder
	for _, r := range address {
		literal := regexp.QuoteMeta(string(r))
		if r < unicode.MaxASCII && (isNameByte(byte(r)) && r != '%' || r == '/') {
			pattern.WriteString(literal)
			continue
		}
		pattern.WriteString("(?:" + literal)
		pattern.WriteString("|(?i:")
		for _, b := range []byte(string(r)) {
			pattern.WriteString("%" + hexOf(b))
		}
		pattern.WriteString(")")
		if escaped := html.EscapeString(string(r)); escaped != string(r) {
			pattern.WriteString("|" + regexp.QuoteMeta(escaped))
		}
		pattern.WriteString(")")
	}
	return regexp.MustCompile(pattern.String())
}

func hexOf(b byte) string {
	const digits = "0123456789ABCDEF"
	return string([]byte{digits[b>>4], digits[b&15]})
}

// replaceAddress replaces each match of address in a text by what spell returns for it. A match inside a longer name
// stays.
func replaceAddress(text string, address *regexp.Regexp, spell func(old string) string) string {
	var out strings.Builder
	copied := 0
	for _, at := range address.FindAllStringIndex(text, -1) {
		before := at[0] > 0 && (isNameByte(text[at[0]-1]) || text[at[0]-1] == '/')
		after := at[1] < len(text) && isNameByte(text[at[1]])
		if before || after {
			continue
		}
		out.WriteString(text[copied:at[0]] + spell(text[at[0]:at[1]]))
		copied = at[1]
	}
	out.WriteString(text[copied:])
	return out.String()
}
