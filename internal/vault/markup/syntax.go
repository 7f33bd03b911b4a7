package markup

import (
	"strings"

	"collie/internal/lazyregexp"
)

// escapes are the characters that would begin or end a mark.
var escapes = strings.NewReplacer(
	`\`, `\\`, "*", `\*`, "_", `\_`, "`", "\\`", "~", `\~`, "$", `\$`, "=", `\=`, "^", `\^`, "<", `\<`, ">", `\>`,
	"[", `\[`, "]", `\]`, "#", `\#`, "((", `\((`,
)

// escapeMarks writes text so that it means itself.
func escapeMarks(text string) string {
	if !strings.ContainsAny(text, "\\*_`~$=^<>[]#(") {
		return text
	}
	return escapes.Replace(text)
}

// plainBackslash is one, as escapeMarks writes it, that means itself without that too.
var plainBackslash = lazyregexp.New(`\\\\([^!-/:-@\[-\x60{-~])`)

// escapeInTag is escapeMarks for the label of a tag (#label#), which an escaped backslash would cut into several.
func escapeInTag(text string) string {
	return plainBackslash.ReplaceAllString(escapeMarks(text), `\$1`)
}

// tagStart is the beginning of a tag.
var tagStart = lazyregexp.New(`<([A-Za-z/!?])`)

// codeSpan writes code between more backticks than it holds in a row.
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

// destination is what stands between the parentheses of a link or image.
func destination(target, title string) string {
	if title == "" {
		return target
	}
	quote := `"`
	if strings.Contains(strings.ReplaceAll(title, `\"`, ""), `"`) && !strings.Contains(title, "'") {
		quote = "'"
	}
	return target + " " + quote + title + quote
}

// Dynamic is a reference to a block that shows the text of the block, as Markdown.
func Dynamic(id, text string) string { return newReference(id, text, "d").Markdown }

// newReference is a reference to a block. Its anchor is the text that stays ("s"), or that of the block ("d").
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

// newAnnotation is a reference to a mark in a PDF.
func newAnnotation(id, text string) Span {
	return Span{Kind: "file-annotation-ref", Content: text, Target: id, Markdown: "<<" + id + ` "` + text + `">>`}
}
