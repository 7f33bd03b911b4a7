package markup

import (
	"strings"

	"collie/internal/lazyregexp"
)

// This file protects formulas from being misread by the parser.

// dollarStandIn replaces the signs of formulas that lute would end in the wrong place.
const dollarStandIn = "\uFDD6"

// beforeText matches what may come before the text of a line: the marks of quotes and items, an attribute list and a
// task box.
var beforeText = lazyregexp.New(`^(?:[ \t]*>)*[ \t]*(?:(?:[-*+]|\d{1,9}[.)])[ \t]+)*(?:\{:[^}\n]*\})?(?:\[[^\]\n]\][ \t]+)?`)

// shieldMath keeps block formulas from swallowing the text after them. For lute, a formula that begins a line ends
// only at a line's end; without such an end it extends to the end of the document, so it is treated as text.
func shieldMath(markdown string) string {
	if !strings.Contains(markdown, "$$") {
		return markdown
	}
	s := mathShield{lines: strings.Split(markdown, "\n"), columns: map[int]bool{}}
	for i := 0; i < len(s.lines); i++ {
		text := s.textOf(i)
		if !s.isCode(text) && strings.HasPrefix(text, "$$") {
			i = s.formula(i, text)
		}
	}
	if !s.changed {
		return markdown
	}
	return strings.Join(s.lines, "\n")
}

// mathShield goes through lines and changes those with formulas that lute would misread.
type mathShield struct {
	lines   []string
	changed bool
	fence   string       // the open code fence, "" for none
	columns map[int]bool // columns in which the texts of the items above begin
}

// textOf returns the text of a line, after the marks of its quotes and items, and records the column of that text.
func (s *mathShield) textOf(i int) string {
	line := s.lines[i]
	prefix := beforeText.FindString(line)
	text := line[len(prefix):]
	if strings.Trim(prefix, " \t") != "" {
		s.columns[len(prefix)] = true
	} else if prefix == "" && text != "" {
		clear(s.columns)
	}
	return text
}

// isCode reads the next line and reports whether it is code or a fence.
func (s *mathShield) isCode(text string) bool {
	switch {
	case s.fence != "":
		if strings.HasPrefix(text, s.fence) && strings.Trim(text, s.fence[:1]+" \t") == "" {
			s.fence = ""
		}
		return true
	case strings.HasPrefix(text, "```") || strings.HasPrefix(text, "~~~"):
		s.fence = text[:len(text)-len(strings.TrimLeft(text, text[:1]))]
		return true
	}
	return false
}

// formula hides the formula whose text begins line i, if lute would misread it. It returns the last line of the formula.
func (s *mathShield) formula(i int, text string) int {
	trimmed := strings.TrimRight(text, " \t\\")
	if trimmed != text && strings.HasSuffix(trimmed, "$$") && len(trimmed) > 2 { // a block needs no line break
		s.lines[i], text, s.changed = strings.TrimSuffix(s.lines[i], text[len(trimmed):]), trimmed, true
	}
	end, closed := mathEnd(s.lines, i, text[2:])
	pad := strings.TrimSuffix(s.lines[i], text)
	isIndented := pad != "" && strings.Trim(pad, " \t") == ""
	switch {
	case !closed:
		s.hide(i, max(end, i))
	case end == i && isIndented && !s.columns[len(pad)]: // lute loses text of such a line
		s.hide(i, i)
	}
	return max(end, i)
}

// hide replaces the signs of formulas in lines by stand-ins. Both ends are included.
func (s *mathShield) hide(from, to int) {
	for i := from; i <= to; i++ {
		s.lines[i] = strings.ReplaceAll(s.lines[i], "$$", dollarStandIn+dollarStandIn)
	}
	s.changed = true
}

// mathEnd returns the line with which the last open formula ends, if one begins in line at; -1 if it never ends. closed
// reports whether that line also ends with the formula's $$, and no other formula began meanwhile.
func mathEnd(lines []string, at int, rest string) (end int, closed bool) {
	signs := 1
	for i := at; i < len(lines); i++ {
		if i > at {
			rest = lines[i]
		}
		if signs += strings.Count(rest, "$$"); signs%2 == 0 {
			return i, signs == 2 && strings.HasSuffix(strings.TrimRight(rest, " \t"), "$$")
		}
	}
	return -1, false
}
