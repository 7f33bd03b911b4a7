package template

import (
	"math/rand/v2"
	"strings"
	"unicode"
	"unicode/utf8"
)

// This file has the functions that change the case of letters.

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
	otherClass // a letter without upper and lower case
)

// letterOf returns the class of a character.
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

// snakeCase returns a name in lower case with sign between its words. A word begins with a capital after a character of
// another kind, with the last of several capitals before a small letter, and with digits before a small letter.
func snakeCase(s string, sign rune) string {
	runes := []rune(s)
	classAt := func(i int) letterClass {
		if i < 0 || i >= len(runes) {
			return markClass
		}
		return letterOf(runes[i])
	}
	var out strings.Builder
	for i, c := range runes {
		previous, current, begins := classAt(i-1), classAt(i), false
		switch {
		case previous == markClass || previous == connectorClass:
		case current == upper:
			begins = previous != upper || classAt(i+1) == lower
		case current == digitClass && previous != digitClass:
			end := i
			for classAt(end) == digitClass {
				end++
			}
			begins = classAt(end) == lower
		case current == otherClass:
			begins = previous == upper || previous == digitClass
		}
		if begins {
			out.WriteRune(sign)
		}
		if current == connectorClass {
			c = sign
		}
		out.WriteRune(unicode.ToLower(c))
	}
	return out.String()
}

// camelCase joins the words of a name, each with a capital. One separator between words is dropped; further ones, and
// those around the name, stay.
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
	capitals := false // within the capitals at the start of a word
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

// notInWord reports whether c separates words for title: a space, or an ASCII character other than letters, digits and
// the underscore.
func notInWord(c rune) bool {
	if c < utf8.RuneSelf {
		return c != '_' && !unicode.IsLetter(c) && !unicode.IsDigit(c)
	}
	return !unicode.IsLetter(c) && !unicode.IsDigit(c) && unicode.IsSpace(c)
}

// mapWordStarts changes the first letter of each word; between reports whether a character separates words.
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
