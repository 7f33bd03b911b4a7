package sqlguard

import (
	"strings"
	"unicode/utf8"
)

// kind is what a token is.
type kind uint8

const (
	space    kind = iota // blanks and comments
	word                 // a name or keyword without quotes
	quoted               // a name in "…", `…` or […]
	text                 // a string or blob
	number               // a number
	variable             // ?1, :a, @a, $a
	mark                 // anything else: one character
)

// token is one token of a statement. Name is what a name says, without quotes.
type token struct {
	kind kind
	raw  string
	name string
}

// is reports whether a token is a keyword or mark.
func (t token) is(s string) bool {
	return (t.kind == word || t.kind == mark) && strings.EqualFold(t.raw, s)
}

// named reports whether a token may be a name.
func (t token) named() bool { return t.kind == word || t.kind == quoted }

// lex cuts a statement into tokens by SQLite's rules. Comments become a blank.
func lex(sql string) ([]token, error) {
	if !utf8.ValidString(sql) || strings.ContainsRune(sql, 0) {
		return nil, refuse("the statement is not plain text", "")
	}
	var out []token
	for len(sql) > 0 {
		t, rest, err := next(sql)
		if err != nil {
			return nil, err
		}
		out = append(out, t)
		sql = rest
	}
	return out, nil
}

func next(sql string) (token, string, error) {
	take := func(k kind, n int) (token, string, error) {
		return token{kind: k, raw: sql[:n], name: sql[:n]}, sql[n:], nil
	}
	c := sql[0]
	switch {
	case blank(c):
		return take(space, span(sql, blank))
	case strings.HasPrefix(sql, "\ufeff"): // a byte order mark, which SQLite passes over between two tokens
		return token{kind: space, raw: " "}, sql[len("\ufeff"):], nil
	case strings.HasPrefix(sql, "--"):
		end := strings.IndexByte(sql, '\n')
		if end < 0 {
			end = len(sql)
		}
		return token{kind: space, raw: " "}, sql[end:], nil
	case strings.HasPrefix(sql, "/*"):
		end := strings.Index(sql[2:], "*/")
		if end < 0 {
			return token{}, "", refuse("a comment /* is not closed", "")
		}
		return token{kind: space, raw: " "}, sql[end+4:], nil
	case c == '\'' || c == '"' || c == '`' || c == '[':
		return literal(sql)
	case (c == 'x' || c == 'X') && len(sql) > 1 && sql[1] == '\'':
		t, rest, err := literal(sql[1:])
		t.raw = sql[:1] + t.raw
		return t, rest, err
	case digit(c) || c == '.' && len(sql) > 1 && digit(sql[1]):
		return take(number, numberEnd(sql))
	case c == '?' || c == ':' || c == '@' || c == '$' || c == '#':
		return take(variable, 1+span(sql[1:], inName))
	case inName(c):
		return take(word, span(sql, inName))
	}
	_, n := utf8.DecodeRuneInString(sql)
	return take(mark, n)
}

// literal reads what begins with a quote or bracket. A quote in it is written twice.
func literal(sql string) (token, string, error) {
	open, end := sql[0], sql[0]
	if open == '[' {
		end = ']'
	}
	for i := 1; i < len(sql); i++ {
		if sql[i] != end {
			continue
		}
		if open != '[' && i+1 < len(sql) && sql[i+1] == end {
			i++
			continue
		}
		t := token{kind: quoted, raw: sql[:i+1], name: sql[1:i]}
		if open != '[' {
			t.name = strings.ReplaceAll(t.name, string([]byte{end, end}), string(end))
		}
		if open == '\'' {
			t.kind = text
		}
		return t, sql[i+1:], nil
	}
	return token{}, "", refuse("a "+string(open)+" is not closed", "")
}

// numberEnd is where a number ends. What is wrong with it is SQLite's to say.
func numberEnd(sql string) int {
	i := span(sql, func(c byte) bool { return inName(c) || c == '.' })
	if exponent := sql[i-1] | 0x20; exponent == 'e' && i < len(sql) && (sql[i] == '+' || sql[i] == '-') && !strings.HasPrefix(strings.ToLower(sql), "0x") {
		i += 1 + span(sql[i+1:], inName)
	}
	return i
}

func span(s string, in func(byte) bool) int {
	i := 0
	for i < len(s) && in(s[i]) {
		i++
	}
	return i
}

// blank reports whether a character separates tokens. A vertical tab does so only behind another blank; elsewhere SQLite
// refuses it.
func blank(c byte) bool { return c == ' ' || '\t' <= c && c <= '\r' }
func digit(c byte) bool { return '0' <= c && c <= '9' }

// inName reports whether a character may be in a name: letters, digits, _, $ and all that is
// not ASCII.
func inName(c byte) bool {
	return digit(c) || 'a' <= c|0x20 && c|0x20 <= 'z' || c == '_' || c == '$' || c >= 0x80
}
