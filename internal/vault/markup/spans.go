package markup

import "strings"

// This file splits the text of a leaf block by format.

// Span is a stretch of a leaf's text in one format; Kind is "" for plain text.
type Span struct {
	Kind     string // strong, em, code, a, tag, block-ref, img, inline-math, ...
	Content  string // the text shown
	Markdown string
	Target   string // address of a link or image, id of a reference
	Title    string
	Subtype  string // s or d of a reference
}

// markChars are the characters of marks; text without any of them is plain.
const markChars = "\\`*_~=#^$<>[]!(){}&:"

// Spans splits the text of a leaf. The Markdown of all spans, concatenated, is the text. Nested marks have kinds such
// as "strong em". Links, images, tags, code, formulas and references inside marks are separate spans.
func Spans(text string) []Span {
	switch {
	case text == "":
		return nil
	case !strings.ContainsAny(text, markChars), isTooDeep(text):
		return []Span{{Content: text, Markdown: text}}
	}
	leaf := parseInline(insertStandIns(text))
	if leaf == nil {
		return []Span{{Content: text, Markdown: text}}
	}
	for _, w := range []writer{{}, {asElements: true}} {
		if catchPanic(func() { w.children(leaf, nil) }) != nil {
			break
		}
		for i, p := range w.pieces {
			for _, text := range []*string{&p.Content, &p.Markdown, &p.Target, &p.Title} {
				*text = removeStandIns(*text)
			}
			w.pieces[i] = p
		}
		if found := joinSpans(w.pieces); sameMarkdown(found, text) {
			return found
		} else if w.marks == 0 || w.asElements {
			return realignSpans(found, text)
		}
	}
	return []Span{{Content: text, Markdown: text}}
}

// joinSpans merges the edges of marks into the text next to them, and joins neighbours of the same kind.
func joinSpans(pieces []Span) []Span {
	found := make([]Span, 0, len(pieces))
	var content, markdown strings.Builder // of the last span
	flush := func() {
		if last := len(found) - 1; last >= 0 && markdown.Len() > 0 {
			found[last].Content, found[last].Markdown = content.String(), markdown.String()
		}
		content.Reset()
		markdown.Reset()
	}
	add := func(s Span, join bool) {
		if last := len(found) - 1; !join || last < 0 || found[last].Kind != s.Kind {
			flush()
			found = append(found, s)
		}
		content.WriteString(s.Content)
		markdown.WriteString(s.Markdown)
	}
	open := ""
	for _, p := range pieces {
		switch {
		case p.Kind == edgeOpen:
			open += p.Markdown
			continue
		case p.Kind == edgeClose && open == "" && len(found) > 0 && isStyle(found[len(found)-1].Kind):
			markdown.WriteString(p.Markdown)
			continue
		case p.Kind == edgeClose:
			add(Span{Markdown: open + p.Markdown}, true)
		case open != "" && !isStyle(p.Kind):
			add(Span{Markdown: open}, true)
			add(p, p.Kind == "")
		default:
			begins := open != "" // marks begin here, so it does not continue the last span
			p.Markdown = open + p.Markdown
			add(p, !begins && (p.Kind == "" || isStyle(p.Kind)))
		}
		open = ""
	}
	flush()
	return found
}

// isStyle reports whether a kind only changes the look of text.
func isStyle(kind string) bool {
	first, _, _ := strings.Cut(kind, " ")
	switch first {
	case "strong", "em", "s", "mark", "u", "kbd", "sub", "sup":
		return true
	}
	return false
}

// sameMarkdown reports whether the Markdown of all spans, concatenated, is text. It is not if text writes some mark in
// another way than we do.
func sameMarkdown(spans []Span, text string) bool {
	for _, s := range spans {
		tail, found := strings.CutPrefix(text, s.Markdown)
		if !found {
			return false
		}
		text = tail
	}
	return text == ""
}

// realignSpans returns the spans whose Markdown occurs in the text, in order, with the text between them as plain
// spans.
func realignSpans(spans []Span, text string) []Span {
	var found []Span
	plain := func(stretch string) {
		if stretch != "" {
			found = append(found, Span{Content: stretch, Markdown: stretch})
		}
	}
	for _, s := range spans {
		if s.Kind == "" {
			continue
		}
		if at := strings.Index(text, s.Markdown); at >= 0 {
			plain(text[:at])
			found = append(found, s)
			text = text[at+len(s.Markdown):]
		}
	}
	plain(text)
	return found
}
