package search

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestParsePassage(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("字", 300)
	for _, c := range []struct{ in, plain, marked string }{
		{"", "", ""},
		{"a <mark>b</mark> c", "a b c", "a <mark>b</mark> c"},
		{"print(&#39;<mark>x</mark>&#39;) &lt;b&gt;", "print('x') <b>", "print(&#39;<mark>x</mark>&#39;) &lt;b&gt;"},
		{"a\u200bb", "ab", "ab"},
		{"<mark>open", "open", "<mark>open</mark>"},
		{"closed</mark>", "closed", "closed"},
		{
			long + "<mark>x</mark>" + long, "…" + strings.Repeat("字", 150) + "x" + strings.Repeat("字", 150) + "…",
			"…" + strings.Repeat("字", 150) + "<mark>x</mark>" + strings.Repeat("字", 150) + "…",
		},
		{long + long, strings.Repeat("字", 400) + "…", strings.Repeat("字", 400) + "…"},
		{
			"<mark>x</mark>" + long + long + "<mark>y</mark>",
			"x" + strings.Repeat("字", 150) + "…" + strings.Repeat("字", 150) + "y",
			"<mark>x</mark>" + strings.Repeat("字", 150) + "…" + strings.Repeat("字", 150) + "<mark>y</mark>",
		},
	} {
		p := parsePassage(c.in)
		if got := p.plain(); got != c.plain {
			t.Errorf("%.40q: plain %q, want %q", c.in, got, c.plain)
		}
		if got := p.markedHTML(); got != c.marked {
			t.Errorf("%.40q: marked %q, want %q", c.in, got, c.marked)
		}
	}
}

// TestPassageKeepsMatches: a shortened text still has all its matches, with their marks.
func TestPassageKeepsMatches(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(r *rapid.T) {
		var in strings.Builder
		matches := rapid.IntRange(0, 5).Draw(r, "matches")
		for range matches {
			in.WriteString(strings.Repeat("x", rapid.IntRange(0, 500).Draw(r, "gap")) + "<mark>MATCH</mark>")
		}
		in.WriteString(strings.Repeat("x", rapid.IntRange(0, 500).Draw(r, "rest")))
		p := parsePassage(in.String())
		if n := strings.Count(p.plain(), "MATCH"); n != matches {
			r.Fatalf("%d matches are shown, want %d", n, matches)
		}
		if n := strings.Count(p.markedHTML(), "<mark>MATCH</mark>"); n != matches {
			r.Fatalf("%d matches are marked, want %d", n, matches)
		}
	})
}

func TestTextOfDOM(t *testing.T) {
	t.Parallel()
	for dom, want := range map[string]string{
		`<div data-node-id="x"><div contenteditable="true">see <span data-type="a" data-href="a>b">one</span> &amp; two</div><div class="protyle-attr">` + "\u200b" + `</div></div>`: "see one & two",
		"plain": "plain", "<div": "", "": "",
	} {
		if got := textOfDOM(dom); got != want {
			t.Errorf("%q: %q, want %q", dom, got, want)
		}
	}
}
