package markup

import (
	"strings"

	"collie/internal/lazyregexp"
)

// This file replaces characters before parsing where the parser would lose or misread text.

// Lute loses some text that people write, such as the id of a reference in a code span or an unclosed formatting tag.
// So it gets noncharacters in its place, which removeStandIns replaces by the originals. One more, caretStandIn, stands for
// the character that lute takes for the cursor. Text from outside has no noncharacters, since cleanText replaces them.
// Private-use characters would not do: they are the icons of many fonts.
const (
	bracketStandIn = "\uFDD0" // for ( in code, and in an address between brackets
	closingStandIn = "\uFDD1" // for ) in an address between brackets
	blankStandIn   = "\uFDD2" // for blanks after the language of code, where lute stops reading
	braceStandIn   = "\uFDD3" // for { of text that only looks like an attribute list
	tagStandIn     = "\uFDD4" // for < in code, and of a tag that has no counterpart
	emptyStandIn   = "\uFDD5" // for nothing, in a title or a table row that lute would misread
)

// formatTag matches a tag for formatting, or one that occurs in formatted text.
var formatTag = lazyregexp.New(`(?i)</?(b|i|u|s|em|strong|strike|del|kbd|sub|sup|mark|a|span|font|br|code|small|big|ins|cite|q)\b[^<>\n]*>`)

// bracketAddress matches an address in double parentheses, as Logseq writes them; lute would lose one.
var bracketAddress = lazyregexp.New(`\]\(\(+[^()\n]*\)+\)`)

// calloutTitle matches the first line of a callout up to the first word of its title.
var calloutTitle = lazyregexp.New(`(?m)^([^\n\[]*>[ \t]*\[![^\]\n]*\][ \t]*)([^ \t\n]+)`)

var bracketAfterLink = strings.NewReplacer("(", bracketStandIn, ")", closingStandIn)

// fenceInfo matches a fence whose info has more than the name of a language.
var fenceInfo = lazyregexp.New("(?m)^[ \\t>]*(?:(?:[-*+]|\\d{1,9}[.)])[ \\t]+)*(?:\\{:[^}\\n]*\\})?(?:```+|~~~+)[ \\t]*([^\\s`~]+ [^`\\n]*[^`\\s])[ \\t]*$")

// someList matches whatever lute may take for an attribute list, properList only a real one.
var (
	someList   = lazyregexp.New(`\{:[^{}\n]*\}`)
	properList = lazyregexp.New(`^\{:(?:[ \t]+[A-Za-z0-9_:.-]+[ \t]*=[ \t]*"[^"\n]*")*[ \t]*\}$`)
)

// insertStandIns inserts stand-ins where lute would lose text or misread it.
func insertStandIns(markdown string) string {
	markdown = strings.ReplaceAll(markdown, caretChar, caretStandIn)
	if strings.Contains(markdown, "`") && strings.ContainsAny(markdown, "(<") {
		markdown = shieldCode(markdown)
	}
	if strings.Contains(markdown, "```") || strings.Contains(markdown, "~~~") {
		markdown = fenceInfo.ReplaceAllStringFunc(markdown, func(line string) string {
			at := fenceInfo.FindStringSubmatchIndex(line)
			return line[:at[2]] + strings.ReplaceAll(line[at[2]:at[3]], " ", blankStandIn) + line[at[3]:]
		})
	}
	if strings.Contains(markdown, "{:") {
		markdown = someList.ReplaceAllStringFunc(markdown, func(list string) string {
			if properList.MatchString(list) {
				return list
			}
			return braceStandIn + list[1:]
		})
	}
	if strings.Contains(markdown, "]((") {
		markdown = bracketAddress.ReplaceAllStringFunc(markdown, func(link string) string {
			return "](" + bracketAfterLink.Replace(link[2:len(link)-1]) + ")"
		})
	}
	if strings.Contains(markdown, "[!") {
		markdown = calloutTitle.ReplaceAllStringFunc(markdown, shieldTitle)
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

// shieldTitle inserts a stand-in before the first word of a callout's title, unless that is an icon. Otherwise lute would take
// a word such as book for the name of an emoji.
func shieldTitle(line string) string {
	at := calloutTitle.FindStringSubmatchIndex(line)[4]
	if isIcon(line[at:]) {
		return line
	}
	return line[:at] + emptyStandIn + line[at:]
}

// inCode replaces what lute takes for the start of a reference, an address or a tag even in code spans.
var inCode = strings.NewReplacer("(", bracketStandIn, "<", tagStandIn)

// shieldCode inserts stand-ins in code spans. A span ends with as many backticks as it begins with, in the same
// paragraph.
func shieldCode(markdown string) string {
	var out strings.Builder
	for {
		at := strings.IndexByte(markdown, '`')
		if at < 0 {
			break
		}
		run := countBackticks(markdown[at:])
		end := closingBackticks(markdown[at+run:], run)
		if end < 0 {
			out.WriteString(markdown[:at+run])
			markdown = markdown[at+run:]
			continue
		}
		end += at + run
		out.WriteString(markdown[:at])
		out.WriteString(inCode.Replace(markdown[at:end]))
		out.WriteString(markdown[end : end+run])
		markdown = markdown[end+run:]
	}
	return out.String() + markdown
}

// countBackticks returns the number of backticks at the beginning of a text.
func countBackticks(text string) int { return len(text) - len(strings.TrimLeft(text, "`")) }

// paragraphEnd returns where the paragraph at the start of text ends: before a line that is blank or may begin a block.
func paragraphEnd(text string) int {
	for at := 0; ; {
		next := strings.IndexByte(text[at:], '\n')
		if next < 0 {
			return len(text)
		}
		at += next + 1
		if line := strings.TrimLeft(text[at:], " \t"); line == "" || strings.IndexByte("\n-+*>#|0123456789", line[0]) >= 0 || opensFence(line) {
			return at
		}
	}
}

// opensFence reports whether a text begins with the first line of a fence. Backticks behind those of the fence make it a code
// span (CommonMark 0.31.2, "Fenced code blocks").
func opensFence(text string) bool {
	if strings.HasPrefix(text, "~~~") {
		return true
	}
	line, _, _ := strings.Cut(text, "\n")
	return strings.HasPrefix(line, "```") && !strings.Contains(strings.TrimLeft(line, "`"), "`")
}

// closingBackticks returns the index of the next run of exactly n backticks in the same paragraph, -1 if there is none.
func closingBackticks(text string, n int) int {
	text = text[:paragraphEnd(text)]
	for from := 0; ; {
		at := strings.IndexByte(text[from:], '`')
		if at < 0 {
			return -1
		}
		at += from
		run := countBackticks(text[at:])
		if run == n {
			return at
		}
		from = at + run
	}
}

// protectTags inserts stand-ins for tags without a counterpart in their paragraph.
func protectTags(paragraph string) string {
	tags := formatTag.FindAllStringSubmatchIndex(paragraph, -1)
	if len(tags) == 0 {
		return paragraph
	}
	lone := map[int]bool{} // offsets of tags without a counterpart
	open := map[string][]int{}
	for _, at := range tags {
		tag, name := paragraph[at[0]:at[1]], strings.ToLower(paragraph[at[2]:at[3]])
		starts := open[name]
		before := strings.TrimRight(paragraph[:at[0]], `\`)
		switch {
		case (at[0]-len(before))%2 == 1: // escaped, so it is text
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
