package edit

import (
	"strings"

	"collie/internal/vault/markup"
	"collie/internal/vault/template"
	"collie/internal/vault/tree"
)

// Stat counts the content of blocks.
type Stat struct {
	RuneCount  int `json:"runeCount"`
	WordCount  int `json:"wordCount"`
	LinkCount  int `json:"linkCount"`
	ImageCount int `json:"imageCount"`
	RefCount   int `json:"refCount"`
	BlockCount int `json:"blockCount"` // set by the caller
}

// Add counts the leaves in b. Titles of documents do not count.
func (s *Stat) Add(b *tree.Block) {
	b.Walk(func(b *tree.Block) {
		if b.Container() {
			return
		}
		runes, words := template.Counts(countedText(b))
		s.RuneCount += runes
		s.WordCount += words
		for _, span := range markup.Spans(b.Text) {
			switch span.Kind {
			case "a":
				s.LinkCount++
			case "img":
				s.ImageCount++
			case "block-ref":
				s.RefCount++
			}
		}
	})
}

// zeroWidth is a space that SiYuan's trees have before code, keys, tags and images, and a second time if one of these
// begins a block or is an image. Each counts as a character and a word.
const zeroWidth = "\u200b"

// countedText returns the text of a leaf that is counted: what the leaf shows. Blocks of HTML, embedded queries, databases
// and media count as empty.
func countedText(b *tree.Block) string {
	switch b.Kind {
	case tree.Table, tree.Code, tree.Math:
		return markup.Content(b)
	case tree.Paragraph, tree.Heading:
	default:
		return ""
	}
	var out strings.Builder
	for i, span := range markup.Spans(textWithoutMarks(b)) {
		switch span.Kind {
		case "tag", "code", "kbd", "img":
			out.WriteString(zeroWidth)
			if i == 0 || span.Kind == "img" {
				out.WriteString(zeroWidth)
			}
		}
		out.WriteString(span.Content)
	}
	return out.String()
}

// textWithoutMarks returns the text of a leaf without the number signs of a heading.
func textWithoutMarks(b *tree.Block) string {
	if b.Kind == tree.Heading {
		return strings.TrimLeft(strings.TrimLeft(b.Text, "#"), " ")
	}
	return b.Text
}
