package validate

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"unicode"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"collie/internal/lazyregexp"
)

// This file has the words for values and types in error messages, without secrets.

const (
	maxQuoted = 60 // runes of a value or pattern that are quoted in a message
	maxListed = 12 // maximum names or values in one list
)

// typeOf returns the JSON type of v; integers are distinguished from other numbers.
func typeOf(v any) string {
	switch v := v.(type) {
	case nil:
		return "null"
	case bool:
		return "boolean"
	case string:
		return "string"
	case json.Number:
		if strings.ContainsAny(v.String(), ".eE") {
			return "number"
		}
		return "integer"
	case []any:
		return "array"
	}
	return "object"
}

// describeValue returns the type of v and, if v is short and not secret, v itself.
func describeValue(v any, secret bool) string {
	switch v := v.(type) {
	case nil:
		return "null"
	case []any:
		return "array of " + countText(len(v), "item")
	case map[string]any:
		return "object of " + countText(len(v), "field")
	}
	if secret {
		return typeOf(v) + " (hidden)"
	}
	return typeOf(v) + " " + literal(v)
}

// literal returns v roughly as JSON, shortened and without nested values.
func literal(v any) string {
	switch v := v.(type) {
	case string:
		return quoted(v)
	case json.Number:
		return shorten(v.String(), maxQuoted)
	case []any:
		if len(v) == 0 {
			return "[]"
		}
		return "[…]"
	case map[string]any:
		if len(v) == 0 {
			return "{}"
		}
		return "{…}"
	}
	if v == nil {
		return "null"
	}
	return fmt.Sprint(v) // a bool
}

func literals(vs []any) string {
	var out []string
	for _, v := range vs {
		out = append(out, literal(v))
	}
	return joined(out)
}

// list joins names, separated by commas.
func list(names []string) string {
	var out []string
	for _, n := range names {
		out = append(out, shorten(oneLine(n), maxQuoted))
	}
	return joined(out)
}

func joined(words []string) string {
	if len(words) <= maxListed {
		return strings.Join(words, ", ")
	}
	return strings.Join(words[:maxListed], ", ") + fmt.Sprintf(", … (%d in all)", len(words))
}

// quoted returns s in double quotes, shortened.
func quoted(s string) string {
	q := strconv.Quote(shorten(s, maxQuoted))
	if r := []rune(q); len(r) > maxQuoted+2 {
		return string(r[:maxQuoted]) + `…"` // many of its characters are escaped
	}
	return q
}

// shorten cuts s after n runes.
func shorten(s string, n int) string {
	for i := range s {
		if n == 0 {
			return s[:i] + "…"
		}
		n--
	}
	return s
}

// oneLine replaces invisible characters and line breaks.
func oneLine(s string) string {
	return strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return '\uFFFD'
		}
		return r
	}, s)
}

var secretName = lazyregexp.New(`(?i)passw|passphrase|pwd|secret|token|api[-_]?key|private[-_]?key|access[-_]?key|authorization|credential|cookie|密码|密钥|令牌`)

// amountName matches names for numbers of tokens, which are not secrets.
var amountName = lazyregexp.New(`(?i)tokens?[-_]?(budget|limit|count|total|usage)|(max|min|num|total|count|estimated)[-_a-z]*tokens`)

// isSecret reports whether the value at "at" may be a secret that must not be repeated, judging by its name,
// the names around it, or its schema.
func isSecret(at []string, s *jsonschema.Schema) bool {
	if s.WriteOnly {
		return true
	}
	for _, t := range at {
		if secretName.MatchString(amountName.ReplaceAllString(t, "")) {
			return true
		}
	}
	return false
}
