package template

import (
	"math/rand/v2"
	"strings"
	"unicode"
	"unicode/utf8"
)

// isConnector reports whether c separates the words of a name.
func isConnector(c rune) bool { return c == '_' || c == '-' || unicode.IsSpace(c) }

// letterClass is the class of a character for [snakeCase].
type letterClass uint8

const (
	markClass letterClass = iota
	connectorClass
	upper
	lower
	digitClass
	otherClass // of a script without capitals
)

func letterOf(c rune) letterClass {
	switch {
	case isConnector(c):
		return connectorClass
	case unicode.IsUpper(c):
		return upper
	case unicode.IsLower(c):
		return lower
	case unicode.IsDigit(c):
		return digitClass
	case unicode.IsLetter(c):
		return otherClass
	}
	return markClass
}

// snakeCase returns a name in lower case with sign between its words. A word begins with a capital after another kind
// of character, with the last of several capitals before a small letter, and with digits before one.
func snakeCase(s string, sign rune) string {
	runes := []rune(s)
	is := func(i int) letterClass {
		if i < 0 || i >= len(runes) {
			return markClass
		}
		return letterOf(runes[i])
	}
	var out strings.Builder
	for i, c := range runes {
		before, here, begins := is(i-1), is(i), false
		switch {
		case before == markClass || before == connectorClass:
		case here == upper:
			begins = before != upper || is(i+1) == lower
		case here == digitClass && before != digitClass:
			end := i
			for is(end) == digitClass {
				end++
			}
			begins = is(end) == lower
		case here == otherClass:
			begins = before == upper || before == digitClass
		}
		if begins {
			out.WriteRune(sign)
		}
		if here == connectorClass {
			c = sign
		}
		out.WriteRune(unicode.ToLower(c))
	}
	return out.String()
}

// camelCase joins the words of a name, each with a capital. Of several separators between words all but one stay, as
// do all around the name.
func camelCase(s string) string {
	words := strings.TrimLeftFunc(s, isConnector)
	lead := s[:len(s)-len(words)]
	if words == "" && lead != "" {
		return lead + lead[len(lead)-1:] // as in Sprig
	}
	trimmed := strings.TrimRightFunc(words, isConnector)
	tail := words[len(trimmed):]
	var out strings.Builder
	out.WriteString(lead)
	runes := []rune(trimmed)
	capitals := false // in those with which a word begins
	for i, c := range runes {
		switch {
		case isConnector(c):
			if isConnector(runes[i+1]) {
				out.WriteRune(c)
			}
			continue
		case i == 0 || isConnector(runes[i-1]):
			capitals = unicode.IsUpper(c)
			c = unicode.ToUpper(c)
		case capitals && unicode.IsUpper(c):
			c = unicode.ToLower(c)
		default:
			capitals = false
		}
		out.WriteRune(c)
	}
	return out.String() + tail
}

// notInWord reports whether c ends a word for title: a space, or an ASCII mark other than the underscore.
func notInWord(c rune) bool {
	if c < utf8.RuneSelf {
		return c != '_' && !unicode.IsLetter(c) && !unicode.IsDigit(c)
	}
	return !unicode.IsLetter(c) && !unicode.IsDigit(c) && unicode.IsSpace(c)
}

// mapWordStarts changes the first letter of each word.
func mapWordStarts(s string, between func(rune) bool, change func(rune) rune) string {
	last := ' '
	return strings.Map(func(c rune) rune {
		first := between(last)
		if last = c; first {
			return change(c)
		}
		return c
	}, s)
}

func swapCase(s string) string {
	return strings.Map(func(c rune) rune {
		if unicode.IsUpper(c) || unicode.IsTitle(c) {
			return unicode.ToLower(c)
		}
		return unicode.ToUpper(c)
	}, s)
}

func noSpace(s string) string {
	return strings.Map(func(c rune) rune {
		if unicode.IsSpace(c) {
			return -1
		}
		return c
	}, s)
}

func initials(s string) string {
	var out strings.Builder
	for word := range strings.FieldsSeq(s) {
		c, _ := utf8.DecodeRuneInString(word)
		out.WriteRune(c)
	}
	return out.String()
}

func shuffle(s string) string {
	runes := []rune(s)
	rand.Shuffle(len(runes), func(i, j int) { runes[i], runes[j] = runes[j], runes[i] })
	return string(runes)
}
