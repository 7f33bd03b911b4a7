package content

import (
	"iter"
	"strings"

	"collie/internal/lazyregexp"
)

// eaten is what the kernel takes for itself in inline code too: the id of a reference and some tags
// are gone then, and a mail address becomes a link. The character that
// keeps the kernel from it has to stand behind the group. Nothing keeps it from <scheme:address>.
var eaten = lazyregexp.New(`(\(\()\d{14}-[0-9a-z]{7}|` +
	`(<)(?i:(?:b|del|em|i|kbd|mark|s|strike|strong|sub|sup|u)>|br\s*/?>|(?:img|span)\s|[^\s<>@:\x{200b}]+@[^\s<>]+>)`)

// Guarded keeps inline code as it is written where the kernel would drop a part of it: a character
// without a width stands in that, which is not shown.
func Guarded(markdown string) string {
	if !strings.Contains(markdown, "`") || !eaten.MatchString(markdown) {
		return markdown
	}
	var b strings.Builder
	at := 0
	for start, text := range prose(markdown) {
		bare := codeless(text)
		for _, m := range eaten.FindAllStringSubmatchIndex(text, -1) {
			if bare[m[0]] == '`' {
				to := start + max(m[3], m[5]) // the end of the one group that is there
				b.WriteString(markdown[at:to] + "\u200b")
				at = to
			}
		}
	}
	return b.String() + markdown[at:]
}

// outsideCode finds a pattern in what is neither code nor a formula block. Each match is as
// FindStringSubmatchIndex returns it.
func outsideCode(markdown string, pattern *lazyregexp.Regexp) [][]int {
	if !pattern.MatchString(markdown) {
		return nil
	}
	var out [][]int
	for at, text := range prose(markdown) {
		for _, m := range pattern.FindAllStringSubmatchIndex(codeless(text), -1) {
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

// prose are the lines of a text that are in no code and no formula block, by where they begin.
// Those of one paragraph come together: inline code may reach over their ends.
func prose(markdown string) iter.Seq2[int, string] {
	return func(yield func(int, string) bool) {
		var in fence
		var par paragraph
		at := 0
		for text := range strings.SplitAfterSeq(markdown, "\n") {
			bare := strings.TrimSuffix(text, "\n")
			switch {
			case in.closes(bare):
				in = fence{}
			case in.open():
			default:
				if in = opens(bare); par.goesOn(bare) && !in.open() {
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

// paragraph is a stretch of lines, in the order in which they come.
type paragraph struct {
	from, to int
	depth    int  // how many quotes it is in
	closed   bool // nothing goes on with it
}

func newParagraph(at int, text string) paragraph {
	depth, rest := quoted(text)
	return paragraph{from: at, to: at + len(text), depth: depth, closed: rest == "" || rest[0] == '|' || attributeLine(rest) ||
		heading.MatchString(rest) || rule.MatchString(rest) || opens(text).open()}
}

// goesOn reports whether a line is more of a paragraph.
func (p paragraph) goesOn(text string) bool {
	depth, rest := quoted(text)
	switch {
	case p.to == 0, p.closed, rest == "", rest[0] == '|', depth > p.depth:
		return false
	}
	return !interrupts(rest) && !ordered.MatchString(rest)
}

// quoted is how many quotes a line is in, and what stands in them.
func quoted(text string) (depth int, rest string) {
	rest = strings.TrimLeft(text, " \t>")
	return strings.Count(text[:len(text)-len(rest)], ">"), strings.TrimRight(rest, " \t\r")
}

// codeless is a text whose inline code is blanked out, of the same length.
func codeless(text string) string {
	if !strings.Contains(text, "`") {
		return text
	}
	out := []byte(text)
	var ticks unclosed
	for i := 0; i < len(text); {
		switch text[i] {
		case '\\':
			i += 2
		case '`':
			n := run(text[i:], '`')
			end := ticks.closing(text[i+n:], n)
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
