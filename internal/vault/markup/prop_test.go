package markup_test

import (
	"strings"
	"testing"
	"unicode"

	"collie/internal/vault/markup"
	"collie/internal/vault/tree"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"
)

// sameBlocks are options for cmp that leave out the links of blocks to parents and documents, and what is known of their storage.
var sameBlocks = cmp.Options{
	cmp.FilterPath(func(p cmp.Path) bool { return p.Last().String() == ".Parent" }, cmp.Ignore()),
	cmpopts.IgnoreFields(tree.Block{}, "Parent", "Doc", "Stored"), cmpopts.EquateEmpty(),
}

// identifyAll puts blocks in a document and gives each an id, as the vault does when it stores them.
func identifyAll(blocks []*tree.Block) *tree.Block {
	root := &tree.Block{Kind: tree.Doc, ID: "20240101000000-rootdoc", Attrs: map[string]string{
		"id": "20240101000000-rootdoc", "title": "T", "type": "doc",
	}}
	root.Insert(0, blocks...)
	n := 0
	root.Walk(func(b *tree.Block) {
		if b.Attrs == nil {
			b.Attrs = map[string]string{}
		}
		if n++; b != root {
			b.ID = "20240101" + sixDigits(n) + "-abcdefg"
			b.Attrs["id"] = b.ID
		}
	})
	return root
}

// sixDigits returns a number with leading zeros.
func sixDigits(n int) string {
	digits := []byte("000000")
	for i := len(digits) - 1; n > 0 && i >= 0; i-- {
		digits[i], n = byte('0'+n%10), n/10
	}
	return string(digits)
}

// fragments are pieces of Markdown that tests join to texts, valid or not.
var fragments = []string{
	"text", " ", "\n", "\n\n", "**b**", "*i*", "__u__", "_e_", "`c`", "``c`d``", "~~s~~", "==m==", "x^2^", "H~2~O", "#tag#", "#",
	"[a](b)", "[a\\]b](c \"t\")", "![i](u.png)", "![i](a b.png \"t\"){: style=\"width: 3px\"}", "((20240101000000-abcdefg 'd'))",
	"((20240101000000-abcdefg \"s\"))", "((20240101000000-abcdefg))", "$x<y$", "$$\nx\n$$\n", "<kbd>K</kbd>", "<u>u</u>",
	"**x**{: style=\"color:red\"}", "&amp;", "&lt;b&gt;", "\\*", "\\", ":smile:", "<br>", "<https://x.y>", "http://x.y",
	"# ", "## ", "- ", "  - ", "    - ", "1. ", "2) ", "- [ ] ", "- [x] ", "> ", "> > ", "> [!NOTE]\n> ", "> [!TIP] 💡 Own title\n> ",
	"```go\n", "```\n", "---\n", "|a|b|\n|-|:-:|\n|1|2|\n", "|", "{{{row\n", "{{{col\n", "}}}\n", "{{select 1}}", "<div>x</div>\n",
	"<iframe src=\"x\"></iframe>\n", "{: id=\"20240101000000-zzzzzzz\" custom-x=\"1\"}\n", "中文，", "“引”", "😄", "(", ")", "*", "_", "**", "!", "[", "]", "'", "\"",
	"\t", "<", ">", "&", "^", "~", "=", "$", "`", "{", "}", ":", "‸", "\u200b", "\r\n", "[^1]", "[^1]: note", "+ ", "* ", "***x***", "**a *b* c**",
	"<div data-type=\"NodeAttributeView\" data-av-id=\"20240101000000-bbbbbbb\" data-av-type=\"table\"></div>\n", "<span data-type=\"strong em\">se</span>",
	"<span data-type=\"text\">st</span>{: style=\"color:red\"}", "<span data-type=\"inline-memo\" data-inline-memo-content=\"m\">w</span>",
}

// lettersOf returns the letters of a text, without all other characters.
func lettersOf(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) {
			return r
		}
		return -1
	}, text)
}

// inlines are pieces of inline Markdown of which drawDocument makes lines.
var inlines = []string{
	"text", "two words", "**b**", "*i*", "__u__", "`c`", "``c`d``", "~~s~~", "==m==", "x^2^", "H~2~O", "#tag#", "C#", "[a](b)", "[a\\]b](c \"t\")",
	"![i](u.png)", "![i](a b.png \"t\"){: style=\"width: 3px\"}", "((20240101000000-abcdefg 'd'))", "((20240101000000-abcdefg \"s\"))", "$x<y$",
	"<kbd>K</kbd>", "<u>u</u>", "**x**{: style=\"color:red\"}", "&amp;", "&lt;b&gt;", "\\*", "2 * 3", "a_b_c", ":smile:", "a<br>b", "<https://x.y>",
	"http://x.y/z_a", "one\ntwo", "one  \ntwo", "中文，", "“引”", "😄", "(a)", "***x***", "**a *b* c**", "a\u2038b", "[^1]", "1. x", "{x}", "$5 and 6", "a | b",
	"<span data-type=\"strong em\">se</span>", "<span data-type=\"text\">st</span>{: style=\"color:red\"}", "<b>x</b>", "- x", "+ x", "> x",
	"<span data-type=\"inline-memo\" data-inline-memo-content=\"m\">w</span>", "**（括）**", "~a~", "a ** b", "`", "[x", "![", "((", "((a))", "<<a>>",
}

// drawDocument draws Markdown with blocks of all kinds, nested up to depth.
func drawDocument(rt *rapid.T, depth int) string {
	var parts []string
	kinds := []string{"p", "p", "h", "c", "m", "t", "tb", "html", "embed", "av", "iframe"}
	if depth > 0 {
		kinds = append(kinds, "l", "o", "task", "b", "s", "callout", "l", "b")
	}
	for range rapid.IntRange(1, 4).Draw(rt, "blocks") {
		line := strings.Join(rapid.SliceOfN(rapid.SampledFrom(inlines), 1, 4).Draw(rt, "line"), rapid.SampledFrom([]string{" ", ""}).Draw(rt, "gap"))
		inner := func(head, pad string) string {
			text := line
			if rapid.Bool().Draw(rt, "more") {
				text += "\n\n" + drawDocument(rt, depth-1)
			}
			return head + strings.ReplaceAll(text, "\n", "\n"+pad)
		}
		switch rapid.SampledFrom(kinds).Draw(rt, "kind") {
		case "p":
			parts = append(parts, line)
		case "h":
			parts = append(parts, "## "+strings.ReplaceAll(line, "\n", " "))
		case "c":
			parts = append(parts, "```go\nfunc x() {\n\n- a }\n```")
		case "m":
			parts = append(parts, "$$\nx^2\n$$")
		case "t":
			cell := strings.ReplaceAll(strings.ReplaceAll(line, "\n", " "), "|", "\\|")
			parts = append(parts, "|a|"+cell+"|\n|-|:-:|\n|"+cell+"|2|")
		case "tb":
			parts = append(parts, "---")
		case "html":
			parts = append(parts, "<div>x</div>")
		case "embed":
			parts = append(parts, "{{select * from blocks}}")
		case "av":
			parts = append(parts, `<div data-type="NodeAttributeView" data-av-id="20240101000000-bbbbbbb" data-av-type="table"></div>`)
		case "iframe":
			parts = append(parts, `<iframe src="x"></iframe>`)
		case "l":
			parts = append(parts, inner("- ", "  ")+"\n"+inner("- ", "  "))
		case "o":
			parts = append(parts, inner("1. ", "   ")+"\n"+inner("2. ", "   "))
		case "task":
			parts = append(parts, inner("- [ ] ", "  ")+"\n"+inner("- [x] ", "  "))
		case "b":
			parts = append(parts, inner("> ", "> "))
		case "callout":
			parts = append(parts, inner("> [!TIP] 💡 Own title\n> ", "> "))
		case "s":
			parts = append(parts, "{{{col\n"+inner("", "")+"\n\n"+line+"\n\n}}}")
		}
	}
	return strings.Join(parts, "\n\n")
}

func TestParseKramdownIsTheSame(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		text := drawDocument(rt, 2)
		first := identifyAll(markup.Parse(text))
		kramdown := markup.Kramdown(first)
		second := markup.Parse(kramdown)
		if diff := cmp.Diff(first.Children, second, sameBlocks); diff != "" {
			rt.Fatalf("%q\n%s\nis read as another document (-written +read):\n%s\n%s", text, kramdown, diff, kramdown)
		}
	})
}

func TestSpansAreTheText(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		text := strings.Join(rapid.SliceOfN(rapid.SampledFrom(fragments), 0, 14).Draw(rt, "text"), "")
		var out strings.Builder
		for _, s := range markup.Spans(text) {
			out.WriteString(s.Markdown)
		}
		if out.String() != text {
			rt.Fatalf("spans of %q say %q", text, out.String())
		}
	})
}

func TestDOMRoundTrip(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		text := drawDocument(rt, 2)
		first := identifyAll(markup.Parse(text))
		if strings.Contains(text, "#") {
			return // in the editor's DOM a tag is separated from the text behind it
		}
		if strings.Contains(text, "****") {
			return // where one emphasis ends and the next begins may be read in more than one way
		}
		if strings.Contains(text, "$") && strings.Contains(text, "&") {
			return // the editor's form does not tell an entity within a formula from the character
		}
		for _, link := range inlines {
			if strings.Contains("[<", link[:1]) && strings.Contains(text, link+link) {
				return // the editor joins neighbouring links to the same place, which shows the same
			}
		}
		dom := markup.DOMs(first.Children)
		second := markup.ParseDOM(dom)
		if diff := cmp.Diff(listBlocks(first.Children), listBlocks(second)); diff != "" {
			rt.Fatalf("%q\n%s\nis read as another document (-written +read):\n%s", text, dom, diff)
		}
	})
}

func TestSYRoundTrip(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		text := drawDocument(rt, 2)
		first := identifyAll(markup.Parse(text))
		if strings.Contains(text, "C#") {
			return // a tag around other marks becomes several tags
		}
		file := markup.SY(&tree.Document{Root: first})
		second, err := markup.ReadSY(file, func(id, why string) {
			if !strings.Contains(text, "****") { // see TestDOMRoundTrip
				rt.Errorf("%q\n%s\nis said to be altered: %s: %s", text, file, id, why)
			}
		})
		if err != nil {
			rt.Fatal(err)
		}
		if diff := cmp.Diff(listBlocks(first.Children), listBlocks(second.Children)); diff != "" {
			rt.Fatalf("%q\n%s\nis read as another document (-written +read):\n%s", text, file, diff)
		}
	})
}

func TestParseLosesNothing(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		text := strings.Join(rapid.SliceOfN(rapid.SampledFrom(fragments), 0, 14).Filter(func(list []string) bool {
			return !strings.Contains(strings.Join(list, ""), "{:") && !strings.Contains(strings.Join(list, ""), "<") && !strings.Contains(strings.Join(list, ""), ":smile:")
		}).Draw(rt, "text"), "")
		blocks := markup.Parse(text)
		kept := strings.ToLower(markup.Export(&tree.Block{Kind: tree.Doc, Children: blocks}))
		at := 0
		for _, r := range strings.ToLower(lettersOf(text)) {
			next := strings.IndexRune(kept[at:], r)
			if next < 0 {
				rt.Fatalf("%q\nis read as %q\nwhich lost something at %q", text, kept, kept[at:])
			}
			at += next + 1
		}
	})
}

// listBlocks returns the kind, id and text of each block, without blanks.
func listBlocks(blocks []*tree.Block) []string {
	var found []string
	for _, top := range blocks {
		top.Walk(func(b *tree.Block) {
			found = append(found, b.Kind+" "+b.ID+" "+strings.Join(strings.Fields(markup.Content(b)), ""))
		})
	}
	return found
}

// TestAttributesStay writes an attribute of a block as Markdown and as a file, and reads it back. Its values have the
// characters that are escaped, and the texts that stand for escaped ones.
func TestAttributesStay(t *testing.T) {
	t.Parallel()
	parts := []string{"_esc_newline_", "_", "esc_newline_", "_esc_newline", "a\nb", "&", "&amp;", "&#95;", "&quot;", `"`, "{", "}", "<", ">", "a b", "=", "文"}
	rapid.Check(t, func(rt *rapid.T) {
		want := "x" + strings.Join(rapid.SliceOfN(rapid.SampledFrom(parts), 0, 4).Draw(rt, "value"), "") + "x"
		root := identifyAll(markup.Parse("text"))
		root.Children[0].Attrs["custom-a"] = want
		read, err := markup.ParseSY(markup.SY(&tree.Document{Root: root, Box: &tree.Notebook{}}))
		if err != nil {
			rt.Fatal(err)
		}
		for as, got := range map[string]*tree.Block{
			"Markdown": markup.Parse(markup.Kramdown(root.Children[0]))[0],
			"a file":   read.Children[0],
		} {
			if got.Attrs["custom-a"] != want {
				rt.Errorf("written as %s, %q is %q", as, want, got.Attrs["custom-a"])
			}
		}
	})
}
