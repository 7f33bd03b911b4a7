package content

import (
	"strings"
	"unicode/utf8"

	"collie/internal/lazyregexp"
	"collie/internal/sorting"
)

// This file finds the parts of kramdown that readers do not see, such as attribute lists.

// Visible returns kramdown as readers see it: without attribute lists outside code, and without zero-width
// characters.
func Visible(kramdown string) string {
	var b strings.Builder
	b.Grow(len(kramdown))
	at := 0
	for _, s := range hiddenSpans(kramdown) {
		b.WriteString(kramdown[at:s.from])
		at = s.to
	}
	b.WriteString(kramdown[at:])
	return b.String()
}

var (
	listMarker = lazyregexp.New(`^(?:[-*+]|\d{1,9}[.)])[ \t]+`)
	taskMarker = lazyregexp.New(`^\[[^\]\n]\][ \t]+`)
)

// hiddenSpans returns the parts of kramdown that readers do not see, in order and without overlaps. In code, formula
// blocks and inline code, attribute lists are text.
func hiddenSpans(kramdown string) []span {
	var out []span
	var in fence
	above := lineGap{afterList: true}
	for at := 0; at <= len(kramdown); {
		end := len(kramdown)
		if i := strings.IndexByte(kramdown[at:], '\n'); i >= 0 {
			end = at + i
		}
		text := kramdown[at:end]
		switch {
		case in.isClosedBy(text):
			in = fence{}
			out = append(out, zeroWidthSpans(text, at)...)
		case in.isOpen():
			out = append(out, zeroWidthSpans(text, at)...)
		case isAttributeLine(text):
			out = append(out, above.listSpans(text, at)...)
			above = lineGap{afterList: true}
		case strings.Trim(text, " \t\r>") == "":
			above.blank = append(above.blank, at)
			above.quotes = append(above.quotes, strings.Count(text, ">"))
		default:
			above = lineGap{}
			out = append(out, inlineSpans(text, at)...)
			in = fenceOpened(text)
		}
		at = end + 1
	}
	out = append(out, trailingSpans(kramdown, out)...)
	sorting.By(out, func(a, b span) int { return a.from - b.from })
	return out
}

// lineGap is the space between a line and the last non-blank line above it.
type lineGap struct {
	afterList bool  // the line above is an attribute list, or there is none
	blank     []int // offsets of the blank lines in between
	quotes    []int // depth of quotes of each of them
}

// listSpans returns the spans of an attribute list that follows a gap. The end of a quote or an embedded page has a line
// of its own before the list; an empty paragraph is just a list.
func (g lineGap) listSpans(text string, at int) []span {
	var out []span
	depth := strings.Count(text[:len(text)-len(strings.TrimLeft(text, " \t>"))], ">")
	n := len(g.blank)
	for n > 0 && (g.quotes[n-1] > depth || !g.afterList) {
		n--
	}
	from := at
	for i := n; i < len(g.blank); i++ {
		end := at - 1
		if i+1 < len(g.blank) {
			end = g.blank[i+1] - 1
		}
		if start := g.blank[i] - 1; start >= 0 {
			out = append(out, span{start, end, endOfContainer})
		}
	}
	switch {
	case n > 0 && n == len(g.blank): // an empty paragraph
		prefix := text[:len(text)-len(strings.TrimLeft(text, " \t>"))]
		from += len(strings.TrimRight(prefix, " \t"))
	case at > 0:
		from--
	}
	return append(out, span{from, at + len(text), listLine})
}

// trailingSpans returns the spans of the lines after the last non-blank one.
func trailingSpans(kramdown string, before []span) []span {
	var out []span
	end := len(kramdown)
	for {
		if n := len(before); n > 0 && before[n-1].to == end && (before[n-1].kind == listLine || before[n-1].kind == endOfContainer) {
			end, before = before[n-1].from, before[:n-1]
			continue
		}
		i := strings.LastIndexByte(kramdown[:end], '\n')
		if i < 0 || len(before) > 0 && before[len(before)-1].to > i || strings.Trim(kramdown[i:end], " \t\n>") != "" {
			return out
		}
		out = append(out, span{i, end, endOfContainer})
		end = i
	}
}

// fence is a block whose lines are not interpreted: code or a formula.
type fence struct {
	mark  byte // '`', '~' or '$'; 0 for none
	count int
}

func (f fence) isOpen() bool { return f.mark != 0 }

// fenceOpened returns the fence that a line opens, if any.
func fenceOpened(text string) fence {
	rest := stripContainers(text)
	for _, mark := range [...]byte{'`', '~', '$'} {
		n := runLength(rest, mark)
		switch {
		case mark == '$' && n == 2 && !strings.Contains(rest[2:], "$$"):
			return fence{mark, n}
		case mark == '$' || n < 3:
		case mark == '`' && strings.Contains(rest[n:], "`"): // inline code
		default:
			return fence{mark, n}
		}
	}
	return fence{}
}

// isClosedBy reports whether a line ends the fence.
func (f fence) isClosedBy(text string) bool {
	if f.mark == 0 {
		return false
	}
	rest := strings.TrimRight(strings.TrimLeft(text, " \t>"), " \t\r")
	if f.mark == '$' {
		return strings.HasSuffix(rest, "$$")
	}
	n := runLength(rest, f.mark)
	return n >= f.count && n == len(rest)
}

// stripContainers returns a line without the marks of the quotes and lists around it.
func stripContainers(text string) string {
	for {
		rest := strings.TrimLeft(text, " \t>"+ZeroWidth)
		rest = rest[len(listMarker.FindString(rest)):]
		rest = rest[len(attrList.FindString(rest)):]
		rest = rest[len(taskMarker.FindString(rest)):]
		if len(rest) == len(text) {
			return rest
		}
		text = rest
	}
}

// runLength returns how many marks a text begins with.
func runLength(text string, mark byte) int {
	n := 0
	for n < len(text) && text[n] == mark {
		n++
	}
	return n
}

// isAttributeLine reports whether a line is an attribute list and nothing else.
func isAttributeLine(text string) bool {
	rest := strings.TrimLeft(text, " \t>")
	list := attrList.FindString(rest)
	return list != "" && strings.Trim(rest[len(list):], " \t\r") == ""
}

// inlineSpans returns attribute lists behind text, and zero-width characters.
func inlineSpans(text string, at int) []span {
	var out []span
	var ticks unclosedRuns
	for i := 0; i < len(text); {
		switch c := text[i]; {
		case c == '\\' && i+1 < len(text) && text[i+1] < utf8.RuneSelf:
			i += 2
		case c == '`':
			n := runLength(text[i:], '`')
			end := ticks.closingEnd(text[i+n:], n)
			out = append(out, zeroWidthSpans(text[i:i+n+end], at+i)...)
			i += n + end
		case c == '{':
			list := attrList.FindString(text[i:])
			if list == "" {
				i++
				continue
			}
			out = append(out, span{at + i, at + i + len(list), inlineList})
			i += len(list)
		default:
			r, size := utf8.DecodeRuneInString(text[i:])
			if size > 1 && strings.ContainsRune(ZeroWidth, r) {
				out = append(out, span{at + i, at + i + size, zeroWidthChar})
			}
			i += size
		}
	}
	return out
}

// unclosedRuns has the lengths of backquote runs that have no match in the rest of a line, so that a line full of them
// is not searched for each.
type unclosedRuns map[int]bool

// closingEnd returns the end of inline code that was opened with n backquotes; 0 if it is not closed.
func (u *unclosedRuns) closingEnd(text string, n int) int {
	if (*u)[n] {
		return 0
	}
	for i := 0; i < len(text); {
		if text[i] != '`' {
			i++
			continue
		}
		m := runLength(text[i:], '`')
		if i += m; m == n {
			return i
		}
	}
	if *u == nil {
		*u = unclosedRuns{}
	}
	(*u)[n] = true
	return 0
}

// zeroWidthSpans returns the spans of zero-width characters.
func zeroWidthSpans(text string, at int) []span {
	if !strings.ContainsAny(text, ZeroWidth) {
		return nil
	}
	var out []span
	for i, r := range text {
		if r != utf8.RuneError && strings.ContainsRune(ZeroWidth, r) {
			out = append(out, span{at + i, at + i + utf8.RuneLen(r), zeroWidthChar})
		}
	}
	return out
}
