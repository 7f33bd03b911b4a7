package markup_test

import (
	"strings"
	"testing"

	"collie/internal/vault/markup"
	"collie/internal/vault/tree"
)

// TestTextThatLuteLoses parses texts that lute loses parts of, unless the package replaces these parts by stand-ins.
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

// The icons of fonts for programmers are private-use characters (U+F0020 and so on), and files of settings are full of them.
func TestIconsStay(t *testing.T) {
	t.Parallel()
	icons := "\U000F0020 \U000F0021 \U000F0024 \U000F0028 \U000F0029 \U000F003C \U000F007B \U000F2038"
	for _, text := range []string{
		"a " + icons + " b",
		"a `" + icons + "` b",
		"|a|b|\n|---|---|\n|1|" + icons + "|",
		"```\n\"" + icons + "\"\n```",
	} {
		b := markup.Parse(text)[0]
		if !strings.Contains(b.Text, icons) {
			t.Errorf("%+q comes back as %+q", text, b.Text)
		}
		if got := markup.ParseDOM(markup.DOM(b))[0].Text; got != b.Text {
			t.Errorf("%+q comes back from the editor as %+q", b.Text, got)
		}
	}
	b := markup.Parse("a\n{: memo=\"" + icons + "\" id=\"20240801000000-aaaaaaa\"}")[0]
	if got := b.Attrs["memo"]; got != icons {
		t.Errorf("the attribute %+q comes back as %+q", icons, got)
	}
}

// Noncharacters (U+FDD0 and so on) are for the use inside of programs, so text from outside has none.
func TestNoncharactersAreReplaced(t *testing.T) {
	t.Parallel()
	for c := '\uFDD0'; c <= '\uFDD7'; c++ {
		if got, want := markup.Parse("a " + string(c) + " b")[0].Text, "a \ufffd b"; got != want {
			t.Errorf("%U comes back as %+q, want %+q", c, got, want)
		}
		if got, want := markup.ParseDOM("a " + string(c) + " b")[0].Text, "a \ufffd b"; got != want {
			t.Errorf("%U comes back from the editor as %+q, want %+q", c, got, want)
		}
	}
}

// A lone backtick before a fenced code block does not begin a code span that ends at a backtick inside the block.
func TestCodeSpansEndBeforeFences(t *testing.T) {
	t.Parallel()
	for _, fence := range []string{"```js x\n`a|b`\n```", "```\n`a`\n```", "~~~\n`a`\n~~~"} {
		blocks := markup.Parse("` <https://a.b>\n" + fence)
		if len(blocks) != 2 || blocks[1].Kind != tree.Code {
			t.Fatalf("%q: %d blocks", fence, len(blocks))
		}
		if got, want := blocks[0].Text, "` [https://a.b](https://a.b)"; got != want {
			t.Errorf("before %q there is %q, want %q", fence, got, want)
		}
	}
}

// Two tables follow each other without a blank line, and then other lines. These lines become a paragraph, and nothing is
// doubled.
func TestLinesBelowTwoTables(t *testing.T) {
	t.Parallel()
	for _, quote := range []string{"", "> "} {
		text := quote + strings.ReplaceAll("| a | b |\n|---|---|\n| c | d |\n| e | f |\n|---|---|\n| g | h |\nk\nl", "\n", "\n"+quote)
		blocks := markup.Parse(text)
		if quote != "" && len(blocks) == 1 {
			blocks = blocks[0].Children
		}
		if len(blocks) != 2 || blocks[0].Kind != tree.Table || blocks[1].Text != "k\nl" {
			t.Errorf("%q became %q", text, markup.Export(&tree.Block{Kind: tree.Doc, Children: blocks}))
			continue
		}
		for cell := range strings.SplitSeq("abcdefgh", "") {
			if strings.Count(blocks[0].Text, cell) != 1 {
				t.Errorf("%q occurs %d times in %q", cell, strings.Count(blocks[0].Text, cell), blocks[0].Text)
			}
		}
	}
}

// Lines with bars that are not a table stay as they are, even lines of nothing but bars and colons.
func TestLinesWithBars(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"x\n`a|b`\ny\n: ||", "x|\ny|\n:-:", "x|y\nz\na|b\n|:\nc", "a|b\nc\n|\nd"} {
		blocks := markup.Parse(text)
		if len(blocks) != 1 || blocks[0].Text != text {
			t.Errorf("%q became %q", text, markup.Export(&tree.Block{Kind: tree.Doc, Children: blocks}))
		}
	}
}

// The first word of a callout's title stays text, even if it is the name of an emoji, which lute would replace.
func TestTitlesOfCalloutsStayWords(t *testing.T) {
	t.Parallel()
	for text, marker := range map[string]string{
		"> [!NOTE] book about x\n> a":    "NOTE book about x",
		"> [!question] heart\n> a":       "question heart",
		"> [!NOTE] :heart: x\n> a":       "NOTE :heart: x",
		"> [!NOTE] \U0001F4D6 book\n> a": "NOTE \U0001F4D6 book",
		"> [!NOTE] Note\n> a":            "NOTE",
		"- > [!TIP] key\n  > a":          "TIP key",
		"> > [!TIP] key\n> > a":          "TIP key",
	} {
		blocks := markup.Parse(text)
		for len(blocks) > 0 && blocks[0].Kind != tree.Callout {
			blocks = blocks[0].Children
		}
		if len(blocks) != 1 || blocks[0].Marker != marker {
			t.Errorf("%q became %+v, want the marker %q", text, blocks, marker)
			continue
		}
		if again := markup.Parse(markup.Export(identifyAll(blocks))); len(again) != 1 || again[0].Marker != marker {
			t.Errorf("%q read back is %+v", text, again)
		}
	}
	code := "```\n> [!NOTE] book\n```"
	if got := markup.Parse(code); len(got) != 1 || got[0].Text != code {
		t.Errorf("code became %+v", got)
	}
}
