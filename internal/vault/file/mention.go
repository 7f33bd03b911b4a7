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

// mentioned returns those of the given assets (assets/...) that some text of the workspace names: blocks of any kind,
// also in closed notebooks, attributes and databases. With escaped, names written with escapes count as well. It
// reads every text that names an asset, so only rare calls should use it.
func mentioned(tx *workspace.Tx, assets []string, escaped bool) map[string]bool {
	want, found := map[string]bool{}, map[string]bool{}
	for _, a := range assets {
		want[a] = true
	}
	look := func(text string) { mentions(text, want, escaped, found) }
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

// maxAddress is how far an address is read, in bytes.
const maxAddress = 1024

// mentions adds the wanted assets that a text names to found. An address may end at any mark, since names hold spaces
// and brackets.
func mentions(text string, want map[string]bool, escaped bool, found map[string]bool) {
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
			for _, read := range readings(name) {
				if want[read] {
					found[read] = true
				}
			}
		}
		text = text[len("assets/"):]
	}
}

// readings returns what an address with escapes may mean.
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

// isNameByte reports whether a name surely goes on with a byte.
func isNameByte(b byte) bool {
	return b >= 0x80 || b == '_' || b == '-' || b == '.' || b == '%' || '0' <= b && b <= '9' || 'a' <= b|0x20 && b|0x20 <= 'z'
}

// spellings matches every way to write the address of an asset: plain, or with any character escaped for a URL or for
// HTML. replaceAddress checks what surrounds a match.
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

// replaceAddress puts what spell answers in place of each address in a text. Longer names that contain it stay.
func replaceAddress(text string, address *regexp.Regexp, spell func(old string) string) string {
	var out strings.Builder
	done := 0
	for _, at := range address.FindAllStringIndex(text, -1) {
		before := at[0] > 0 && (isNameByte(text[at[0]-1]) || text[at[0]-1] == '/')
		after := at[1] < len(text) && isNameByte(text[at[1]])
		if before || after {
			continue
		}
		out.WriteString(text[done:at[0]] + spell(text[at[0]:at[1]]))
		done = at[1]
	}
	out.WriteString(text[done:])
	return out.String()
}
