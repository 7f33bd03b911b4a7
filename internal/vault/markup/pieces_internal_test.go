package markup

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"collie/internal/vault/tree"
	"collie/test/await"
)

// TestPieces checks that a text gives the same blocks whether it is parsed as a whole or in the pieces of splitMarkdown.
func TestPieces(t *testing.T) {
	t.Parallel()
	samples := []string{
		"plain text", "two\nlines 中文", "# heading", "## h\n{: id=\"20240101000000-aaaaaaa\" custom-x=\"1\"}", "text\n{: id=\"20240101000000-bbbbbbb\"}",
		"- a\n- b\n\n  more of b\n  - c", "1. one\n\n   ```\n   code\n\n   more\n   ```\n2. two", "> quote\n>\n> more", "```go\ncode\n\n# no heading\n```", "~~~\nx\n\ny\n~~~",
		"````\n```\n\nz\n````", "| a | b |\n| - | - |\n| 1 | 2 |", "$$\nx\n\ny\n$$", "<div>\n\nhtml\n\n</div>", "<!-- a\n\ncomment -->", "---", "{{{row\nleft\n\nright\n\n}}}",
		"{: custom-y=\"2\"}", "    indented", "  two spaces", "- [ ] task", "> [!NOTE]\n> text", "a [link](https://example.com) **bold** `code`", "x[^1]\n\n[^1]: note",
		"[a]: https://example.com", "```\nnever closed", "text with ``` in it", "((20240101000000-aaaaaaa 'anchor'))", "*\n", "- \n\n  late", "=====", "text\n---", "\\# no heading",
		"![image](assets/a.png)", "%%\ncomment\n\nmore\n%%", "{{ select * from blocks\n\nwhere id = 1 }}", "1) x", "#tag# text", "line with two spaces  \nnext", "\u00a0odd",
	}
	r := rand.New(rand.NewPCG(1, 1))
	cuts := 0
	rounds := await.Fewer(3000)
	for range rounds {
		var parts []string
		for range 1 + r.IntN(9) {
			if r.IntN(2) == 0 {
				parts = append(parts, fmt.Sprintf("paragraph %d", r.IntN(9)))
			}
			parts = append(parts, samples[r.IntN(len(samples))])
		}
		text := strings.Join(parts, []string{"\n\n", "\n\n\n", "\n\n"}[r.IntN(3)])
		if r.IntN(4) == 0 {
			text += "\n\n{: id=\"20240101000000-ccccccc\" type=\"doc\"}"
		}
		text = insertStandIns(widenTables(cleanText(text)))
		var apart []*tree.Block
		list := splitMarkdown(text, 1)
		cuts += len(list) - 1
		for _, piece := range list {
			apart = append(apart, parsePiece(piece)...)
		}
		whole := parsePiece(text)
		if diff := cmp.Diff(listBlocks(whole), listBlocks(apart)); diff != "" {
			t.Fatalf("%q in %q:\n%s", text, list, diff)
		}
	}
	if cuts < rounds {
		t.Errorf("only %d cuts", cuts)
	}
}

// listBlocks lists blocks with their content, line by line.
func listBlocks(blocks []*tree.Block) (lines []string) {
	for _, b := range blocks {
		b.Walk(func(b *tree.Block) {
			lines = append(lines, fmt.Sprintf("%s %d %q %q %q %v", b.Kind, len(b.Children), b.Text, b.Marker, b.Task, b.Attrs))
		})
	}
	return lines
}
