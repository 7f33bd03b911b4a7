package sqlguard

import (
	"iter"
	"slices"
	"strings"
	"unicode/utf8"
)

// This file splits SQL into tokens.

// kind is the kind of a token.
type kind uint8

const (
	space    kind = iota // blanks
	comment              // a comment, or a byte order mark, which SQLite skips in the same way
	word                 // a name or keyword without quotes
	quoted               // a name in "…", `…` or […]
	text                 // a string or blob
	number               // a number
	variable             // ?1, :a, @a, $a
	mark                 // any other single character
)

// token is one token of a statement.
type token struct {
	kind  kind
	start int    // offset in the statement
	raw   string // its text in the statement
	open  bool   // an unclosed quote, bracket or comment, which reaches to the end
}

func (t token) end() int { return t.start + len(t.raw) }

// blank reports whether a token only separates others.
func (t token) blank() bool { return t.kind == space || t.kind == comment }

// is reports whether a token is the keyword or mark s, ignoring case.
func (t token) is(s string) bool {
	return (t.kind == word || t.kind == mark) && strings.EqualFold(t.raw, s)
}

// isName reports whether a token can be a name.
func (t token) isName() bool { return t.kind == word || t.kind == quoted && !t.open }

// name returns the name that a token can stand for, without quotes and in lower case; "" if it cannot be a name.
func (t token) name() string {
	switch {
	case !t.isName():
		return ""
	case t.kind == word:
		return lower(t.raw)
	}
	inside, end := t.raw[1:len(t.raw)-1], t.raw[len(t.raw)-1:]
	if end != "]" {
		inside = strings.ReplaceAll(inside, end+end, end)
	}
	return lower(inside)
}

// lower converts only ASCII letters, as SQLite does for names.
func lower(name string) string {
	return strings.Map(func(r rune) rune {
		if 'A' <= r && r <= 'Z' {
			return r + 'a' - 'A'
		}
		return r
	}, name)
}

const byteOrderMark = "\ufeff"

// lex splits a statement into tokens by SQLite's rules. Every byte is in a token. It does not report unclosed quotes
// and comments.
func (p *policy) lex(statement string) []token {
	return slices.Collect(p.tokens(statement))
}

// tokens yields what lex returns.
func (p *policy) tokens(statement string) iter.Seq[token] {
	return func(yield func(token) bool) {
		for at := 0; at < len(statement); {
			t := p.next(statement[at:])
			t.start = at
			if !yield(t) {
				return
			}
			at = t.end()
		}
	}
}

// withoutBlanks returns the tokens except blanks and comments.
func withoutBlanks(tokens []token) []token {
	var out []token
	for _, t := range tokens {
		if !t.blank() {
			out = append(out, t)
		}
	}
	return out
}

// next returns the first token of a text that is not empty.
func (p *policy) next(s string) token {
	take := func(k kind, n int) token { return token{kind: k, raw: s[:n]} }
	c := s[0]
	switch {
	case isBlank(c):
		return take(space, span(s, isBlank))
	case strings.HasPrefix(s, byteOrderMark) && !p.markIsLetter: // SQLite, too, takes it for a letter within a name
		return take(comment, len(byteOrderMark))
	case strings.HasPrefix(s, "--"):
		if end := strings.IndexByte(s, '\n'); end >= 0 {
			return take(comment, end)
		}
		return take(comment, len(s))
	case strings.HasPrefix(s, "/*"):
		if end := strings.Index(s[2:], "*/"); end >= 0 {
			return take(comment, end+4)
		}
		return token{kind: comment, raw: s, open: true}
	case c == '\'':
		return literal(text, s, 0)
	case c == '"' || c == '`' || c == '[':
		return literal(quoted, s, 0)
	case (c == 'x' || c == 'X') && len(s) > 1 && s[1] == '\'':
		return literal(text, s, 1)
	case isDigit(c) || c == '.' && len(s) > 1 && isDigit(s[1]):
		return take(number, numberEnd(s))
	case c == '?' || c == ':' || c == '@' || c == '$' || c == '#':
		return take(variable, 1+span(s[1:], inName))
	case inName(c):
		return take(word, span(s, inName))
	}
	_, n := utf8.DecodeRuneInString(s)
	return take(mark, n)
}

// literal returns the token that begins with the quote or bracket at index begin. A doubled quote in it does not end
// it.
func literal(k kind, s string, begin int) token {
	end := s[begin]
	if end == '[' {
		end = ']'
	}
	for i := begin + 1; i < len(s); i++ {
		if s[i] != end {
			continue
		}
		if end != ']' && i+1 < len(s) && s[i+1] == end {
			i++
			continue
		}
		return token{kind: k, raw: s[:i+1]}
	}
	return token{kind: k, raw: s, open: true}
}

// numberEnd returns the length of a number. Malformed ones are left to SQLite.
func numberEnd(s string) int {
	i := span(s, func(c byte) bool { return inName(c) || c == '.' })
	if exponent := s[i-1] | 0x20; exponent == 'e' && i < len(s) && (s[i] == '+' || s[i] == '-') && !strings.HasPrefix(lower(s[:2]), "0x") {
		i += 1 + span(s[i+1:], inName)
	}
	return i
}

func span(s string, belongs func(byte) bool) int {
	i := 0
	for i < len(s) && belongs(s[i]) {
		i++
	}
	return i
}

// isBlank reports whether a byte separates tokens. SQLite accepts a vertical tab only after another blank, and
// refuses it elsewhere.
func isBlank(c byte) bool { return c == ' ' || '\t' <= c && c <= '\r' }
func isDigit(c byte) bool { return '0' <= c && c <= '9' }

// inName reports whether a byte may be part of a name: letters, digits, _, $ and everything that is not ASCII.
func inName(c byte) bool {
	return isDigit(c) || 'a' <= c|0x20 && c|0x20 <= 'z' || c == '_' || c == '$' || c >= 0x80
}
