package content

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"collie/internal/source/siyuan/kernel"
)

// withLists expands @a to the attribute list of block a, for the texts of these tests.
func withLists(text string) string {
	for c := byte('a'); c <= 'z'; c++ {
		text = strings.ReplaceAll(text, "@"+string(c), `{: id="20240101000000-`+strings.Repeat(string(c), 7)+`"}`)
	}
	return text
}

// withoutLists writes the attribute lists of blocks as @a again: the reverse of withLists.
func withoutLists(text string) string {
	for c := byte('a'); c <= 'z'; c++ {
		text = strings.ReplaceAll(text, `{: id="20240101000000-`+strings.Repeat(string(c), 7)+`"}`, "@"+string(c))
	}
	return text
}

func TestReplaceKeepsAttributesWhereTheyBelong(t *testing.T) {
	t.Parallel()
	const items = "- @bone\n  @c\n- @dtwo\n  @e\n\n  - @fdeep\n    @g\n  @h\n- @ithree\n  @j\n@a"
	const quote = "> one\n> @b\n>\n> two\n> @c\n>\n@a"
	for name, c := range map[string]struct{ typ, kramdown, old, with, want string }{
		"word":                    {"p", "a word here\n@a", "word", "text", "a text here\n@a"},
		"several lines":           {"p", "a\n@a", "a", "a\n\nb", "a\n\nb\n@a"},
		"over a hidden character": {"p", "`a`\u200b b\n@a", "`a` b", "c", "c\n@a"},
		"item":                    {"l", items, "two", "2", strings.Replace(items, "two", "2", 1)},
		"item with its mark":      {"l", items, "- two", "- 2", strings.Replace(items, "two", "2", 1)},
		"two items":               {"l", items, "- one\n- two", "- 1\n- 2", strings.NewReplacer("one", "1", "two", "2").Replace(items)},
		"item behind":             {"l", items, "- one", "- one\n- new", strings.Replace(items, "  @c\n", "  @c\n- new\n", 1)},
		"item at the end":         {"l", items, "- three", "- three\n- four", strings.Replace(items, "  @j\n", "  @j\n- four\n", 1)},
		"item before":             {"l", items, "- one", "- zero\n- one", "- zero\n" + items},
		"item between":            {"l", items, "- one\n- two", "- one\n- new\n- two", strings.Replace(items, "  @c\n", "  @c\n- new\n", 1)},
		"nested item":             {"l", items, "  - deep", "  - deep\n  - deeper", strings.Replace(items, "    @g\n", "    @g\n  - deeper\n", 1)},
		"item cut in two":         {"l", items, "three", "thr\n- ee", strings.Replace(items, "three\n  @j", "thr\n  @j\n- ee", 1)},
		"item removed":            {"l", items, "- one\n", "", strings.Replace(items, "- @bone\n  @c\n", "", 1)},
		"last item removed":       {"l", items, "\n- three", "", strings.Replace(items, "- @ithree\n  @j\n", "", 1)},
		"soft break in an item":   {"l", items, "three", "three\n  more", strings.Replace(items, "three\n", "three\n  more\n", 1)},
		"paragraph in an item":    {"l", items, "three", "three\n\n  more", strings.Replace(items, "  @j\n", "  @j\n\n  more\n", 1)},
		"text behind a list":      {"l", items, "- three", "- three\n\nend", strings.Replace(items, "  @j\n", "  @j\n\nend\n", 1)},
		"task done":               {"l", "- @b[ ] todo\n  @c\n@a", "- [ ] todo", "- [X] todo", "- @b[X] todo\n  @c\n@a"},
		"quote":                   {"b", quote, "two", "2", strings.Replace(quote, "two", "2", 1)},
		"paragraph in a quote":    {"b", quote, "> one", "> one\n>\n> new", strings.Replace(quote, "> @b\n", "> @b\n>\n> new\n", 1)},
		"word behind a style":     {"p", "**a**{: style=\"x\"} b\n@a", "b", "c", "**a**{: style=\"x\"} c\n@a"},
		"styled word":             {"p", "**red**{: style=\"x\"} b\n@a", "red", "blue", "**blue**{: style=\"x\"} b\n@a"},
		"chinese":                 {"p", "中文文本\n@a", "文本", "內容", "中文內容\n@a"},
		"half a character":        {"l", "- @b中\n  @c\n@a", "- 中", "- 丮", "- @b丮\n  @c\n@a"},
		"no attributes":           {"p", "a b", "b", "c", "a c"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newEditedBlock(kernel.Block{ID: "20240101000000-aaaaaaa", Type: c.typ}, withLists(c.kramdown), nil)
			i := strings.Index(p.text(), c.old)
			if i < 0 {
				t.Fatalf("%q is not in %q", c.old, p.text())
			}
			want := p.text()[:i] + c.with + p.text()[i+len(c.old):]
			if reason := p.replace(i, i+len(c.old), c.with); reason != "" {
				t.Fatalf("refused: %s", reason)
			}
			if diff := cmp.Diff(c.want, withoutLists(p.kramdown())); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
			if p.text() != want {
				t.Errorf("readers see %q, want %q", p.text(), want)
			}
		})
	}
}

func TestReplaceRefusesToTouchAttributes(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		typ, kramdown, old, with string
		want                     editRefusal
	}{
		"styled word and more": {"p", "a **red**{: style=\"x\"} b\n@a", "**red** b", "c", touchesAttributes},
		"item with a name":     {"l", "- @bone\n  @c\n- {: id=\"20240101000000-ddddddd\" name=\"n\"}two\n  @e\n@a", "\n- two", "", losesAttributes},
	} {
		p := newEditedBlock(kernel.Block{ID: "20240101000000-aaaaaaa", Type: c.typ}, withLists(c.kramdown), nil)
		i := strings.Index(p.text(), c.old)
		if got := p.replace(i, i+len(c.old), c.with); got != c.want {
			t.Errorf("%s: got %q, want %q", name, got, c.want)
		}
	}
}

func TestNewEditedBlockKnowsComplexBlocksInside(t *testing.T) {
	t.Parallel()
	for want, kramdown := range map[string]string{
		"av":          "> a\n> @b\n>\n> <div data-type=\"NodeAttributeView\" data-av-id=\"20240101000000-zzzzzzz\"></div>\n> @c\n>\n@a",
		"iframe":      "- @b<iframe src=\"x\"></iframe>\n\n  @c\n@a",
		"query_embed": "- @b{{select * from blocks}}\n  @c\n@a",
		"s":           "> {{{row\n> a\n> @b\n>\n> }}}\n> @c\n@a",
		"html":        "- @b<div>x</div>\n  @c\n@a",
		"":            "- @b```html\n  <div>x</div>\n  {{{row\n  ```\n  @c\n- @dtext <div> {{x}}\n  @e\n@a",
	} {
		if p := newEditedBlock(kernel.Block{ID: "20240101000000-aaaaaaa", Type: "l"}, withLists(kramdown), nil); p.skipped != want {
			t.Errorf("%q: got %q, want %q", kramdown, p.skipped, want)
		}
	}
}

// checkReplace: an edit either is refused, or readers see exactly its result and every block still shown keeps its
// attributes.
func checkReplace(t interface{ Fatalf(string, ...any) }, kramdown string, i, j int, with string) {
	p := newEditedBlock(kernel.Block{ID: "20240101000000-aaaaaaa", Type: "l"}, kramdown, nil)
	text := p.text()
	if text == "" {
		return
	}
	i, j = i%len(text), j%len(text)
	if i > j {
		i, j = j, i
	}
	want := text[:i] + with + text[j+1:]
	before := Attributes(kramdown)
	if reason := p.replace(i, j+1, with); reason != "" {
		return
	}
	if strings.TrimRight(p.text(), " \t\n>") != strings.TrimRight(Clean(want), " \t\n>") {
		t.Fatalf("%q: readers see %q, want %q", kramdown, p.text(), want)
	}
	for id, attrs := range Attributes(p.kramdown()) {
		old, known := before[id]
		if len(outsideCode(with, anyList)) > 0 || strings.Contains(with, "`") || strings.Contains(text, "`") {
			continue // code has begun or ended elsewhere
		}
		if !known || !cmp.Equal(old, attrs) {
			t.Fatalf("%q: block %s has %v, had %v", kramdown, id, attrs, old)
		}
	}
}

func TestReplaceAnything(t *testing.T) {
	t.Parallel()
	const items = "- @bone\n  @c\n- @dtwo **x**{: style=\"s\"} y\n  @e\n\n  - @fdeep 深\n    @g\n  @h\n- @ithree\n  @j\n\n  more\n  @k\n@a"
	rapid.Check(t, func(t *rapid.T) {
		kramdown := withLists(rapid.SampledFrom([]string{items, "> one\n> @b\n>\n> two\n> @c\n>\n@a", "a\nb\n@a"}).Draw(t, "kramdown"))
		with := strings.Join(rapid.SliceOfN(rapid.SampledFrom([]string{"x", "文", "\n", "- ", "  ", "\n\n", "> ", "one", "two"}), 0, 6).Draw(t, "with"), "")
		checkReplace(t, kramdown, rapid.IntRange(0, 200).Draw(t, "i"), rapid.IntRange(0, 200).Draw(t, "j"), with)
	})
}

func FuzzReplace(f *testing.F) {
	f.Add("- {: id=\"20240101000000-bbbbbbb\"}one\n  {: id=\"20240101000000-ccccccc\"}\n{: id=\"20240101000000-aaaaaaa\"}", uint16(2), uint16(4), "x\n- y")
	f.Add("> a\n> {: a=\"b\"}\n>\n{: id=\"20240101000000-aaaaaaa\"}", uint16(0), uint16(3), "")
	f.Add("`a\u200b`{: s=\"t\"}\n\nb", uint16(1), uint16(2), "\n")
	f.Fuzz(func(t *testing.T, kramdown string, i, j uint16, with string) {
		p := newEditedBlock(kernel.Block{ID: "20240101000000-aaaaaaa", Type: "l"}, kramdown, nil)
		text := p.text()
		if text == "" {
			return
		}
		from, to := int(i)%len(text), int(j)%len(text)
		if from > to {
			from, to = to, from
		}
		want := text[:from] + with + text[to+1:]
		if reason := p.replace(from, to+1, with); reason == "" &&
			strings.TrimRight(p.text(), " \t\n>") != strings.TrimRight(Clean(want), " \t\n>") {
			t.Fatalf("readers see %q, want %q", p.text(), want)
		}
	})
}
