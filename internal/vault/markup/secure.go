package markup

import (
	"strings"

	"github.com/88250/lute/ast"
)

// probeList is an attribute list that is appended to a paragraph to test whether the text is read back as that paragraph.
const (
	probeList = "\n{: id=\"" + probeID + "\"}"
	probeID   = "20060102150405-1a2b3c4"
)

// maxLines bounds how many lines of a paragraph escapeParagraph tests one by one. If escaping those is not enough, it
// escapes all lines.
const maxLines = 50

// escapeParagraph returns the text of a paragraph in a form that is read back as that paragraph: it adds a backslash to
// a line that would begin another block. Lute's tree may contain such paragraphs, for example after an unclosed {{{.
func escapeParagraph(text string) string {
	if !mayStartBlock(text) || isTooDeep(text) || isParagraph(text) {
		return text
	}
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		if i == maxLines {
			break
		}
		if mayStartBlock(line) && !isParagraph(line) || i > 0 && !isParagraph(strings.Join(lines[:i+1], "\n")) {
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

// mayStartBlock reports whether a line begins with something that could begin a block.
func mayStartBlock(text string) bool {
	for line := range strings.Lines(text) {
		line = strings.TrimLeft(line, " \t")
		if line == "" || line == "\n" || strings.IndexByte("#>-+*_|{}<`~$;:=!&\\0123456789", line[0]) >= 0 {
			return true
		}
	}
	return strings.Contains(text, "|") || strings.Contains(text, "{:")
}

// isParagraph reports whether text is parsed as a single paragraph with that text.
func isParagraph(text string) bool {
	t := parseTree(text + probeList)
	if t == nil {
		return true // cannot be tested
	}
	first := t.Root.FirstChild
	if first == nil || first.Type != ast.NodeParagraph || first.Next == nil || first.Next.Next != t.Root.LastChild {
		return false
	}
	if first.IALAttr("id") != probeID {
		return false
	}
	flattenMarks(first)
	return hasMeaning(text, nodesMeaning(first))
}

// escapeStart escapes the first character of a line, or of the mark after a number.
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
