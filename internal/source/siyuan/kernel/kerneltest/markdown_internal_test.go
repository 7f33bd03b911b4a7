package kerneltest

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

const rich = "# 标题\n\ntext **bold** ((20240101000000-abcdefg 'anchor')) #tag#\n{: id=\"20240101000000-aaaaaaa\" custom-x=\"1\"}\n\n" +
	"- a\n  - b\n\n    second paragraph\n- [x] done\n\n1. one\n2. two\n\n> quote\n>\n> - in quote\n\n> [!NOTE]\n> callout\n\n" +
	"```go\ncode\n\n- no list\n```\n\n$$\nx\n$$\n\n| a | b |\n|---|:-:|\n| 1 | 2 |\n\n---\n\n{{{col\nleft\n\nright\n}}}\n\n" +
	"{{ select * from blocks }}\n\n<div data-type=\"NodeAttributeView\" data-av-id=\"20240101000000-bbbbbbb\" data-av-type=\"table\"></div>\n\n<iframe src=\"https://example.com\"></iframe>\n\nlast"

func TestParseMarkdownKinds(t *testing.T) {
	t.Parallel()
	var kinds []string
	for _, b := range parseMarkdown(rich) {
		kinds = append(kinds, b.kind)
	}
	want := []string{"h", "p", "l", "l", "b", "callout", "c", "m", "t", "tb", "s", "query_embed", "av", "iframe", "p"}
	if diff := cmp.Diff(want, kinds); diff != "" {
		t.Error(diff)
	}
}

// TestKramdownRoundTrip checks that what a document is read back as makes the same document again, ids included.
func TestKramdownRoundTrip(t *testing.T) {
	t.Parallel()
	parts := strings.Split(rich, "\n\n")
	rapid.Check(t, func(rt *rapid.T) {
		picked := rapid.SliceOfN(rapid.SampledFrom(parts), 0, 8).Draw(rt, "parts")
		k := &Kernel{workspace: newWorkspace()}
		first := &block{kind: kindDocument, attrs: map[string]string{"type": "doc"}}
		first.insertAt(0, k.identify(parseMarkdown(strings.Join(picked, "\n\n")))...)
		want := kramdownOf(first)

		again := &Kernel{workspace: newWorkspace()}
		second := &block{kind: kindDocument, attrs: map[string]string{"type": "doc"}}
		second.insertAt(0, again.identify(parseMarkdown(want))...)
		if diff := cmp.Diff(want, kramdownOf(second)); diff != "" {
			rt.Errorf("read back as another document (-first +second):\n%s", diff)
		}
	})
}

func FuzzParseMarkdown(f *testing.F) {
	f.Add(rich)
	f.Add("{{{\n}}}\n}}}")
	f.Add("- \n  - \n{: id=\"x\"}")
	f.Add(">\n> [!NOTE]")
	f.Add("|\n|-|")
	f.Fuzz(func(t *testing.T, text string) {
		k := &Kernel{workspace: newWorkspace()}
		root := &block{kind: kindDocument, attrs: map[string]string{}}
		root.insertAt(0, k.identify(parseMarkdown(text))...)
		_ = kramdownOf(root)
		root.walk(func(b *block) {
			_, _, _ = contentOf(b), domOf(b, 1), newSyNode(b)
			if b != root && !validID(b.id) {
				t.Errorf("block %q has the id %q", b.text, b.id)
			}
		})
	})
}

func FuzzParseDOM(f *testing.F) {
	f.Add(`<div data-node-id="20240101000000-abcdefg" data-type="NodeParagraph"><div contenteditable="true">a <strong>b</strong><br></div></div>`)
	f.Add(`<div data-type="NodeList"><div data-type="NodeListItem"></div></div>`)
	f.Add("plain < text & more")
	f.Fuzz(func(t *testing.T, text string) {
		if blocks := parseDOM(text); len(blocks) == 0 {
			t.Error("no block")
		}
	})
}

func TestDOMRoundTrip(t *testing.T) {
	t.Parallel()
	k := &Kernel{workspace: newWorkspace()}
	for _, b := range k.identify(parseMarkdown(rich)) {
		switch b.kind {
		case kindTable, kindCallout: // the DOM of these is only sketched
			continue
		}
		back := parseDOM(domOf(b, 1))
		if len(back) != 1 || back[0].kind != b.kind || markdownOf(back[0]) != markdownOf(b) {
			t.Errorf("%q came back as %q", markdownOf(b), markdownOf(back[0]))
		}
	}
}

func FuzzSplitSQL(f *testing.F) {
	f.Add("select 1; select 2")
	f.Add("select ';' -- ;\n limit 3")
	f.Fuzz(func(t *testing.T, text string) {
		for _, part := range splitSQL(text) {
			if strings.TrimSpace(part) == "" {
				t.Error("an empty statement")
			}
			hasLimit(part)
			firstWordIn(part, "select")
		}
	})
}
