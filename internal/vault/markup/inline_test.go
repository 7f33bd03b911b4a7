package markup_test

import (
	"testing"

	"collie/internal/vault/markup"
	"collie/internal/vault/tree"

	"github.com/google/go-cmp/cmp"
)

// TestParseInline parses paragraphs and checks the Markdown that is stored for each and its plain content.
func TestParseInline(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ in, text, content string }{
		{"x^2^ and H~2~O", "x^2^ and H~2~O", "x^2^ and H~2~O"},
		{"x<sup>2</sup> and H<sub>2</sub>O", "x<sup>2</sup> and H<sub>2</sub>O", "x2 and H2O"},
		{`x<span data-type="sup">2</span>, <span data-type="sub strong">2</span>`, `x<sup>2</sup>, **<sub>2</sub>**`, "x2, 2"},
		{"A claim.[^1] Another.[^2]", "A claim.[^1] Another.[^2]", "A claim.[^1] Another.[^2]"},
		{"2^10=1024 and 2^20=1M", "2^10=1024 and 2^20=1M", "2^10=1024 and 2^20=1M"},
		{"一般 3~5 天，最多 10~20 天", "一般 3~5 天，最多 10~20 天", "一般 3~5 天，最多 10~20 天"},
		{"x^x^y^y^z^k = 0^y^ and ~~gone~~", "x^x^y^y^z^k = 0^y^ and ~~gone~~", "x^x^y^y^z^k = 0^y^ and gone"},
		{"__a__ _b_", "**a** *b*", "a b"},
		{"**a *b* c**", "**a *b* c**", "a b c"},
		{`**x**{: style="color:red"}`, `**x**{: style="color:red"}`, "x"},
		{"one  \ntwo", "one\ntwo", "one\ntwo"},
		{`[a\]b](https://x.y "t")`, `[a\]b](https://x.y "t")`, "a]b https://x.y t"},
		{"![i](a b.png)", "![i](a b.png)", "i a b.png "},
		{`&lt; \* &amp;`, `&lt; \* &amp;`, "< * &"},
		{"<kbd>Ctrl</kbd> <u>u</u>", "<kbd>Ctrl</kbd> <u>u</u>", "Ctrl u"},
		{":smile: :+1: 12:30:45", ":smile: :+1: 12:30:45", ":smile: :+1: 12:30:45"},
		{"a \u2038 b", "a \u2038 b", "a \u2038 b"},
		{"$a|b$ `c|d`", "$a|b$ `c|d`", "a|b c|d"},
		{"[^1]: note", "[^1]: note", "[^1]: note"},
		{"see (( and $5", "see (( and $5", "see (( and $5"},
		{"{{{row", `\{{{row`, "{{{row"},
	} {
		blocks := markup.Parse(c.in)
		if len(blocks) != 1 || blocks[0].Text != c.text || markup.Content(blocks[0]) != c.content {
			t.Errorf("%q is %q (%q), expected %q (%q)", c.in, blocks[0].Text, markup.Content(blocks[0]), c.text, c.content)
		}
	}
}

func TestSpans(t *testing.T) {
	t.Parallel()
	text := `a **b ((20240101000000-abcdefg 'd')) *c*** #t/u# [l](u "n") ![i](p.png)`
	want := []markup.Span{
		{Content: "a ", Markdown: "a "},
		{Kind: "strong", Content: "b ", Markdown: "**b "},
		{Kind: "block-ref", Content: "d", Markdown: "((20240101000000-abcdefg 'd'))", Target: "20240101000000-abcdefg", Subtype: "d"},
		{Kind: "strong", Content: " ", Markdown: " "},
		{Kind: "strong em", Content: "c", Markdown: "*c***"},
		{Content: " ", Markdown: " "},
		{Kind: "tag", Content: "t/u", Markdown: "#t/u#"},
		{Content: " ", Markdown: " "},
		{Kind: "a", Content: "l", Markdown: `[l](u "n")`, Target: "u", Title: "n"},
		{Content: " ", Markdown: " "},
		{Kind: "img", Content: "i", Markdown: "![i](p.png)", Target: "p.png"},
	}
	if diff := cmp.Diff(want, markup.Spans(text)); diff != "" {
		t.Errorf("spans (-want +got):\n%s", diff)
	}
	b := &tree.Block{Kind: tree.Paragraph, Text: text}
	if refs := markup.References(b); len(refs) != 1 || refs[0].Target != "20240101000000-abcdefg" {
		t.Errorf("references %+v", refs)
	}
	if diff := cmp.Diff([]string{"#t/u#"}, markup.Tags(text)); diff != "" {
		t.Error(diff)
	}
}

// TestWriteInvertsSpans checks that a text with a single mark becomes one span with the same Markdown.
func TestWriteInvertsSpans(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"plain", "**b**", "*i*", "~~s~~", "==m==", "`c`", "#t#", "[a](b \"c\")", "![a](b)", "$x$", "<kbd>k</kbd>", "<sub>2</sub>",
		"((20240101000000-abcdefg 'd'))", "((20240101000000-abcdefg \"s\"))",
	} {
		spans := markup.Spans(text)
		if len(spans) != 1 || spans[0].Markdown != text {
			t.Errorf("%q has the spans %+v", text, spans)
		}
	}
}

func TestCallout(t *testing.T) {
	t.Parallel()
	for in, marker := range map[string]string{
		"> [!NOTE]\n> x": "NOTE", "> [!TIP] 💡 Own title\n> x": "TIP Own title", "> [!TIP] 🎉 Own title\n> x": "TIP 🎉 Own title",
	} {
		b := markup.Parse(in)[0]
		if b.Kind != tree.Callout || b.Marker != marker {
			t.Errorf("%q is %s %q, expected the marker %q", in, b.Kind, b.Marker, marker)
		}
	}
}

// TestBackslashInTag checks that tags with backslashes survive the way through the DOM of the editor.
func TestBackslashInTag(t *testing.T) {
	t.Parallel()
	for _, text := range []string{`#back\slash#`, `#中\文# #a b\c#`} {
		blocks := markup.ParseDOM(markup.DOM(markup.Parse(text)[0]))
		if len(blocks) != 1 || blocks[0].Text != text {
			t.Errorf("%s became %q", text, blocks[0].Text)
		}
	}
}
