package sqlguard

import (
	"iter"
	"strings"
)

// Split splits a text into its statements, without separators. Parts with only blanks and comments are left out.
func Split(text string) []string {
	var parts []string
	start, isEmpty := 0, true
	add := func(end int) {
		if !isEmpty {
			parts = append(parts, strings.TrimSpace(text[start:end]))
		}
		isEmpty = true
	}
	for _, t := range vaultPolicy.lex(text) {
		switch {
		case t.is(";"):
			add(t.start)
			start = t.end()
		case !t.blank():
			isEmpty = false
		}
	}
	add(len(text))
	return parts
}

// Reads reports whether a statement begins with SELECT or WITH.
func Reads(statement string) bool {
	first := firstWord(statement)
	return first == "select" || first == "with"
}

// firstWord returns the first keyword of a statement, in lower case.
func firstWord(statement string) string {
	if tokens := withoutBlanks(vaultPolicy.lex(statement)); len(tokens) > 0 {
		return tokens[0].name()
	}
	return ""
}

// hasLimit reports whether a statement has a LIMIT that is not in brackets.
func hasLimit(statement string) bool {
	depth := 0
	for _, t := range vaultPolicy.lex(statement) {
		switch {
		case t.is("("):
			depth++
		case t.is(")"):
			depth--
		case depth == 0 && t.kind == word && t.is("limit"):
			return true
		}
	}
	return false
}

// textFor replaces a name by a string wherever it is a word or in double quotes in a statement.
func textFor(statement, name string) string {
	var out strings.Builder
	for _, t := range vaultPolicy.lex(statement) {
		if t.kind == word && strings.EqualFold(t.raw, name) || t.kind == quoted && t.raw[0] == '"' && !t.open && t.name() == lower(name) {
			out.WriteString(asText(name))
			continue
		}
		out.WriteString(t.raw)
	}
	return out.String()
}

// asText quotes a text as an SQL string.
func asText(text string) string { return "'" + strings.ReplaceAll(text, "'", "''") + "'" }

// Keywords yields the names and keywords in a text, including quoted names, in lower case, and whether an opening
// bracket follows each. Between two statements it yields ";".
func Keywords(text string) iter.Seq2[string, bool] {
	return func(yield func(string, bool) bool) {
		name := ""
		for t := range vaultPolicy.tokens(text) {
			if t.blank() {
				continue
			}
			if name != "" && !yield(name, t.is("(")) {
				return
			}
			if name = t.name(); t.is(";") {
				name = ";"
			}
		}
		if name != "" {
			yield(name, false)
		}
	}
}
