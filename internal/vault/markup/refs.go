package markup

import (
	"strings"

	"collie/internal/vault/tree"
)

// Tags returns the tags of a leaf as in blocks.tag: #a#, #b#.
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

// References returns what a block refers to: its block references, and the block that an embedded query names.
func References(b *tree.Block) []Span {
	switch {
	case b.Kind == tree.Embed:
		return []Span{{Target: firstID(b.Text)}}
	case b.Kind != tree.Paragraph && b.Kind != tree.Heading && b.Kind != tree.Table, !strings.Contains(b.Text, "(("):
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

// firstID returns the first id in a text, "" for none.
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
