package kerneltest

import (
	"html"
	"regexp"
	"strings"
)

// inline matches one formatted stretch of a line. The groups are read by nextSpan.
var inline = regexp.MustCompile(strings.Join([]string{
	"(?P<code>`[^`\n]+`)",
	`(?P<ref>\(\(\d{14}-[0-9a-z]{7}(?:\s+'[^']*'|\s+"[^"]*")?\)\))`,
	`(?P<img>!\[[^\]]*\]\([^)\s]+(?:\s+"[^"]*")?\))`,
	`(?P<a>\[[^\]]+\]\([^)\s]+(?:\s+"[^"]*")?\))`,
	`(?P<strong>\*\*[^*\n]+\*\*)`,
	`(?P<em>\*[^*\s][^*\n]*\*)`,
	`(?P<mark>==[^=\n]+==)`,
	`(?P<s>~~[^~\n]+~~)`,
	`(?P<math>\$[^$\s][^$\n]*\$)`,
	`(?P<sub><sub>[^<]*</sub>)`,
	`(?P<sup><sup>[^<]*</sup>)`,
	`(?P<kbd><kbd>[^<]*</kbd>)`,
	`(?P<u><u>[^<]*</u>)`,
	`(?P<tag>#[^#\s](?:[^#\n]*[^#\s])?#)`,
}, "|"))

var (
	refParts  = regexp.MustCompile(`^\(\((\d{14}-[0-9a-z]{7})(?:\s+'([^']*)'|\s+"([^"]*)")?\)\)$`)
	linkParts = regexp.MustCompile(`^!?\[([^\]]*)\]\(([^)\s]+)(?:\s+"([^"]*)")?\)$`)
	subMark   = regexp.MustCompile(`([^~\s])~([^~\s]+)~`)
	supMark   = regexp.MustCompile(`\^([^^\s\[\]]+)\^`)
)

// span is one formatted stretch of text, or plain text when kind is "".
type span struct {
	kind     string // strong, em, code, a, tag, block-ref, img, inline-math, ...
	content  string // the text shown
	markdown string
	target   string // address of a link or image, id of a reference
	title    string
	subtype  string // s or d of a reference
}

// spansOf splits the text of a leaf.
func spansOf(text string) []span {
	var found []span
	names := inline.SubexpNames()
	for text != "" {
		at := inline.FindStringSubmatchIndex(text)
		if at == nil {
			return append(found, span{content: text, markdown: text})
		}
		if at[0] > 0 {
			found = append(found, span{content: text[:at[0]], markdown: text[:at[0]]})
		}
		for i := 1; i < len(names); i++ {
			if at[2*i] >= 0 {
				found = append(found, newSpan(names[i], text[at[0]:at[1]]))
				break
			}
		}
		text = text[at[1]:]
	}
	return found
}

func newSpan(kind, markdown string) span {
	s := span{kind: kind, markdown: markdown}
	inner := func(n int) string { return markdown[n : len(markdown)-n] }
	switch kind {
	case "code", "em", "tag":
		s.content = inner(1)
	case "math":
		s.kind, s.content = "inline-math", inner(1)
	case "strong", "mark", "s":
		s.content = inner(2)
	case "sub", "sup", "kbd", "u":
		s.content = markdown[len(kind)+2 : len(markdown)-len(kind)-3]
	case "a", "img":
		parts := linkParts.FindStringSubmatch(markdown)
		s.content, s.target, s.title = parts[1], parts[2], parts[3]
	case "ref":
		parts := refParts.FindStringSubmatch(markdown)
		s.kind, s.target, s.subtype, s.content = "block-ref", parts[1], "d", parts[2]
		if parts[3] != "" {
			s.subtype, s.content = "s", parts[3]
		}
		if s.content == "" {
			s.content = s.target
		}
	}
	return s
}

// plain is the text of a leaf as blocks.content holds it.
func plain(text string) string {
	var out strings.Builder
	for _, s := range spansOf(text) {
		switch s.kind {
		case "a":
			out.WriteString(plain(s.content) + " " + s.target)
		case "img":
			out.WriteString(s.content + " " + s.target + " " + s.title)
		case "tag":
			out.WriteString("#" + s.content + "#")
		case "strong", "em", "mark", "s":
			out.WriteString(plain(s.content))
		default:
			out.WriteString(s.content)
		}
	}
	return out.String()
}

// inlineHTML renders the text of a leaf as the editor's DOM does.
func inlineHTML(text string) string {
	var out strings.Builder
	for _, s := range spansOf(text) {
		shown := html.EscapeString(s.content)
		switch s.kind {
		case "":
			out.WriteString(strings.ReplaceAll(strings.ReplaceAll(shown, "&#39;", "'"), "&#34;", `"`))
		case "a":
			out.WriteString(`<span data-type="a" data-href="` + html.EscapeString(s.target) + `">` + shown + `</span>`)
		case "img":
			out.WriteString(`<span contenteditable="false" data-type="img" class="img"><img src="` + html.EscapeString(s.target) +
				`" alt="` + shown + `" title="` + html.EscapeString(s.title) + `" /></span>`)
		case "block-ref":
			out.WriteString(`<span data-type="block-ref" data-subtype="` + s.subtype + `" data-id="` + s.target + `">` + shown + `</span>`)
		case "inline-math":
			out.WriteString(`<span data-type="inline-math" data-subtype="math" data-content="` + shown + `" contenteditable="false" class="render-node"></span>`)
		default:
			out.WriteString(`<span data-type="` + s.kind + `">` + shown + `</span>`)
		}
	}
	return out.String()
}

// normalizeInline writes marks the way the kernel does: H~2~O as <sub>, x^2^ as <sup>, hard breaks without their
// trailing spaces.
func normalizeInline(text string) string {
	var out strings.Builder
	for _, s := range spansOf(text) {
		if s.kind != "" {
			out.WriteString(s.markdown)
			continue
		}
		out.WriteString(supMark.ReplaceAllString(subMark.ReplaceAllString(s.markdown, "$1<sub>$2</sub>"), "<sup>$1</sup>"))
	}
	return out.String()
}

// tags returns the tags of a leaf as blocks.tag holds them: #a# #b#.
func tagsOf(text string) []string {
	var found []string
	for _, s := range spansOf(text) {
		if s.kind == "tag" {
			found = append(found, "#"+s.content+"#")
		}
	}
	return found
}

// writeSpan writes formatted text as markdown. The kinds are those of span; b and i stand for strong and em.
func writeSpan(kind, text, target, subtype string) string {
	switch kind {
	case "strong", "b":
		return "**" + text + "**"
	case "em", "i":
		return "*" + text + "*"
	case "code":
		return "`" + text + "`"
	case "mark":
		return "==" + text + "=="
	case "s":
		return "~~" + text + "~~"
	case "tag":
		return "#" + text + "#"
	case "a":
		return "[" + text + "](" + target + ")"
	case "block-ref":
		quote := "'"
		if subtype == "s" {
			quote = `"`
		}
		return "((" + target + " " + quote + text + quote + "))"
	case "inline-math":
		return "$" + text + "$"
	case "sub", "sup", "kbd", "u":
		return "<" + kind + ">" + text + "</" + kind + ">"
	}
	return text
}
