package search

import (
	"regexp"
	"strings"
	"unicode/utf8"

	"collie/internal/vault/workspace"
)

// syntaxToken matches a piece of an expression of SQLite's full text search.
var syntaxToken = regexp.MustCompile(`"(?:[^"]|"")*"|[\w\x{80}-\x{10ffff}]+|\s+|.`)

// nothing is a phrase that no text has.
const nothing = "\"\u0001\u0002\u0001\""

// maxTerms is how many words of the index may stand for a short one.
const maxTerms = 2000

// byExpression finds the blocks that an expression of SQLite's full text search matches, in which a word may also be
// shorter than those of the index. An expression that is none finds nothing. As in SiYuan it is the inside of a text of
// SQL: a quote in it is written twice, and one alone finds nothing.
func byExpression(tx *workspace.Tx, expression string) source {
	if strings.Contains(strings.ReplaceAll(expression, "''", ""), "'") {
		return source{}
	}
	expression = strings.ReplaceAll(expression, "''", "'")
	expression = lengthened(tx, expression)
	if !utf8.ValidString(expression) || strings.ContainsRune(expression, 0) {
		return source{}
	}
	// The statement of a user may be wrong without harm.
	result, err := tx.Select("SELECT group_concat(rowid) FROM blocks_fts WHERE blocks_fts MATCH '"+strings.ReplaceAll(expression, "'", "''")+"'", 0)
	if err != nil || len(result.Rows) == 0 {
		return source{}
	}
	list, _ := result.Rows[0][0].(string)
	return source{statement: "SELECT value AS n FROM json_each(?)", args: []any{"[" + list + "]"}}
}

// lengthened replaces short words of an expression by the words of the index that begin with them. It leaves alone what
// stands in a list of columns, before a colon, or beside a plus, a star or a caret.
func lengthened(tx *workspace.Tx, expression string) string {
	tokens := syntaxToken.FindAllString(expression, -1)
	var out strings.Builder
	columns := false
	for i, token := range tokens {
		switch token {
		case "{":
			columns = true
		case "}":
			columns = false
		}
		word := strings.ReplaceAll(strings.Trim(token, `"`), `""`, `"`)
		n := utf8.RuneCountInString(word)
		if columns || n == 0 || n >= trigram || !isWord(token) || strings.ContainsAny(neighbour(tokens, i, 1), ":*+") ||
			strings.ContainsAny(neighbour(tokens, i, -1), "+^") || nearCall(tokens, i) {
			out.WriteString(token)
			continue
		}
		out.WriteString(alternatives(tx, word))
	}
	return out.String()
}

// isWord reports whether a token is a word or phrase and no operator.
func isWord(token string) bool {
	switch token {
	case "AND", "OR", "NOT", "NEAR":
		return false
	}
	first, _ := utf8.DecodeRuneInString(token)
	return first == '"' || first == '_' || first >= utf8.RuneSelf || '0' <= first && first <= '9' || 'a' <= first|0x20 && first|0x20 <= 'z'
}

// neighbour is the next token in a direction that is no blank, "" at the end.
func neighbour(tokens []string, i, step int) string {
	for i += step; 0 <= i && i < len(tokens); i += step {
		if strings.TrimSpace(tokens[i]) != "" {
			return tokens[i]
		}
	}
	return ""
}

// nearCall reports whether a token stands between the brackets of NEAR, which takes phrases only.
func nearCall(tokens []string, i int) bool {
	for i--; i >= 0; i-- {
		switch tokens[i] {
		case ")":
			return false
		case "(":
			return neighbour(tokens, i, -1) == "NEAR"
		}
	}
	return false
}

// alternatives is an expression for any word of the index that begins with word.
func alternatives(tx *workspace.Tx, word string) string {
	var terms []string
	from, to := startingWith(word)
	tx.Rows(func(row workspace.Row) bool {
		terms = append(terms, phrase(row.Text(0)))
		return true
	}, "SELECT DISTINCT term FROM block_terms WHERE term >= ? AND term < ? LIMIT ?", from, to, maxTerms)
	if len(terms) == 0 {
		return nothing
	}
	return "(" + strings.Join(terms, " OR ") + ")"
}
