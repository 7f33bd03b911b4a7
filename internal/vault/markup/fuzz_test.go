package markup_test

import (
	"os"
	"strings"
	"testing"

	"collie/internal/vault/markup"
	"collie/internal/vault/tree"
)

// passThroughAll passes blocks through all functions of the package that take blocks. It panics if their .sy file cannot be read.
func passThroughAll(blocks []*tree.Block) {
	root := identifyAll(blocks)
	_, _, _ = markup.Kramdown(root), markup.Textmark(root), markup.Export(root)
	root.Walk(func(b *tree.Block) {
		_, _, _ = markup.Content(b), markup.FirstContent(b), markup.Markdown(b)
		_, _ = markup.References(b), markup.Tags(b.Text)
	})
	_ = markup.DOMs(root.Children)
	if _, err := markup.ParseSY(markup.SY(&tree.Document{Root: root})); err != nil {
		panic(err)
	}
}

func FuzzParse(f *testing.F) {
	f.Add(strings.Join(fragments, ""))
	f.Add(strings.Join(fragments, "\n\n"))
	f.Add("{{{\n}}}\n}}}")
	f.Add("- \n  - \n{: id=\"x\"}")
	f.Add(">\n> [!NOTE]")
	f.Add("|\n|-|")
	f.Fuzz(func(t *testing.T, text string) {
		blocks := markup.Parse(text)
		if len(blocks) == 0 && strings.ContainsFunc(text, func(r rune) bool { return r > ' ' && r < 0x7f }) && !strings.Contains(text, "{:") {
			t.Errorf("%q is not a block", text)
		}
		passThroughAll(blocks)
	})
}

func FuzzParseDOM(f *testing.F) {
	f.Add(`<div data-node-id="20240101000000-abcdefg" data-type="NodeParagraph"><div contenteditable="true">a <strong>b</strong><br></div></div>`)
	f.Add(`<div data-type="NodeList"><div data-type="NodeListItem"></div></div>`)
	f.Add(markup.DOMs(identifyAll(markup.Parse(strings.Join(fragments, "\n\n"))).Children))
	f.Add("plain < text & more")
	f.Fuzz(func(t *testing.T, text string) {
		blocks := markup.ParseDOM(text)
		if len(blocks) == 0 {
			t.Error("no block")
		}
		passThroughAll(blocks)
	})
}

func FuzzParseSY(f *testing.F) {
	for _, name := range []string{"rich-document.20261121033340-vec3zyi.sy", "database-document.20261121033340-jnbgzr0.sy"} {
		data, err := os.ReadFile("testdata/" + name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Add([]byte(`{"ID":"20240101000000-abcdefg","Type":"NodeDocument","Children":[{"Type":"NodeTable"},{"Type":"NodeList","Children":[{"Type":"NodeText"}]}]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		if root, err := markup.ParseSY(data); err == nil {
			passThroughAll(root.Children)
		}
	})
}

func FuzzSpans(f *testing.F) {
	f.Add(strings.Join(inlines, " "))
	f.Fuzz(func(t *testing.T, text string) {
		var out strings.Builder
		for _, s := range markup.Spans(text) {
			out.WriteString(s.Markdown)
		}
		if out.String() != text {
			t.Errorf("spans of %q say %q", text, out.String())
		}
		_ = markup.Plain(text)
	})
}
