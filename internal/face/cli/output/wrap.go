package output

import (
	"strings"
	"unicode"
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
// (bulleted and numbered lists, tables, headings, code, quotes) stay unchanged, as do those between fences. width 0 changes
// nothing.
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
	fence := ""
	for line := range strings.SplitSeq(text, "\n") {
		before := fence
		fence = fenceAfter(before, line)
		switch {
		case before != "" || fence != "" || line == "" || strings.ContainsAny(line[:1], " \t-*|#`>") || isNumbered(line):
			flush()
			out = append(out, line)
		default:
			prose = append(prose, line)
		}
	}
	flush()
	return strings.Join(out, "\n")
}

// fenceAfter returns the fence of Markdown code that is open after a line, "" if none is. open is the one before the line.
func fenceAfter(open, line string) string {
	line = strings.TrimSpace(line)
	if line == "" || line[0] != '`' && line[0] != '~' {
		return open
	}
	rest := strings.TrimLeft(line, line[:1])
	mark := line[:len(line)-len(rest)]
	switch {
	case open == "" && (len(mark) < 3 || mark[0] == '`' && strings.Contains(rest, "`")): // code within a line
		return ""
	case open == "":
		return mark
	case rest == "" && strings.HasPrefix(mark, open):
		return ""
	}
	return open
}

// isNumbered reports whether a line begins as one of a numbered list: with "1." or "1)", or as Chinese writes them, but not
// with a number such as 1.5.
func isNumbered(line string) bool {
	rest := strings.TrimLeft(line, "0123456789")
	sign, size := utf8.DecodeRuneInString(rest)
	if len(rest) == len(line) || !strings.ContainsRune(".)、．）", sign) {
		return false
	}
	return len(rest) == size || rest[size] < '0' || rest[size] > '9'
}

// joinProse joins lines of prose, none of them empty, into one: with a space between words, but not next to a character of a
// script that has none between words.
func joinProse(lines []string) string {
	var text strings.Builder
	for i, line := range lines {
		if i > 0 {
			before, _ := utf8.DecodeLastRuneInString(lines[i-1])
			after, _ := utf8.DecodeRuneInString(line)
			if !needsNoSpace(before) && !needsNoSpace(after) {
				text.WriteByte(' ')
			}
		}
		text.WriteString(line)
	}
	return text.String()
}

// needsNoSpace reports whether a character is Han, Kana, or punctuation of their width. Korean has spaces, and so has what is
// wide otherwise, such as ✅.
func needsNoSpace(r rune) bool {
	return r >= 0x3000 && r <= 0x30ff || r >= 0xff01 && r <= 0xff9f || unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana)
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
