package block

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestToItems(t *testing.T) {
	t.Parallel()
	bullet, third, task := itemMarker{number: -1}, itemMarker{number: 3, close: '.'}, itemMarker{number: -1, box: "[ ]"}
	for _, c := range []struct {
		name, text string
		m          itemMarker
		want       string
	}{
		{"text", "one 一", bullet, "- one 一"},
		{"several blocks are one item", "one\n\ntwo", bullet, "- one\n\n  two"},
		{"as the list is numbered", "one\n\n```\n- x\n```", third, "3. one\n\n   ```\n   - x\n   ```"},
		{"as the list has tasks", "do it\nsoon", task, "- [ ] do it\n  soon"},
		{"a line is not an item", "---", bullet, "* ---"},
		{"nothing", "", bullet, "- "},
		{"a list stays", "- a\n\n  b\n- c", bullet, "- a\n\n  b\n- c"},
		{"markers change, and what is in items moves", "* a\n  - b\n\n  c\n* d", third, "3. a\n   - b\n\n   c\n4. d"},
		{"numbers go", "9. a\n   b\n10. c\n    d", bullet, "- a\n  b\n- c\n  d"},
		{"a number grows", "- a\n  b\n- c\n  d", itemMarker{number: 9, close: ')'}, "9) a\n   b\n10) c\n    d"},
		{"boxes stay", "- [x] a\n- b", task, "- [x] a\n- [ ] b"},
		{"code is not a list", "- a\n  ```\n- b\n  ```\n- c", third, "3. a\n   ```\n - b\n   ```\n4. c"},
		{"attributes are of the list", "- {: id=\"x\"}a\n  {: id=\"y\"}\n{: id=\"z\"}", bullet, "- {: id=\"x\"}a\n  {: id=\"y\"}\n{: id=\"z\"}"},
		{"a line goes on", "- a\nb", bullet, "- a\nb"},
	} {
		got, ok := toItems(c.text, c.m)
		if diff := cmp.Diff(c.want, got); diff != "" || !ok {
			t.Errorf("%s: ok %v (-want +got):\n%s", c.name, ok, diff)
		}
	}
	for _, text := range []string{"- a\n\nb", "- a\n# b", "1. a\n> b", "- a\n- b\n```\nc\n```", "- a\n***"} {
		if got, ok := toItems(text, bullet); ok {
			t.Errorf("%q has a block beside its list, and became %q", text, got)
		}
	}
}

func TestFirstAndLastMarker(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"- {: id=\"x\"}a\n  {: id=\"y\"}\n- {: id=\"z\"}[X] b": "- -[X]",
		"9. {: id=\"x\"}a\n   1. {: id=\"n\"}n\n10) b":         "9. 10)",
		"* a":      "- -",
		"text":     "- -",
		"0  {: }a": "- -",
	} {
		from, to, _ := firstAndLastMarker(text)
		if got := from.String() + from.box + " " + to.String() + to.box; got != want {
			t.Errorf("%q: %s, want %s", text, got, want)
		}
	}
}

// For any text, the result has all its letters in the same order and begins with an item.
func TestToItemsLosesNothing(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		lines := rapid.SliceOf(rapid.SampledFrom([]string{"", "a", "- b", "  - c", "1. d", "  e", "```", "# f", "> g", "\t- h", "- [ ] i", "---", "   j"})).Draw(t, "lines")
		text := strings.Join(lines, "\n")
		m := rapid.SampledFrom([]itemMarker{{number: -1}, {number: 7, close: '.'}, {number: -1, box: "[X]"}}).Draw(t, "marker")
		got, ok := toItems(text, m)
		if !ok {
			return
		}
		letters := func(s string) string {
			return strings.Map(func(r rune) rune {
				if r >= 'a' && r <= 'z' || r == '`' || r == '>' || r == '#' {
					return r
				}
				return -1
			}, s)
		}
		if letters(got) != letters(text) {
			t.Fatalf("%q became %q", text, got)
		}
		if countItems(got) == 0 {
			t.Fatalf("%q became %q, which is not a list", text, got)
		}
	})
}

func FuzzToItems(f *testing.F) {
	f.Add("- a\n\n  b\n1. c", 3)
	f.Add("text\n```\n", -1)
	f.Fuzz(func(t *testing.T, text string, number int) {
		m := itemMarker{number: max(-1, min(number, 999_999_999)), close: '.'}
		if got, ok := toItems(text, m); ok && strings.Count(got, "\n") > strings.Count(text, "\n") {
			t.Errorf("%q became %q, which has more lines", text, got)
		}
	})
}
