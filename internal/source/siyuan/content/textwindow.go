package content

import (
	"slices"
	"strings"

	"collie/internal/source/siyuan/kernel"
)

// TextWindow is a [Window] of a text that is not a document: what is between blank lines is a block.
func TextWindow(text string, opts WindowOptions) Window {
	var blocks []kernel.Block
	for _, part := range topLevel(strings.ReplaceAll(text, "\r\n", "\n")) {
		b := kernel.Block{Type: "p", Content: part, Markdown: part}
		if marks := run(part, '#'); heading.MatchString(part) {
			b.Type, b.SubType, b.Content = "h", "h"+string(rune('0'+marks)), part[marks:]
		}
		blocks = append(blocks, b)
	}
	w := Window{
		BlockStart: opts.BlockStart, BlockLimit: opts.BlockLimit, TotalBlocks: len(blocks),
		TokenBudget: opts.TokenBudget, TokenMode: tokenMode,
	}
	opts.IncludeBlockIDs = false
	read := reader{opts: opts, window: &w}
	start := min(opts.BlockStart, len(blocks))
	for i, b := range slices.All(blocks[start:min(start+opts.BlockLimit, len(blocks))]) {
		if read.full {
			break
		}
		read.blocks(start+i, []kernel.Block{b}, nil)
	}
	read.finish(blocks, start)
	return w
}

// ReplaceText makes edits in a text that is not a document, as [Replace] does in blocks: what is
// not found, or found more than once without All, is an error. It returns the new text.
func ReplaceText(subject, text string, edits Edits) (string, Replaced, error) {
	out := Replaced{Replacements: []Replacements{}, ChangedBlocks: []kernel.ID{}}
	p := newPiece(kernel.Block{Type: "text"}, text, nil)
	e := editor{subject: subject, pieces: []*piece{p}}
	for i, edit := range edits {
		n, err := e.edit(i, edit)
		if err != nil {
			return text, Replaced{}, err
		}
		out.Replacements = append(out.Replacements, Replacements{i, n, edit.All})
		out.EditsApplied++
	}
	out.Changed = p.kramdown() != text
	return p.kramdown(), out, nil
}
