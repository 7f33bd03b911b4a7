package markup_test

import (
	"fmt"
	"strings"
	"testing"

	"collie/internal/vault/markup"
	"collie/internal/vault/tree"
)

// TestJoinedMarksInTheEditor writes marks that follow each other without a gap as the DOM of the editor, and reads it back.
func TestJoinedMarksInTheEditor(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"~~s~~~a~~~s~~":                       "s~a~s",
		"__u__&lt;b&gt;__u__":                 "u__<b>__u",
		`&amp;\*<<a>>`:                        "&*<<a>>",
		"&amp;![i](u.png)&lt;b&gt;":           "&i u.png <b>",
		"[^1]((a))":                           "^1 (a)",
		"**a ![i](u.png) b**":                 "a i u.png  b",
		"[a](b?c=1&d=2)&amp;&lt;kbd&gt;**x**": "a b?c=1&d=2&<kbd>x",
	} {
		first := identifyAll(markup.Parse(text)).Children
		second := markup.ParseDOM(markup.DOMs(first))
		for name, got := range map[string][]*tree.Block{"read": first, "read from the editor": second} {
			if len(got) != 1 {
				t.Errorf("%q %s is %d blocks", text, name, len(got))
				continue
			}
			if plain := markup.Content(got[0]); plain != want {
				t.Errorf("%q %s says %q, want %q (it is %q)", text, name, plain, want, got[0].Text)
			}
		}
	}
}

// syFile returns a .sy file with the given blocks, in JSON.
func syFile(blocks string) []byte {
	return []byte(`{"ID":"20240101000000-rootdoc","Spec":"2","Type":"NodeDocument","Properties":{"id":"20240101000000-rootdoc","title":"T"},"Children":[` + blocks + `]}`)
}

// syParagraph returns a paragraph of a .sy file, in JSON. content are the nodes in it.
func syParagraph(content string) string {
	return fmt.Sprintf(`{"Type":"NodeParagraph","Children":[%s]}`, content)
}

// TestTextOfMarksStays reads text marks whose text contains characters of Markdown marks. These are escaped only where they would
// act as marks.
func TestTextOfMarksStays(t *testing.T) {
	t.Parallel()
	for content, want := range map[string]string{
		`{"Type":"NodeTextMark","TextMarkType":"a","TextMarkAHref":"x","TextMarkTextContent":"a_b"}`:     "[a_b](x)",
		`{"Type":"NodeTextMark","TextMarkType":"a","TextMarkAHref":"x","TextMarkTextContent":"a_b_c"}`:   "[a_b_c](x)",
		`{"Type":"NodeTextMark","TextMarkType":"a","TextMarkAHref":"x","TextMarkTextContent":"2 * 3^4"}`: "[2 * 3^4](x)",
		`{"Type":"NodeTextMark","TextMarkType":"a","TextMarkAHref":"x","TextMarkTextContent":"*a*"}`:     `[\*a\*](x)`,
		`{"Type":"NodeTextMark","TextMarkType":"strong","TextMarkTextContent":"snake_case"}`:             "**snake_case**",
		`{"Type":"NodeTextMark","TextMarkType":"tag","TextMarkTextContent":"a_b"}`:                       "#a_b#",
	} {
		root, err := markup.ReadSY(syFile(syParagraph(content)), func(id, why string) { t.Errorf("%s: %s", content, why) })
		if err != nil {
			t.Fatal(err)
		}
		if got := root.Children[0].Text; got != want {
			t.Errorf("%s is %q, want %q", content, got, want)
		}
	}
}

// TestKindOfCallout checks that kinds of callouts may contain spaces, in Markdown, in .sy files and in the DOM of the editor.
func TestKindOfCallout(t *testing.T) {
	t.Parallel()
	for text, kind := range map[string]string{
		"> [!kind two words] A title\n> text": "kind two words", "> [!kind two words]\n> text": "kind two words",
		"> [!NOTE] A title\n> text": "NOTE", "> [![x] y\n> text": "[x", "> [!two words] 💡 A title\n> text": "two words",
	} {
		first := identifyAll(markup.Parse(text))
		file, err := markup.ReadSY(markup.SY(&tree.Document{Root: first}), func(_, why string) { t.Errorf("%q: %s", text, why) })
		if err != nil {
			t.Fatal(err)
		}
		for name, blocks := range map[string][]*tree.Block{
			"": first.Children, "as kramdown": markup.Parse(markup.Kramdown(first)), "in a file": file.Children,
			"from the editor": markup.ParseDOM(markup.DOMs(first.Children)),
		} {
			if len(blocks) != 1 {
				t.Errorf("%q %s is %d blocks", text, name, len(blocks))
				continue
			}
			if blocks[0].Kind != tree.Callout || blocks[0].Subtype() != kind || markup.Markdown(blocks[0]) != text {
				t.Errorf("%q %s is a %s of the kind %q: %q", text, name, blocks[0].Kind, blocks[0].Subtype(), markup.Markdown(blocks[0]))
			}
		}
	}
}

// TestAlteredBlocksAreTold reads .sy files with blocks that the vault cannot hold. Their text is kept, and each altered block is
// reported.
func TestAlteredBlocksAreTold(t *testing.T) {
	t.Parallel()
	const deep = 210
	for name, tt := range map[string]struct {
		blocks string
		told   int
	}{
		"deep":                          {strings.Repeat(`{"Type":"NodeBlockquote","Children":[`, deep) + syParagraph(`{"Type":"NodeText","Data":"kept"}`) + strings.Repeat("]}", deep), 11},
		"a container that there is not": {`{"Type":"NodeFootnotesDef","ID":"20240101000001-aaaaaaa","Children":[` + syParagraph(`{"Type":"NodeText","Data":"kept"}`) + `]}`, 1},
		"a leaf that there is not":      {`{"Type":"NodeYamlFrontMatter","Data":"kept","ID":"20240101000001-aaaaaaa"}`, 1},
		"a kind with a bracket":         {`{"Type":"NodeCallout","CalloutType":"a]b","CalloutTitle":"kept","Children":[` + syParagraph(`{"Type":"NodeText","Data":"x"}`) + `]}`, 1},
		"a name of an attribute":        {`{"Type":"NodeParagraph","ID":"20240101000001-aaaaaaa","Properties":{"数据":"x"},"Children":[{"Type":"NodeText","Data":"kept"}]}`, 1},
		"nothing":                       {syParagraph(`{"Type":"NodeText","Data":"kept **as** it_is"}`), 0},
	} {
		told := 0
		root, err := markup.ReadSY(syFile(tt.blocks), func(_, why string) { told++; t.Log(name, why) })
		if err != nil {
			t.Fatal(err)
		}
		if told != tt.told || !strings.Contains(markup.Export(root), "kept") {
			t.Errorf("%s: %d blocks are told of, want %d: %.300q", name, told, tt.told, markup.Export(root))
		}
	}
}
