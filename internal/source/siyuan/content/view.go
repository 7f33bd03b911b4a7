package content

import (
	"slices"
	"strings"

	"collie/internal/sorting"
)

// view is kramdown beside the text that readers see of it.
type view struct {
	raw   string
	spans []span
	text  string
	off   []int // of each byte of text: where it stands in raw; one more for the end
}

// viewOf leaves out the anchors that a veil hides as well.
func viewOf(raw string, veil *Veil) *view {
	v := &view{raw: raw, spans: without(hidden(raw), veil.anchors(raw))}
	var b strings.Builder
	v.off = make([]int, 0, len(raw)+1)
	at := 0
	show := func(to int) {
		for ; at < to; at++ {
			v.off = append(v.off, at)
		}
	}
	for _, s := range v.spans {
		b.WriteString(raw[at:s.from])
		show(s.from)
		at = s.to
	}
	b.WriteString(raw[at:])
	show(len(raw))
	v.text = b.String()
	v.off = append(v.off, len(raw))
	return v
}

// without puts anchors among spans, and leaves out those that stand in one.
func without(spans, anchors []span) []span {
	if len(anchors) == 0 {
		return spans
	}
	spans = slices.DeleteFunc(spans, func(s span) bool {
		return slices.ContainsFunc(anchors, func(a span) bool { return s.from < a.to && s.to > a.from })
	})
	spans = append(spans, anchors...)
	sorting.By(spans, func(a, b span) int { return a.from - b.from })
	return spans
}

// lists reports whether an attribute list stands in raw[from:to].
func (v *view) lists(from, to int) bool {
	for _, s := range v.spans {
		if s.from < to && s.to > from && (s.kind == inline || s.kind == line) {
			return true
		}
	}
	return false
}

// listed reports whether there is a line that is an attribute list, so that there are blocks
// inside.
func (v *view) listed() bool {
	for _, s := range v.spans {
		if s.kind == line {
			return true
		}
	}
	return false
}

// start is where text[i:] begins in raw.
func (v *view) start(i int) int { return v.off[i] }

// end is where text[:i] ends in raw.
func (v *view) end(i int) int {
	if i == 0 {
		return v.off[0]
	}
	return v.off[i-1] + 1
}

// lineEnd is where the line that text[i] ends stands in raw, behind attribute lists that belong
// to its text.
func (v *view) lineEnd(i int) int {
	at := v.end(i)
	if i > 0 && v.text[i-1] == '\n' || i == 0 {
		at = v.lineStart(i)
	}
	for _, s := range v.spans {
		if s.from == at && (s.kind == inline || s.kind == width) {
			at = s.to
		}
	}
	return at
}

// lineStart is where the line that begins at text[i] begins in raw.
func (v *view) lineStart(i int) int {
	if i == 0 {
		return 0
	}
	return v.off[i-1] + 1
}
