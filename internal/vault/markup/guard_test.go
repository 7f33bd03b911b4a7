package markup_test

import (
	"testing"

	"collie/internal/vault/markup"
)

// Lute loses these unless it sees something else in their stead.
func TestTextThatLuteLoses(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"a `((20240801000000-aaaaaaa))` b",
		"`c` ((20240801000000-aaaaaaa 'd')) `c`",
		"``a ` ((20240801000000-aaaaaaa))`` b ` ((20240801000000-aaaaaaa 'x'))",
		"in an item cost & <b>",
		"</i> closed, never opened",
		"<b>both</b> and <u> one",
		"a < b and <c",
	} {
		blocks := markup.Parse(text)
		if len(blocks) != 1 {
			t.Fatalf("%q: %d blocks", text, len(blocks))
		}
		want := text
		if text == "<b>both</b> and <u> one" {
			want = "**both** and <u> one"
		}
		if got := blocks[0].Text; got != want {
			t.Errorf("%q comes back as %q", want, got)
		}
	}
	if refs := markup.References(markup.Parse("`c` ((20240801000000-aaaaaaa 'd')) `c`")[0]); len(refs) != 1 {
		t.Errorf("%d references between two code spans, want 1", len(refs))
	}
	if refs := markup.References(markup.Parse("`((20240801000000-aaaaaaa 'd'))`")[0]); len(refs) != 0 {
		t.Errorf("%d references in code, want none", len(refs))
	}
}
