package markup_test

import (
	"fmt"
	"testing"

	"collie/internal/vault/markup"
	"collie/internal/vault/tree"
)

// TestJoinedMarksInTheEditor writes marks that follow each other without a gap as the editor's form, and reads that.
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
		first := identify(markup.Parse(text)).Children
		second := markup.ParseDOM(markup.DOMs(first))
		for name, got := range map[string][]*tree.Block{"read": first, "read from the editor": second} {
			if plain := markup.Content(got[0]); len(got) != 1 || plain != want {
				t.Errorf("%q %s says %q, want %q (it is %q)", text, name, plain, want, got[0].Text)
			}
		}
	}
}

// sy is a .sy file with the given blocks.
func sy(blocks string) []byte {
	return []byte(`{"ID":"20240101000000-rootdoc","Spec":"2","Type":"NodeDocument","Properties":{"id":"20240101000000-rootdoc","title":"T"},"Children":[` + blocks + `]}`)
}

func textOf(content string) string {
	return fmt.Sprintf(`{"Type":"NodeParagraph","Children":[%s]}`, content)
}

// TestTextOfMarksStays reads text marks whose text holds signs of marks, which are escaped only where they would be some.
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
		root, err := markup.ParseSY(sy(textOf(content)))
		if err != nil {
			t.Fatal(err)
		}
		if got := root.Children[0].Text; got != want {
			t.Errorf("%s is %q, want %q", content, got, want)
		}
	}
}
