package search

import (
	"html"
	"strings"

	"collie/internal/source/siyuan/content"
)

// textOfDOM is the text that the editor's form of a block shows.
func textOfDOM(dom string) string {
	var b strings.Builder
	for {
		before, rest, found := strings.Cut(dom, "<")
		b.WriteString(before)
		if !found {
			break
		}
		if strings.HasPrefix(rest, "/div") {
			b.WriteByte('\n')
		}
		dom = rest[tagEnd(rest):]
	}
	text := content.Clean(html.UnescapeString(b.String()))
	return strings.Join(strings.FieldsFunc(text, func(r rune) bool { return r == '\n' }), "\n")
}

// tagEnd is where a tag ends; a ">" in quotes does not end it.
func tagEnd(s string) int {
	var quote byte
	for i := range len(s) {
		switch c := s[i]; {
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case c == '"' || c == '\'':
			quote = c
		case c == '>':
			return i + 1
		}
	}
	return len(s)
}
