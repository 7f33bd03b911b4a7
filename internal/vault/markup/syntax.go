package markup

import (
	"strings"

	"collie/internal/lazyregexp"
)

// This file has the syntax of single marks: escapes, code spans, destinations of links, and references.

// escapedChars escapes the characters that may begin or end a mark.
var escapedChars = strings.NewReplacer(
	`\`, `\\`, "*", `\*`, "_", `\_`, "`", "\\`", "~", `\~`, "$", `\$`, "=", `\=`, "^", `\^`, "<", `\<`, ">", `\>`,
	"[", `\[`, "]", `\]`, "#", `\#`, "((", `\((`,
)

// escapeMarks escapes text so that it is read as plain text.
func escapeMarks(text string) string {
	if !strings.ContainsAny(text, "\\*_`~$=^<>[]#(") {
		return text
	}
	return escapedChars.Replace(text)
}

// plainBackslash matches a backslash written by escapeMarks that is not needed.
var plainBackslash = lazyregexp.New(`\\\\([^!-/:-@\[-\x60{-~])`)

// escapeInTag is like escapeMarks for the label of a tag (#label#), which an escaped backslash would end.
func escapeInTag(text string) string {
	return plainBackslash.ReplaceAllString(escapeMarks(text), `\$1`)
}

// tagStart matches the beginning of an HTML tag.
var tagStart = lazyregexp.New(`<([A-Za-z/!?])`)

// codeSpan returns code between backticks, more of them than the code has in a row.
func codeSpan(content string) string {
	fence := "`"
	for strings.Contains(content, fence) {
		fence += "`"
	}
	padded := strings.HasPrefix(content, " ") && strings.HasSuffix(content, " ") && strings.Trim(content, " ") != ""
	if padded || strings.HasPrefix(content, "`") || strings.HasSuffix(content, "`") {
		content = " " + content + " "
	}
	return fence + content + fence
}

// linkDestination returns the text between the parentheses of a link or image.
func linkDestination(target, title string) string {
	if title == "" {
		return target
	}
	quote := `"`
	if strings.Contains(strings.ReplaceAll(title, `\"`, ""), `"`) && !strings.Contains(title, "'") {
		quote = "'"
	}
	return target + " " + quote + title + quote
}

// DynamicReference returns the Markdown of a reference whose text follows the text of its block.
func DynamicReference(id, text string) string { return newReference(id, text, "d").Markdown }

// newReference returns a reference to a block. subtype "s" means that its text is fixed, "d" that it follows the
// block's text.
func newReference(id, text, subtype string) Span {
	if text == "" {
		text = id
	}
	s := Span{Kind: "block-ref", Content: text, Target: id, Subtype: subtype}
	quote := `"`
	if subtype == "d" {
		quote = "'"
	}
	s.Markdown = "((" + id + " " + quote + text + quote + "))"
	return s
}

// newAnnotation returns a reference to an annotation in a PDF.
func newAnnotation(id, text string) Span {
	return Span{Kind: "file-annotation-ref", Content: text, Target: id, Markdown: "<<" + id + ` "` + text + `">>`}
}
