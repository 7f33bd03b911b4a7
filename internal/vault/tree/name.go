package tree

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// IsInvisible reports whether a character is invisible in a name, or controls the direction of text.
func IsInvisible(r rune) bool {
	return unicode.IsControl(r) || r == utf8.RuneError || unicode.Is(unicode.Bidi_Control, r) || r == '\u2028' || r == '\u2029' || r == '\ufeff'
}

var notInNames = strings.NewReplacer("?", "_", "*", "_", ":", "_", "/", "_", `\`, "_", "|", "_", `"`, "_", "<", "_", ">", "_")

// PlainName returns a name with _ in place of each character that is invisible, or invalid in file names on some
// system.
func PlainName(name string) string {
	return notInNames.Replace(strings.Map(func(r rune) rune {
		if IsInvisible(r) {
			return '_'
		}
		return r
	}, strings.ToValidUTF8(name, "_")))
}

// Cut shortens a text to at most n bytes, without splitting a character.
func Cut(text string, n int) string {
	if len(text) <= n {
		return text
	}
	for n > 0 && !utf8.RuneStart(text[n]) {
		n--
	}
	return text[:n]
}
