package content

import (
	"testing"

	"collie/internal/source/siyuan/kernel"
)

func TestCut(t *testing.T) {
	t.Parallel()
	const a, b = "20240101000000-aaaaaaa", "20240101000000-bbbbbbb"
	own := func(id string) string { return "{: id=\"" + id + "\"}" }
	blocks := []kernel.Block{{ID: a}, {ID: b}}
	end := "\n\n" + own(b) + "\n\n{: id=\"20240101000000-ccccccc\" type=\"doc\"}"
	for whole, ok := range map[string]bool{
		"one\n" + own(a) + end:                                         true,
		"```\n" + own(b) + "\n```\n" + own(a) + end:                    true,
		"```\n" + own(a) + "\nmore\n```\n" + own(a) + end:              false, // its own list is in its code
		"one\n" + own(a) + "\n\nnew\n" + own("20240101000000-ddddddd"): false,
		"one\n" + own(b) + end:                                         false,
	} {
		out, got := cut(whole, blocks)
		if got != ok {
			t.Errorf("%q is cut: %v, want %v, into %q", whole, got, ok, out)
		}
	}
}
