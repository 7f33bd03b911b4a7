package content

import (
	"iter"
	"strings"

	"collie/internal/lazyregexp"
)

// This file finds the parts of a text that are code, where marks have no meaning.

// interpretedInCode matches what the kernel interprets even in inline code: it removes the id of a reference and some
// tags, and turns a mail address into a link. A zero-width character after the group prevents that. Nothing prevents it
// for <scheme:address>.
var interpretedInCode = lazyregexp.New(`(\(\()\d{14}-[0-9a-z]{7}|` +
	`(<)(?i:(?:b|del|em|i|kbd|mark|s|strike|strong|sub|sup|u)>|br\s*/?>|(?:img|span)\s|[^\s<>@:\x{200b}]+@[^\s<>]+>)`)

// ProtectCode protects inline code where the kernel would drop a part of it, by an invisible zero-width character.
func ProtectCode(markdown string) string {
	if !strings.Contains(markdown, "`") || !interpretedInCode.MatchString(markdown) {
		return markdown
	}
	var b strings.Builder
	at := 0
	for start, text := range textParts(markdown) {
		bare := blankCode(text)
		for _, m := range interpretedInCode.FindAllStringSubmatchIndex(text, -1) {
			if bare[m[0]] == '`' {
				to := start + max(m[3], m[5]) // end of whichever group matched
				b.WriteString(markdown[at:to] + "\u200b")
				at = to
			}
		}
	}
	return b.String() + markdown[at:]
}

// outsideCode finds the matches of a pattern that are neither in code nor in a formula block, in the form of
// FindStringSubmatchIndex.
func outsideCode(markdown string, pattern *lazyregexp.Regexp) [][]int {
	if !pattern.MatchString(markdown) {
		return nil
	}
	var out [][]int
	for at, text := range textParts(markdown) {
		for _, m := range pattern.FindAllStringSubmatchIndex(blankCode(text), -1) {
			for i := range m {
				if m[i] >= 0 {
					m[i] += at
				}
			}
			out = append(out, m)
		}
	}
	return out
}

// textParts yields the parts of a text that are not in code blocks or formula blocks, with their offsets. The lines of a
// paragraph come together, since inline code may span several.
func textParts(markdown string) iter.Seq2[int, string] {
	return func(yield func(int, string) bool) {
		var in fence
		var par paragraph
		at := 0
		for text := range strings.SplitAfterSeq(markdown, "\n") {
			bare := strings.TrimSuffix(text, "\n")
			switch {
			case in.isClosedBy(bare):
				in = fence{}
			case in.isOpen():
			default:
				if in = fenceOpened(bare); par.continues(bare) && !in.isOpen() {
					par.to = at + len(bare)
					break
				}
				if par.to > par.from && !yield(par.from, markdown[par.from:par.to]) {
					return
				}
				par = newParagraph(at, bare)
			}
			at += len(text)
		}
		if par.to > par.from {
			yield(par.from, markdown[par.from:par.to])
		}
	}
}

// paragraph is a run of consecutive lines.
type paragraph struct {
	from, to int
	depth    int  // depth of quotes
	closed   bool // no line can continue it
}

func newParagraph(at int, text string) paragraph {
	depth, rest := quoteDepth(text)
	return paragraph{from: at, to: at + len(text), depth: depth, closed: rest == "" || rest[0] == '|' || isAttributeLine(rest) ||
		heading.MatchString(rest) || thematicBreak.MatchString(rest) || fenceOpened(text).isOpen()}
}

// continues reports whether a line continues a paragraph.
func (p paragraph) continues(text string) bool {
	depth, rest := quoteDepth(text)
	switch {
	case p.to == 0, p.closed, rest == "", rest[0] == '|', depth > p.depth:
		return false
	}
	return !endsParagraph(rest) && !orderedItem.MatchString(rest)
}

// quoteDepth returns the depth of quotes of a line and the rest of the line.
func quoteDepth(text string) (depth int, rest string) {
	rest = strings.TrimLeft(text, " \t>")
	return strings.Count(text[:len(text)-len(rest)], ">"), strings.TrimRight(rest, " \t\r")
}

// blankCode returns a text of the same length in which all characters of inline code are backticks.
func blankCode(text string) string {
	if !strings.Contains(text, "`") {
		return text
	}
	out := []byte(text)
	var ticks unclosedRuns
	for i := 0; i < len(text); {
		switch text[i] {
		case '\\':
			i += 2
		case '`':
			n := runLength(text[i:], '`')
			end := ticks.closingEnd(text[i+n:], n)
			for j := i; end > 0 && j < i+n+end; j++ {
				out[j] = '`'
			}
			i += n + end
		default:
			i++
		}
	}
	return string(out)
}
