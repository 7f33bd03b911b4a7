package promptguard

import (
	"encoding/base64"
	"encoding/hex"
	"net/url"
	"regexp"
	"strconv"
	"strings"
)

var (
	escape  = regexp.MustCompile(`\\u\{([0-9A-F]+)\}`)
	encoded = regexp.MustCompile(`(?s)\{\{(base64|hex|percent|tags|zw|wide):((?:[^{}]|\{[^{}]*\}|\{\{.*?\}\})*)\}\}`)
)

// Unescape replaces the escapes for invisible characters in the files of testdata, and encodes the texts that these files mark for
// an encoding such as base64.
func Unescape(s string) string {
	s = escape.ReplaceAllStringFunc(s, func(m string) string {
		n, err := strconv.ParseUint(escape.FindStringSubmatch(m)[1], 16, 32)
		if err != nil {
			panic(err)
		}
		return string(rune(n))
	})
	return encoded.ReplaceAllStringFunc(s, func(m string) string {
		p := encoded.FindStringSubmatch(m)
		is := Unescape(p[2])
		each := func(f func(r rune) string) string {
			var b strings.Builder
			for _, r := range is {
				b.WriteString(f(r))
			}
			return b.String()
		}
		switch p[1] {
		case "base64":
			return base64.StdEncoding.EncodeToString([]byte(is))
		case "hex":
			return hex.EncodeToString([]byte(is))
		case "percent":
			return url.PathEscape(is)
		case "tags":
			return each(func(r rune) string { return string(0xE0000 + r) })
		case "zw":
			return each(func(r rune) string { return string(r) + "\u200b" })
		}
		return each(func(r rune) string {
			if r > ' ' && r < 0x7f {
				r += 0xFEE0
			}
			return string(r)
		})
	})
}
