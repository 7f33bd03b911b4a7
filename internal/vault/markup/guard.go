package markup

import (
	"regexp"
	"strings"
)

// Lute loses some text that people write: the id of a reference inside a code span, and a tag of formatting that is
// opened and never closed. It sees other characters in their stead, which restore turns back.
const (
	bracketStandIn = "\U000F0028" // for ( in code
	tagStandIn     = "\U000F003C" // for < of a tag without its other half
)

var (
	refInCode = regexp.MustCompile("`[^`\n]*\\(\\([^`\n]*`")
	formatTag = regexp.MustCompile(`(?i)</?(b|i|u|s|em|strong|strike|del|kbd|sub|sup|mark|a|span|font|br|code|small|big|ins|cite|q)\b[^<>\n]*>`)
)

// shield puts stand-ins where lute would lose text or take it for something else.
func shield(markdown string) string {
	markdown = strings.ReplaceAll(markdown, caret, caretStandIn)
	if strings.Contains(markdown, "((") && strings.Contains(markdown, "`") {
		markdown = refInCode.ReplaceAllStringFunc(markdown, func(span string) string {
			return strings.ReplaceAll(span, "(", bracketStandIn)
		})
	}
	if !strings.Contains(markdown, "<") {
		return markdown
	}
	paragraphs := strings.Split(markdown, "\n\n")
	for i, p := range paragraphs {
		paragraphs[i] = protectTags(p)
	}
	return strings.Join(paragraphs, "\n\n")
}

// protectTags puts stand-ins for the tags of a paragraph that have no other half in it.
func protectTags(paragraph string) string {
	tags := formatTag.FindAllStringSubmatchIndex(paragraph, -1)
	if len(tags) == 0 {
		return paragraph
	}
	lone := map[int]bool{} // where a tag without its other half begins
	open := map[string][]int{}
	for _, at := range tags {
		tag, name := paragraph[at[0]:at[1]], strings.ToLower(paragraph[at[2]:at[3]])
		starts := open[name]
		switch {
		case name == "br" || strings.HasSuffix(tag, "/>"):
		case !strings.HasPrefix(tag, "</"):
			open[name] = append(starts, at[0])
		case len(starts) > 0:
			open[name] = starts[:len(starts)-1]
		default:
			lone[at[0]] = true
		}
	}
	for _, starts := range open {
		for _, at := range starts {
			lone[at] = true
		}
	}
	if len(lone) == 0 {
		return paragraph
	}
	var out strings.Builder
	for i := range len(paragraph) {
		if lone[i] {
			out.WriteString(tagStandIn)
		} else {
			out.WriteByte(paragraph[i])
		}
	}
	return out.String()
}
