package kernel

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Contains is an SQL condition that holds where an expression has a text in it, upper and lower
// case being the same in every script. Of the ways to say that, LIKE with ESCAPE ends the parser
// of the kernel, and lower() knows ASCII only.
func Contains(expression, text string) string {
	var b strings.Builder
	b.WriteByte('*')
	for _, c := range text {
		class := string(c)
		for f := unicode.SimpleFold(c); f != c; f = unicode.SimpleFold(f) {
			class += string(f)
		}
		if len(class) > utf8.RuneLen(c) || strings.ContainsRune("*?[", c) {
			class = "[" + class + "]"
		}
		b.WriteString(class)
	}
	b.WriteByte('*')
	return expression + " GLOB " + Quote(b.String())
}
