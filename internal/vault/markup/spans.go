package markup

import (
	"strings"

	"collie/internal/vault/tree"
)

// Span is one formatted stretch of the text of a leaf, or plain text when Kind is "".
type Span struct {
	Kind     string // strong, em, code, a, tag, block-ref, img, inline-math, ...
	Content  string // the text shown
	Markdown string
	Target   string // address of a link or image, id of a reference
	Title    string
	Subtype  string // s or d of a reference
}

// marking are the characters without which text is plain.
const marking = "\\`*_~=#^$<>[]!(){}&:"

// Spans splits the text of a leaf. Their Markdown, one after the other, is the text. Marks inside of others have
// kinds like "strong em"; links, images, tags, code, formulas and references inside of others are spans of their own.
func Spans(text string) []Span {
	switch {
	case text == "":
		return nil
	case !strings.ContainsAny(text, marking), hostile(text):
		return []Span{{Content: text, Markdown: text}}
	}
	leaf := parseInline(strings.ReplaceAll(text, caret, caretStandIn))
	if leaf == nil {
		return []Span{{Content: text, Markdown: text}}
	}
	w := writer{}
	if guarded(func() { w.children(leaf, nil) }) != nil {
		return []Span{{Content: text, Markdown: text}}
	}
	for i, p := range w.pieces {
		w.pieces[i].Content, w.pieces[i].Markdown = restore(p.Content), restore(p.Markdown)
	}
	return aligned(joined(w.pieces), text)
}

// joined gives the edges of marks to the text next to them.
func joined(pieces []Span) []Span {
	found := make([]Span, 0, len(pieces))
	open := ""
	for _, p := range pieces {
		switch p.Kind {
		case edgeOpen:
			open += p.Markdown
			continue
		case edgeClose:
			if open == "" && len(found) > 0 && styled(found[len(found)-1].Kind) {
				found[len(found)-1].Markdown += p.Markdown
				continue
			}
			p.Kind, p.Markdown = "", open+p.Markdown
		default:
			if open != "" && !styled(p.Kind) {
				found = append(found, Span{Markdown: open})
			} else {
				p.Markdown = open + p.Markdown
			}
		}
		open = ""
		if last := len(found) - 1; p.Kind == "" && last >= 0 && found[last].Kind == "" {
			found[last].Content += p.Content
			found[last].Markdown += p.Markdown
			continue
		}
		found = append(found, p)
	}
	return found
}

// styled reports whether a kind only says how text looks.
func styled(kind string) bool {
	first, _, _ := strings.Cut(kind, " ")
	switch first {
	case "strong", "em", "s", "mark", "u", "kbd", "sub", "sup":
		return true
	}
	return false
}

// aligned makes spans say exactly text, for text that is written in another way than ours.
func aligned(spans []Span, text string) []Span {
	rest := text
	for _, s := range spans {
		tail, same := strings.CutPrefix(rest, s.Markdown)
		if !same {
			return realigned(spans, text)
		}
		rest = tail
	}
	if rest != "" {
		return realigned(spans, text)
	}
	return spans
}

// realigned keeps the spans whose Markdown is found in the text, in order. What lies between them is plain.
func realigned(spans []Span, text string) []Span {
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

// Write is a span as Markdown: the inverse of what Spans read. Only Kind, Content, Target, Title and Subtype count.
func Write(s Span) string {
	switch s.Kind {
	case "":
		return s.Content
	case "code":
		return codeSpan(s.Content)
	case "tag":
		return "#" + s.Content + "#"
	case "a":
		return "[" + s.Content + "](" + destination(s.Target, s.Title) + ")"
	case "img":
		return "![" + s.Content + "](" + destination(s.Target, s.Title) + ")"
	case "block-ref":
		return newReference(s.Target, s.Content, s.Subtype).Markdown
	case "file-annotation-ref":
		return newAnnotation(s.Target, s.Content).Markdown
	case "inline-math":
		return "$" + s.Content + "$"
	}
	text := s.Content
	for _, kind := range strings.Fields(s.Kind) {
		text = surround(kind, text)
	}
	return text
}

func surround(kind, text string) string {
	switch kind {
	case "strong", "b":
		return "**" + text + "**"
	case "em", "i":
		return "*" + text + "*"
	case "s":
		return "~~" + text + "~~"
	case "mark":
		return "==" + text + "=="
	case "u", "kbd", "sub", "sup":
		return "<" + kind + ">" + text + "</" + kind + ">"
	}
	return text
}

// Tags are the tags of a leaf as blocks.tag holds them: #a#, #b#.
func Tags(text string) []string {
	if !strings.Contains(text, "#") {
		return nil
	}
	var found []string
	for _, s := range Spans(text) {
		if s.Kind == "tag" {
			found = append(found, "#"+s.Content+"#")
		}
	}
	return found
}

// References are what a block refers to: its block refs, and the block that an embedded query names.
func References(b *tree.Block) []Span {
	switch {
	case b.Kind == tree.Embed:
		return []Span{{Target: firstID(b.Text)}}
	case b.Container() || !strings.Contains(b.Text, "(("):
		return nil
	}
	var found []Span
	for _, s := range Spans(b.Text) {
		if s.Kind == "block-ref" {
			found = append(found, s)
		}
	}
	return found
}

// firstID is the first id in a text, "" for none.
func firstID(text string) string {
	for at := strings.IndexByte(text, '-'); at >= 0; {
		if at >= 14 && at+8 <= len(text) && tree.ValidID(text[at-14:at+8]) {
			return text[at-14 : at+8]
		}
		next := strings.IndexByte(text[at+1:], '-')
		if next < 0 {
			break
		}
		at += next + 1
	}
	return ""
}
