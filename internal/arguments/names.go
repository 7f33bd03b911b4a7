package arguments

import (
	"strings"
	"unicode"
)

// This file converts between the spellings of a parameter's name.

// Normalize removes what spellings of a name differ in: notebookID, notebook_id and notebook-id become equal.
func Normalize(name string) string {
	return strings.Map(func(r rune) rune {
		if r == '_' || r == '-' || r == ' ' {
			return -1
		}
		return unicode.ToLower(r)
	}, name)
}

// pluralAt reports whether the letter at i is a plural s, as in blockIDs.
func pluralAt(runes []rune, i int) bool {
	return runes[i] == 's' && (i+1 == len(runes) || !unicode.IsLower(runes[i+1]))
}

// Kebab writes a name in lower case with dashes between its words: avID becomes av-id.
func Kebab(name string) string {
	var b strings.Builder
	runes := []rune(name)
	for i, r := range runes {
		switch {
		case r == '_' || r == ' ':
			r = '-'
		case unicode.IsUpper(r) && i > 0:
			before := runes[i-1]
			ends := i+1 < len(runes) && unicode.IsLower(runes[i+1]) && unicode.IsUpper(before) && !pluralAt(runes, i+1)
			if unicode.IsLower(before) || unicode.IsDigit(before) || ends {
				b.WriteByte('-')
			}
		}
		b.WriteRune(unicode.ToLower(r))
	}
	return b.String()
}
