package markup

import "strings"

// maxDepth is how deep containers may lie in each other. Notes of 60 levels were recorded; what is made to be deep
// would take lute, which looks at all containers for every line, minutes.
const maxDepth = 200

// hostile reports whether text nests deeper than any note does, in containers or in links.
func hostile(text string) bool {
	open, links := 0, 0
	for line := range strings.Lines(text) {
		switch trimmed := strings.TrimLeft(line, " \t>-*+"); {
		case strings.HasPrefix(trimmed, "{{{"):
			open++
		case strings.HasPrefix(trimmed, "}}}"):
			open = max(open-1, 0)
		case trimmed == "" || trimmed == "\n":
			links = 0
		}
		links = max(links+strings.Count(line, "](")-strings.Count(line, ")"), 0)
		if strings.Count(line, "<") > maxDepth && angled(line) {
			return true
		}
		if open > maxDepth || links > maxDepth || markers(line) > maxDepth {
			return true
		}
	}
	return false
}

// markers counts the containers that the beginning of a line opens or continues.
func markers(line string) int {
	found := 0
	for i := 0; i < len(line); i++ {
		switch c := line[i]; {
		case c == ' ' || c == '\t':
		case c >= '0' && c <= '9':
		case c == '>', c == '-', c == '*', c == '+', c == '.', c == ')':
			found++
		default:
			return found
		}
	}
	return 0 // no text: a break, or markers of nothing
}

// angled reports whether a word of a line opens more tags than maxDepth and closes none: lute looks for the end of
// each.
func angled(line string) bool {
	for word := range strings.FieldsSeq(line) {
		if strings.Count(word, "<")-strings.Count(word, ">") > maxDepth {
			return true
		}
	}
	return false
}
