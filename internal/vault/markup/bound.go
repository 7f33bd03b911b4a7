package markup

import "strings"

// This file refuses texts for which the parser would take too long.

// maxDepth bounds the nesting of containers. Notes with 60 levels were recorded. Deeper nesting on purpose would take
// lute minutes, since it checks all open containers for every line.
const maxDepth = 200

// maxMarks bounds the number of $ in a line, since lute searches for the closing one of each.
const maxMarks = 5000

// maxAnds bounds the number of & in a word, since lute searches from each to the end of the word.
const maxAnds = 500

// isTooDeep reports whether a text nests containers or links deeper than any real note, or repeats one of the
// characters for which lute takes quadratic time.
func isTooDeep(text string) bool {
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
		if strings.Count(line, "<") > maxDepth && hasTooManyTags(line) {
			return true
		}
		if strings.Count(line, "&") > maxAnds && hasTooManyAnds(line) {
			return true
		}
		if open > maxDepth || links > maxDepth || countMarkers(line) > maxDepth || strings.Count(line, "$") > maxMarks {
			return true
		}
	}
	return false
}

// countMarkers counts the containers that the start of a line opens or continues.
func countMarkers(line string) int {
	count := 0
	for i := 0; i < len(line); i++ {
		switch c := line[i]; {
		case c == ' ' || c == '\t':
		case c >= '0' && c <= '9':
		case c == '>', c == '-', c == '*', c == '+', c == '.', c == ')':
			count++
		default:
			return count
		}
	}
	return 0 // not text: a thematic break, or markers without content
}

// hasTooManyTags reports whether a word of a line opens more than maxDepth tags and closes none, since lute searches
// for the end of each.
func hasTooManyTags(line string) bool {
	for word := range strings.FieldsSeq(line) {
		if strings.Count(word, "<")-strings.Count(word, ">") > maxDepth {
			return true
		}
	}
	return false
}

// isDOMTooDeep reports whether elements of a DOM nest deeper than in any real note, since lute's time grows with the
// square of the depth.
func isDOMTooDeep(dom string) bool {
	const limit = 10 * maxDepth // a block is several elements
	depth := 0
	for rest := dom; ; {
		at := strings.IndexByte(rest, '<')
		if at < 0 || at+1 >= len(rest) {
			return false
		}
		rest = rest[at+1:]
		end := strings.IndexByte(rest, '>')
		switch {
		case rest[0] == '/':
			depth = max(depth-1, 0)
		case end > 0 && rest[end-1] == '/', strings.HasPrefix(rest, "br"), strings.HasPrefix(rest, "img"), strings.HasPrefix(rest, "!"):
		case 'a' <= rest[0]|0x20 && rest[0]|0x20 <= 'z':
			if depth++; depth > limit {
				return true
			}
		}
	}
}

// hasTooManyAnds reports whether a word of a line has more than maxAnds &.
func hasTooManyAnds(line string) bool {
	for word := range strings.FieldsSeq(line) {
		if strings.Count(word, "&") > maxAnds {
			return true
		}
	}
	return false
}
