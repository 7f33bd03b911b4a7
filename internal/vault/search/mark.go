package search

import (
	"html"
	"regexp"
	"strings"
)

// marker converts a text to HTML with the matches marked.
type marker func(text string) string

// wordMarker returns a marker for words, ignoring case.
func wordMarker(words []string) marker {
	if len(words) == 0 {
		return html.EscapeString
	}
	escaped := make([]string, len(words))
	for i, word := range words {
		escaped[i] = regexp.QuoteMeta(html.EscapeString(word))
	}
	return markingPattern(regexp.MustCompile("(?i)" + strings.Join(escaped, "|")))
}

// markingPattern returns a marker for the matches of a pattern in the escaped text.
func markingPattern(pattern *regexp.Regexp) marker {
	return func(text string) string {
		return pattern.ReplaceAllStringFunc(html.EscapeString(text), func(found string) string {
			if found == "" {
				return ""
			}
			return "<mark>" + found + "</mark>"
		})
	}
}
