package content

import (
	"slices"
	"strings"

	"collie/internal/sorting"
)

// This file maps positions in the text that readers see to positions in kramdown.

// view is kramdown with the text that readers see of it.
type view struct {
	raw     string
	spans   []span
	text    string
	offsets []int // offset in raw of each byte of text, and of the end
}

// viewOf returns the view of raw, also without the anchors that a redactor hides.
func viewOf(raw string, redactor *Redactor) *view {
	v := &view{raw: raw, spans: mergeAnchors(hiddenSpans(raw), redactor.hiddenAnchors(raw))}
	var b strings.Builder
	v.offsets = make([]int, 0, len(raw)+1)
	at := 0
	show := func(to int) {
		for ; at < to; at++ {
			v.offsets = append(v.offsets, at)
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
	v.offsets = append(v.offsets, len(raw))
	return v
}

// mergeAnchors merges anchors into spans, except those inside a span.
func mergeAnchors(spans, anchors []span) []span {
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

// hasListBetween reports whether there is an attribute list in raw[from:to].
func (v *view) hasListBetween(from, to int) bool {
	for _, s := range v.spans {
		if s.from < to && s.to > from && (s.kind == inlineList || s.kind == listLine) {
			return true
		}
	}
	return false
}

// hasListLine reports whether some line of raw is an attribute list, which means that there are inner blocks.
func (v *view) hasListLine() bool {
	for _, s := range v.spans {
		if s.kind == listLine {
			return true
		}
	}
	return false
}

// rawStart returns where text[i:] begins in raw.
func (v *view) rawStart(i int) int { return v.offsets[i] }

// rawEnd returns where text[:i] ends in raw.
func (v *view) rawEnd(i int) int {
	if i == 0 {
		return v.offsets[0]
	}
	return v.offsets[i-1] + 1
}

// rawLineEnd returns where the line that text[i] ends, including attribute lists of its text, ends in raw.
func (v *view) rawLineEnd(i int) int {
	at := v.rawEnd(i)
	if i > 0 && v.text[i-1] == '\n' || i == 0 {
		at = v.rawLineStart(i)
	}
	for _, s := range v.spans {
		if s.from == at && (s.kind == inlineList || s.kind == zeroWidthChar) {
			at = s.to
		}
	}
	return at
}

// rawLineStart returns where the line that begins at text[i] begins in raw.
func (v *view) rawLineStart(i int) int {
	if i == 0 {
		return 0
	}
	return v.offsets[i-1] + 1
}
