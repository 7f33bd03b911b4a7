package search

import (
	"html"
	"strings"
	"unicode/utf8"

	"collie/internal/source/siyuan/content"
)

const (
	openMark, closeMark = "<mark>", "</mark>"

	longContent  = 400 // characters of content and Markdown that are shown whole
	aroundMark   = 150 // characters shown either side of a match in longer content
	excerptRunes = 200
)

// passage is a text of a hit: plain, with the places that match.
type passage struct {
	text  []rune
	marks [][2]int // from, to
}

// parsePassage reads the kernel's form of a text: HTML with <mark> around what matches.
func parsePassage(s string) passage {
	var p passage
	for s != "" {
		before, rest, found := strings.Cut(s, openMark)
		p.add(before)
		if !found {
			break
		}
		inside, after, _ := strings.Cut(rest, closeMark)
		from := len(p.text)
		p.add(inside)
		p.marks = append(p.marks, [2]int{from, len(p.text)})
		s = after
	}
	return p
}

func (p *passage) add(s string) {
	p.text = append(p.text, []rune(content.Clean(html.UnescapeString(strings.ReplaceAll(s, closeMark, ""))))...)
}

// plain is the text without marks, cut if it is long.
func (p passage) plain() string { return p.render(func(s string, _ bool) string { return s }) }

// marked is the text as HTML with marks, cut if it is long.
func (p passage) marked() string {
	return p.render(func(s string, match bool) string {
		s = html.EscapeString(s)
		if match {
			return openMark + s + closeMark
		}
		return s
	})
}

// whole is all of the text.
func (p passage) whole() string { return string(p.text) }

// render writes the windows of the text, match by match.
func (p passage) render(write func(s string, match bool) string) string {
	var b strings.Builder
	end := 0
	for _, w := range p.windows() {
		if w[0] > end || end == 0 && w[0] > 0 {
			b.WriteString("…")
		}
		at := w[0]
		for _, m := range p.marks {
			if m[0] < at || m[1] > w[1] {
				continue
			}
			b.WriteString(write(string(p.text[at:m[0]]), false))
			b.WriteString(write(string(p.text[m[0]:m[1]]), true))
			at = m[1]
		}
		b.WriteString(write(string(p.text[at:w[1]]), false))
		end = w[1]
	}
	if end < len(p.text) {
		b.WriteString("…")
	}
	return b.String()
}

// windows are the stretches that are shown: all of a short text, what is around the matches of
// a long one, or its beginning where nothing is marked.
func (p passage) windows() [][2]int {
	if len(p.text) <= longContent {
		return [][2]int{{0, len(p.text)}}
	}
	if len(p.marks) == 0 {
		return [][2]int{{0, longContent}}
	}
	var out [][2]int
	for _, m := range p.marks {
		w := [2]int{max(m[0]-aroundMark, 0), min(m[1]+aroundMark, len(p.text))}
		if last := len(out) - 1; last >= 0 && w[0] <= out[last][1] {
			out[last][1] = max(out[last][1], w[1])
			continue
		}
		out = append(out, w)
	}
	return out
}

// clip is the beginning of a text.
func clip(s string, runes int) string {
	if utf8.RuneCountInString(s) <= runes {
		return s
	}
	return string([]rune(s)[:runes]) + "…"
}
