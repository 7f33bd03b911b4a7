package markup

import (
	"strings"

	"github.com/88250/lute/ast"
)

// probe is the attribute list that stands below a paragraph when it is looked at as it would be stored.
const probe = "\n{: id=\"20060102150405-1a2b3c4\"}"

// mostLines is for how many lines of a paragraph secured looks at each. Longer ones have them all escaped.
const mostLines = 50

// secured is the text of a paragraph such that it is read back as that paragraph: where a line would begin another
// block, a backslash takes its first character's meaning away. Lute reads some paragraphs that it would not read again
// once they are stored, such as {{{ that nothing closes.
func secured(text string) string {
	if !risky(text) || hostile(text) || isParagraph(text) {
		return text
	}
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		if i == mostLines {
			break
		}
		if risky(line) && !isParagraph(line) || i > 0 && !isParagraph(strings.Join(lines[:i+1], "\n")) {
			lines[i] = escapeStart(line)
		}
	}
	if text = strings.Join(lines, "\n"); isParagraph(text) {
		return text
	}
	for i, line := range lines {
		lines[i] = escapeStart(strings.TrimLeft(line, " \t"))
	}
	return strings.Join(lines, "\n")
}

// risky reports whether a line of text begins with what could begin a block.
func risky(text string) bool {
	for line := range strings.Lines(text) {
		line = strings.TrimLeft(line, " \t")
		if line == "" || line == "\n" || strings.IndexByte("#>-+*_|{}<`~$;:=!&\\0123456789", line[0]) >= 0 {
			return true
		}
	}
	return strings.Contains(text, "|") || strings.Contains(text, "{:")
}

// isParagraph reports whether text is read as one paragraph with that text.
func isParagraph(text string) bool {
	t := parseTree(text + probe)
	if t == nil {
		return true // nothing better can be said of it
	}
	first := t.Root.FirstChild
	if first == nil || first.Type != ast.NodeParagraph || first.Next == nil || first.Next.Next != t.Root.LastChild {
		return false
	}
	return first.IALAttr("id") == probe[8:30] && says(text, outline(flattened(first)))
}

// escapeStart takes the meaning away from the first character of a line, or of the mark behind a number.
func escapeStart(line string) string {
	start := len(line) - len(strings.TrimLeft(line, " \t"))
	at := start
	for at < len(line) && line[at] >= '0' && line[at] <= '9' {
		at++
	}
	if at == len(line) || line[at] == '\\' {
		return line
	}
	if c := line[at]; c > '~' || c < '!' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' {
		return line
	}
	return line[:at] + `\` + line[at:]
}
