package folder

import (
	"math"
	"strings"
)

// normalizeLines splits a text into lines, in forms that SiYuan has: underlined headings get number signs, and
// indented code gets fences. first is the number of the first line.
func normalizeLines(text string, first int) []line {
	n := lineNormalizer{raw: strings.Split(text, "\n"), first: first}
	n.out = make([]line, 0, len(n.raw))
	for i := 0; i < len(n.raw); {
		i = n.line(i)
	}
	return n.out
}

// lineNormalizer goes through the lines of a file and collects them in forms that SiYuan has.
type lineNormalizer struct {
	raw   []string
	first int // number of the first line
	fence fenceTracker
	list  listTracker
	out   []line
}

// line adds line i, and further lines that belong to it. It returns the index of the next line.
func (n *lineNormalizer) line(i int) int {
	l := line{n: n.first + i, text: n.raw[i]}
	wasClosed := n.fence.open == ""
	if l.code = n.fence.code(l.text); l.code {
		l.text = n.codeText(l.text, wasClosed)
	} else {
		l.text = expandTabs(l.text, math.MaxInt)
		n.list.observe(l.text, n.isBlank(i-1))
		l.text = n.list.unindent(l.text)
	}
	if l.text != n.raw[i] {
		l.kinds = asLayout
	}
	switch {
	case l.code:
	case n.isIndentedCode(i, l.text):
		return n.indentedCode(i)
	case n.isUnderlinedHeading(i, l.text):
		mark := "## "
		if strings.Contains(n.raw[i+1], "=") {
			mark = "# "
		}
		l.text, l.kinds, l.underlined = mark+strings.TrimSpace(l.text), asHeading, true
		n.out = append(n.out, l)
		return i + 2
	}
	n.out = append(n.out, l)
	return i + 1
}

// isBlank reports whether line i is blank or does not exist.
func (n *lineNormalizer) isBlank(i int) bool {
	return i < 0 || i >= len(n.raw) || strings.TrimSpace(n.raw[i]) == ""
}

// codeText returns a line of fenced code or a formula with the indentation that lute can read. isFirst says that it is
// the opening fence.
func (n *lineNormalizer) codeText(text string, isFirst bool) string {
	if isFirst {
		prefix, _ := prefixOf(n.list.unindent(expandTabs(text, math.MaxInt)))
		n.fence.openColumn, n.fence.excessIndent = columns(prefix), 0
		if strings.Trim(prefix, " ") == "" && n.fence.openColumn >= n.list.textColumn+4 {
			n.fence.excessIndent = n.fence.openColumn - n.list.textColumn
		}
	}
	text = n.list.unindent(expandTabs(text, n.list.listColumn+n.fence.openColumn))
	return text[min(n.fence.excessIndent, len(text)-len(strings.TrimLeft(text, " "))):]
}

// isIndentedCode reports whether line i begins a block of indented code.
func (n *lineNormalizer) isIndentedCode(i int, text string) bool {
	return n.list.code(text) && n.isBlank(i-1)
}

// indentedCode adds the block of indented code that begins with line i, between fences. It returns the index of the
// line after the block.
func (n *lineNormalizer) indentedCode(i int) int {
	end := i + 1
	for j := i + 1; j < len(n.raw) && (n.isBlank(j) || n.list.code(n.list.unindent(expandTabs(n.raw[j], math.MaxInt)))); j++ {
		if !n.isBlank(j) {
			end = j + 1
		}
	}
	pad, fence := strings.Repeat(" ", n.list.textColumn), "```"
	for strings.Contains(strings.Join(n.raw[i:end], "\n"), fence) {
		fence += "`"
	}
	add := func(i int, text string) {
		n.out = append(n.out, line{n: n.first + i, text: text, code: true, kinds: asCode})
	}
	add(i, pad+fence)
	for ; i < end; i++ {
		code := strings.TrimRight(pad, " ")
		if text := n.list.unindent(expandTabs(n.raw[i], n.list.listColumn+n.list.textColumn+4)); len(text) > n.list.textColumn+4 {
			code = pad + text[n.list.textColumn+4:]
		}
		add(i, code)
	}
	add(end-1, pad+fence)
	return end
}

// isUnderlinedHeading reports whether line i is a heading that the next line underlines.
func (n *lineNormalizer) isUnderlinedHeading(i int, text string) bool {
	return i+1 < len(n.raw) && underlined.MatchString(n.raw[i+1]) && n.isBlank(i-1) && headingText(text)
}

// unchangedLines splits a text that Export wrote into lines and leaves them unchanged.
func unchangedLines(text string, first int) []line {
	raw := strings.Split(text, "\n")
	list := make([]line, len(raw))
	var f fenceTracker
	for i, text := range raw {
		list[i] = line{n: first + i, text: text, code: f.code(text)}
	}
	return list
}

// expandTabs replaces tabs in the indentation of a line, up to a column, by blanks: lute miscounts tabs in lists.
func expandTabs(text string, to int) string {
	at, width := 0, 0
	for at < len(text) && width < to && (text[at] == ' ' || text[at] == '\t') {
		if text[at] == '\t' {
			width += 3 - width%4
		}
		width++
		at++
	}
	if !strings.Contains(text[:at], "\t") {
		return text
	}
	return strings.Repeat(" ", width) + text[at:]
}

// headingText reports whether an underline would make a line a heading.
func headingText(text string) bool {
	text = strings.TrimSpace(text)
	prefix, _ := prefixOf(text)
	return text != "" && prefix == "" && !strings.ContainsAny(text[:1], "#|<{") && !strings.Contains(text, "::") && fenceOf(text) == ""
}
