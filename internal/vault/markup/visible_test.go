package markup_test

import (
	"strings"
	"testing"
	"unicode"

	"pgregory.net/rapid"

	"collie/internal/vault/markup"
	"collie/internal/vault/tree"
)

// splitMarkdown are pieces of text that Markdown dialects read in different ways.
var splitMarkdown = []string{
	"2^10", "3~5", "[^1]", "^x^", "~y~", "~~s~~", "==m==", "#tag", "#tag#", "C#", "((ref))", "((a b))", "{{embed}}", "{: x}", "{:?}", "{x}",
	"<kbd>K</kbd>", "<u>u</u>", "<sup>2</sup>", ":smile:", "12:30:45", "$5", "$6.50", "$x+y$", "$$z$$", "||", "%%", "%%%", "`a|b`", "`<a:b<c>>`", "`((x))`",
	"[l](9)", "[l](((65a1b2c3-0000-4000-8000-00000000abcd)))", "[l]([[p]])", "[[p]]", "[[p|q]]", "![i](9)", "[r][x]", "<https://a.b>", "https://a.b/~c/d^e",
	"&nbsp;", "&lt;", "a\u00a0b", "\u200d", "😄", "　", "中文", "_e_", "__init__", "snake_case_x", "*e*", "**b**", "\\*", "a * b", "-", "--", "+", "1)", "1.", "5. five",
	"@x", "!", "[", "]", "(", ")", "'q'", "\"q\"", "...", "a  b", "<tag>", "</x>", "|", "=", "`", "word", "Two",
}

// starts are beginnings of lines.
var starts = []string{"", "", "", "# ", "- ", "* ", "+ ", "1. ", "7. ", "a) ", "- [ ] ", "- [x] ", "> ", "> > ", "  ", "    ", "\t", "[^1]: ", "[x]: ", "```js x\n", "~~~\n", "- 5. ", "- - ", "| a | b |\n|---|---|\n| ", "<div>", "---\n", ": "}

// notVisible removes tags that are read as marks, and a fence.
var notVisible = strings.NewReplacer("<kbd>", "", "</kbd>", "", "<u>", "", "</u>", "", "<sup>", "", "</sup>", "", "~~~", "")

// visibleLetters returns the letters of a text, and the other characters that no mark is made of. Digits are left out, because lute
// numbers lists anew.
func visibleLetters(text string) string {
	text = notVisible.Replace(text)
	if strings.Contains(text, "#") { // a tag may hold a formula, which is then an element
		text = strings.ReplaceAll(text, "$", "")
	}
	return strings.Map(func(r rune) rune {
		switch {
		case unicode.IsLetter(r), strings.ContainsRune("^~@%$", r), r > 0x7f && !unicode.IsSpace(r):
			return unicode.ToLower(r)
		}
		return -1
	}, text)
}

// drawForeignText draws Markdown as people and other programs may write it.
func drawForeignText(rt *rapid.T) string {
	var out strings.Builder
	for range rapid.IntRange(1, 5).Draw(rt, "lines") {
		out.WriteString(rapid.SampledFrom(starts).Draw(rt, "start"))
		out.WriteString(strings.Join(rapid.SliceOfN(rapid.SampledFrom(splitMarkdown), 1, 5).Draw(rt, "pieces"), rapid.SampledFrom([]string{" ", ""}).Draw(rt, "gap")))
		out.WriteString(rapid.SampledFrom([]string{"\n", "\n\n", "  \n", "\\\n"}).Draw(rt, "end"))
	}
	return out.String()
}

// TestForeignTextKeepsWhatIsVisible parses random text of these pieces. No visible character may be lost, and the blocks must
// stay the same when they are written and read once more.
func TestForeignTextKeepsWhatIsVisible(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		text := drawForeignText(rt)
		root := &tree.Block{Kind: tree.Doc, Children: markup.Parse(text)}
		kept := markup.Export(root)
		want, have := visibleLetters(text), visibleLetters(kept)
		at := 0
		for _, r := range want {
			next := strings.IndexRune(have[at:], r)
			if next < 0 {
				rt.Fatalf("%q\nis kept as\n%q\nwithout %q", text, kept, r)
			}
			at += next + len(string(r))
		}
		first := identifyAll(markup.Parse(text))
		written := markup.Kramdown(first)
		second := identifyAll(markup.Parse(written))
		if again := markup.Kramdown(second); again != written {
			rt.Fatalf("%q\nis written as\n%q\nand then as\n%q", text, written, again)
		}
	})
}
