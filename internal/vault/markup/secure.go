package markup

import (
	"strings"

	"github.com/88250/lute/ast"
)

// probeList is an attribute list below a paragraph, to test the paragraph as it would be stored.
const probeList = "\n{: id=\"20060102150405-1a2b3c4\"}"

// maxLines is up to how many lines of a paragraph secured tests each. In longer ones it escapes all.
const maxLines = 50

// escapedParagraph returns the text of a paragraph in a form that is read back as that paragraph: a backslash is added
// where a line would begin another block. Lute reads some paragraphs that it would not read again once they are stored,
// such as an unclosed {{{.
func escapedParagraph(text string) string {
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

// isParagraph reports whether text is read as one paragraph with that text.
func isParagraph(text string) bool {
	t := parseTree(text + probeList)
	if t == nil {
		return true // cannot be tested
	}
	first := t.Root.FirstChild
	if first == nil || first.Type != ast.NodeParagraph || first.Next == nil || first.Next.Next != t.Root.LastChild {
		return false
	}
	return first.IALAttr("id") == probeList[8:30] && hasMeaning(text, nodesMeaning(flattenMarks(first)))
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
