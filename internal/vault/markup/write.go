package markup

import "strings"

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
	for kind := range strings.FieldsSeq(s.Kind) {
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
