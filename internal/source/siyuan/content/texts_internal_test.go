package content

import (
	"testing"

	"collie/internal/source/siyuan/kernel"
)

func TestSplitBlocks(t *testing.T) {
	t.Parallel()
	const a, b = "20240101000000-aaaaaaa", "20240101000000-bbbbbbb"
	own := func(id string) string { return "{: id=\"" + id + "\"}" }
	blocks := []kernel.Block{{ID: a}, {ID: b}}
	end := "\n\n" + own(b) + "\n\n{: id=\"20240101000000-ccccccc\" type=\"doc\"}"
	for whole, ok := range map[string]bool{
		"one\n" + own(a) + end:                                         true,
		"```\n" + own(b) + "\n```\n" + own(a) + end:                    true,
		"```\n" + own(a) + "\nmore\n```\n" + own(a) + end:              false, // its own attribute list appears in its code
		"one\n" + own(a) + "\n\nnew\n" + own("20240101000000-ddddddd"): false,
		"one\n" + own(b) + end:                                         false,
	} {
		out, got := splitBlocks(whole, blocks, 0, len(blocks))
		if got != ok {
			t.Errorf("%q is cut: %v, want %v, into %q", whole, got, ok, out)
		}
	}
}

// TestSplitBlocksChecksTheRange: after a block outside of the range that was split wrongly, the blocks of the range are still
// right, or splitBlocks reports failure.
func TestSplitBlocksChecksTheRange(t *testing.T) {
	t.Parallel()
	var blocks []kernel.Block
	whole := ""
	for i := range 6 {
		b := kernel.Block{ID: kernel.ID("20240101000000-aaaaaa" + string(rune('a'+i)))}
		blocks = append(blocks, b)
		own, text := "{: id=\""+string(b.ID)+"\"}", "text"
		if i == 1 {
			text = "```\n" + own + "\nmore\n```" // its own attribute list appears in its code
		}
		whole += text + "\n" + own + "\n\n"
	}
	whole += "{: id=\"20240101000000-ccccccc\" type=\"doc\"}"
	for from, want := range []bool{false, false, false, false, true, true} {
		out, ok := splitBlocks(whole, blocks, from, len(blocks))
		if ok != want {
			t.Fatalf("from %d: cut is %v, want %v", from, ok, want)
		}
		for _, b := range blocks[from:] {
			if ok && out[b.ID] != "text\n{: id=\""+string(b.ID)+"\"}" {
				t.Errorf("from %d: %s is %q", from, b.ID, out[b.ID])
			}
		}
	}
}
