package query

import "strings"

// kind is what a token is.
type kind uint8

const (
	space  kind = iota // blanks and comments
	word               // a name or keyword without quotes
	quoted             // a name in "…", `…` or […]
	other              // a text, number, variable or mark
)

// token is one token of a statement: the stretch text[start:end].
type token struct {
	kind       kind
	start, end int
	raw        string
}

// is reports whether t is a keyword or a mark, whatever its case.
func (t token) is(text string) bool {
	return (t.kind == word || t.kind == other) && strings.EqualFold(t.raw, text)
}

// name is the name that t may stand for, without quotes and in lower case; "" for what is not a name.
func (t token) name() string {
	switch t.kind {
	case word:
		return lower(t.raw)
	case quoted:
		end := t.raw[len(t.raw)-1:]
		inside := t.raw[1 : len(t.raw)-1]
		if end != "]" {
			inside = strings.ReplaceAll(inside, end+end, end)
		}
		return lower(inside)
	}
	return ""
}

// lower folds ASCII only, as SQLite does for names.
func lower(name string) string {
	return strings.Map(func(r rune) rune {
		if 'A' <= r && r <= 'Z' {
			return r + 'a' - 'A'
		}
		return r
	}, name)
}

// lex cuts text into tokens by SQLite's rules. Every byte is in one of them. A quote or comment that is not closed
// reaches to the end; the complaint is SQLite's.
func lex(text string) []token {
	var tokens []token
	for at := 0; at < len(text); {
		k, n := next(text[at:])
		tokens = append(tokens, token{kind: k, start: at, end: at + n, raw: text[at : at+n]})
		at += n
	}
	return tokens
}

// next is the kind and the length of the first token of text, which is not empty.
func next(text string) (kind, int) {
	switch c := text[0]; {
	case isBlank(c):
		return space, span(text, isBlank)
	case strings.HasPrefix(text, "\ufeff"): // a byte order mark is a blank at the beginning and part of a name elsewhere
		return word, span(text, inName)
	case strings.HasPrefix(text, "--"):
		if end := strings.IndexByte(text, '\n'); end >= 0 {
			return space, end + 1
		}
		return space, len(text)
	case strings.HasPrefix(text, "/*"):
		if end := strings.Index(text[2:], "*/"); end >= 0 {
			return space, end + 4
		}
		return space, len(text)
	case c == '\'':
		n, _ := literal(text)
		return other, n
	case c == '"' || c == '`' || c == '[':
		n, closed := literal(text)
		if !closed {
			return other, n
		}
		return quoted, n
	case (c == 'x' || c == 'X') && len(text) > 1 && text[1] == '\'':
		n, _ := literal(text[1:])
		return other, 1 + n
	case isDigit(c) || c == '.' && len(text) > 1 && isDigit(text[1]):
		return other, span(text, func(c byte) bool { return inName(c) || c == '.' })
	case c == '?' || c == ':' || c == '@' || c == '$' || c == '#':
		return other, 1 + span(text[1:], inName)
	case inName(c):
		return word, span(text, inName)
	}
	return other, 1
}

// literal is where what begins with a quote or bracket ends. A quote in it is written twice.
func literal(text string) (n int, closed bool) {
	end := text[0]
	if end == '[' {
		end = ']'
	}
	for i := 1; i < len(text); i++ {
		if text[i] != end {
			continue
		}
		if end != ']' && i+1 < len(text) && text[i+1] == end {
			i++
			continue
		}
		return i + 1, true
	}
	return len(text), false
}

func span(text string, in func(byte) bool) int {
	i := 0
	for i < len(text) && in(text[i]) {
		i++
	}
	return i
}

// isBlank reports whether a byte separates tokens. A vertical tab does so only behind another blank; elsewhere SQLite
// refuses it.
func isBlank(c byte) bool { return c == ' ' || '\t' <= c && c <= '\r' }
func isDigit(c byte) bool { return '0' <= c && c <= '9' }

// inName reports whether a byte may be in a name: letters, digits, _, $ and all that is not ASCII.
func inName(c byte) bool {
	return isDigit(c) || 'a' <= c|0x20 && c|0x20 <= 'z' || c == '_' || c == '$' || c >= 0x80
}
