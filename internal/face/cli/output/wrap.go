package output

import (
	"strings"
	"unicode/utf8"
)

// This file breaks prose into lines, in languages with and without spaces.

// wrapText breaks text into lines of at most width columns, between words or between characters that take two
// columns, such as Chinese ones. A longer word gets its own line. width 0 means no breaks.
func wrapText(text string, width int) []string {
	if width <= 0 || Width(text) <= width {
		return []string{text}
	}
	var lines []string
	line, used := "", 0
	for _, piece := range unbreakableParts(text) {
		bare := strings.TrimRight(piece, " ")
		if used > 0 && used+Width(bare) > width {
			lines = append(lines, strings.TrimRight(line, " "))
			line, used = "", 0
		}
		line += piece
		used += Width(piece)
	}
	return append(lines, strings.TrimRight(line, " "))
}

// unbreakableParts splits a line into parts that are not broken: words with their trailing spaces, and single wide
// characters, each with the marks and the closing punctuation behind it.
func unbreakableParts(text string) []string {
	var out []string
	begin, space, wide := 0, false, false
	for i, r := range text {
		isWide, joins := columns.RuneWidth(r) == 2, columns.RuneWidth(r) == 0
		closing := joins || strings.ContainsRune("，。、；：？！）》」』】,.;:?!)…", r)
		if i > begin && !closing && r != ' ' && (space || wide || isWide) {
			out = append(out, text[begin:i])
			begin = i
		}
		space, wide = r == ' ', isWide || closing && wide
	}
	return append(out, text[begin:])
}

// Paragraphs joins and wraps the prose of a text at width columns. Lines that begin with a space, a tab or a sign of Markdown
// (bulleted lists, tables, headings, code, quotes) stay unchanged. width 0 changes nothing.
func Paragraphs(text string, width int) string {
	if width <= 0 {
		return text
	}
	var out, prose []string
	flush := func() {
		if len(prose) > 0 {
			out = append(out, wrapText(joinProse(prose), width)...)
			prose = nil
		}
	}
	for line := range strings.SplitSeq(text, "\n") {
		switch {
		case line == "" || strings.ContainsAny(line[:1], " \t-*|#`>"):
			flush()
			out = append(out, line)
		default:
			prose = append(prose, line)
		}
	}
	flush()
	return strings.Join(out, "\n")
}

// joinProse joins lines of prose into one: with a space between words, but not next to a Chinese character.
func joinProse(lines []string) string {
	text := lines[0]
	for _, line := range lines[1:] {
		before, _ := utf8.DecodeLastRuneInString(text)
		after, _ := utf8.DecodeRuneInString(line)
		if columns.RuneWidth(before) != 2 && columns.RuneWidth(after) != 2 {
			text += " "
		}
		text += line
	}
	return text
}

// maxProse is how wide a line of prose is at most.
const maxProse = 100

// ProseWidth returns how wide lines of prose may be, 0 if the output is not a terminal.
func (o *Output) ProseWidth() int { return min(TerminalWidth(o.Out), maxProse) }

// WrapSecondColumn breaks the lines of a text in two columns, such as a list of flags, that are too long;
// continuation lines start at the second column.
func WrapSecondColumn(text string, width int) string {
	lines := strings.SplitAfter(text, "\n")
	for i, line := range lines {
		body := strings.TrimRight(line, "\n")
		at := secondColumn(body)
		indent := Width(body[:at])
		if at == 0 || indent+minLast > width || Width(body) <= width {
			continue
		}
		rest := wrapText(body[at:], width-indent)
		lines[i] = body[:at] + strings.Join(rest, "\n"+strings.Repeat(" ", indent)) + line[len(body):]
	}
	return strings.Join(lines, "")
}

// secondColumn returns the byte at which the second column begins: after the first run of two or more spaces within a
// line that is indented by at least two. It is 0 if there is none.
func secondColumn(line string) int {
	if !strings.HasPrefix(line, "  ") {
		return 0
	}
	begin := len(line) - len(strings.TrimLeft(line, " "))
	gap := strings.Index(line[begin:], "  ")
	if gap < 0 {
		return 0
	}
	rest := line[begin+gap:]
	return len(line) - len(strings.TrimLeft(rest, " "))
}
