package content

import (
	"strings"
	"unicode/utf16"
)

// ZeroWidth are the characters that the editor leaves in texts and nobody sees.
const ZeroWidth = "\u200b\u200c\u200d\u2060\ufeff"

// Clean removes the characters without a width that the editor leaves in texts: U+200B, U+200C,
// U+200D, U+2060 and U+FEFF.
func Clean(text string) string {
	if !strings.ContainsAny(text, ZeroWidth) {
		return text
	}
	return strings.Map(func(r rune) rune {
		if strings.ContainsRune(ZeroWidth, r) {
			return -1
		}
		return r
	}, text)
}

// Tokens estimates what a text costs a model: UTF-16 length by 4, rounded up, called
// "approx_context_v1".
func Tokens(text string) int {
	n := 0
	for _, r := range text {
		n += max(utf16.RuneLen(r), 1)
	}
	return (n + 3) / 4
}

// WithoutTitle removes a first line "# Title" that only repeats the title of the document that
// the text is to become.
func WithoutTitle(markdown, title string) string {
	rest := strings.TrimLeft(markdown, "\r\n")
	line, after, _ := strings.Cut(rest, "\n")
	name, heading := strings.CutPrefix(strings.TrimSpace(line), "# ")
	if !heading || strings.TrimSpace(name) != strings.TrimSpace(title) {
		return markdown
	}
	return strings.TrimLeft(after, "\r\n")
}
