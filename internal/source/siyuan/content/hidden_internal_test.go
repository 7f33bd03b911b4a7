package content

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestVisible(t *testing.T) {
	t.Parallel()
	const id = `{: id="20240101000000-aaaaaaa" updated="20240101000000"}`
	for name, c := range map[string]struct{ kramdown, want string }{
		"paragraph":       {"text\n" + id, "text"},
		"order of names":  {"text\n{: updated=\"20240101000000\" id=\"20240101000000-aaaaaaa\"}", "text"},
		"empty paragraph": {id, ""},
		"two blocks":      {"# a\n" + id + "\n\nb\n" + id, "# a\n\nb"},
		"list":            {"- " + id + "one\n  " + id + "\n\n  - " + id + "deep\n    " + id + "\n  " + id + "\n" + id, "- one\n\n  - deep"},
		"task":            {"- " + id + "[ ] todo 待办\n  " + id + "\n" + id, "- [ ] todo 待办"},
		"quote":           {"> a\n> " + id + "\n>\n> b\n> " + id + "\n>\n" + id, "> a\n>\n> b"},
		"quote and text":  {"> a\n> " + id + "\n>\n" + id + "\n\nb\n" + id, "> a\n\nb"},
		"page and text":   {"<iframe src=\"x\"></iframe>\n\n" + id + "\n\nb\n" + id, "<iframe src=\"x\"></iframe>\n\nb"},
		"empty between":   {"a\n" + id + "\n\n" + id + "\n\nb\n" + id, "a\n\n\n\nb"},
		"empty in quote":  {"> a\n> " + id + "\n>\n> " + id + "\n>\n> b\n> " + id + "\n>\n" + id, "> a\n>\n>\n>\n> b"},
		"empty first":     {id + "\n\nb\n" + id, "\n\nb"},
		"page":            {"<iframe src=\"https://example.com\"></iframe>\n\n" + id, `<iframe src="https://example.com"></iframe>`},
		"code":            {"```md\n{: id=\"20240101000000-bbbbbbb\"}\n```\n" + id, "```md\n{: id=\"20240101000000-bbbbbbb\"}\n```"},
		"tildes in code":  {"~~~\n```\n" + id + "\n~~~\n" + id, "~~~\n```\n" + id + "\n~~~"},
		"formula":         {"$$\n{: id=\"x\"}\n$$\n" + id, "$$\n{: id=\"x\"}\n$$"},
		"formula in line": {"$$a$$ b\n" + id, "$$a$$ b"},
		"code in list":    {"- " + id + "```\n  {: a=\"b\"}\n  ```\n  " + id + "\n" + id, "- ```\n  {: a=\"b\"}\n  ```"},
		"inline code":     {"use `{: a=\"b\"}` and ``x ` {: a=\"b\"}`` so\n" + id, "use `{: a=\"b\"}` and ``x ` {: a=\"b\"}`` so"},
		"style of words":  {"a **red**{: style=\"color: red;\"} word\n" + id, "a **red** word"},
		"no width":        {"`very`\u200b useful \ufeff#tag#\u200b\n" + id, "`very` useful #tag#"},
		"no list":         {"{: } {:} {: a=b} {a=\"b\"} \\{: a=\"b\"}", "{: } {:} {: a=b} {a=\"b\"} \\{: a=\"b\"}"},
		"escaped values":  {"x\n{: custom-q=\"a &quot;q&quot;_esc_newline_&#123;: x&#125;\" id=\"20240101000000-aaaaaaa\"}", "x"},
		"ends in >":       {"a >\n" + id, "a >"},
		"document":        {"a\n" + id + "\n\n{: id=\"20240101000000-aaaaaaa\" title=\"T\" type=\"doc\"}", "a"},
		"super block":     {"{{{row\na\n" + id + "\n\nb\n" + id + "\n\n}}}\n" + id, "{{{row\na\n\nb\n\n}}}"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(c.want, Visible(c.kramdown)); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

func TestAttributesReadsEveryBlock(t *testing.T) {
	t.Parallel()
	got := Attributes("- {: id=\"20240101000000-aaaaaaa\" name=\"n &amp; m\"}one\n  {: id=\"20240101000000-bbbbbbb\"}\n" +
		"{: id=\"20240101000000-ccccccc\" custom-q=\"a &quot;b&quot;_esc_newline_c\"}\n\n`{: id=\"20240101000000-ddddddd\"}`")
	want := map[string]map[string]string{
		"20240101000000-aaaaaaa": {"id": "20240101000000-aaaaaaa", "name": "n & m"},
		"20240101000000-bbbbbbb": {"id": "20240101000000-bbbbbbb"},
		"20240101000000-ccccccc": {"id": "20240101000000-ccccccc", "custom-q": "a \"b\"\nc"},
	}
	have := map[string]map[string]string{}
	for id, attrs := range got {
		have[string(id)] = attrs
	}
	if diff := cmp.Diff(want, have); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestStateHashIgnoresTimesAndOrderOfAttributes(t *testing.T) {
	t.Parallel()
	hash := func(kramdown string) string {
		return StateHash(Saved{ID: "20240101000000-aaaaaaa", Kramdown: kramdown})
	}
	base := hash("a\n{: id=\"20240101000000-aaaaaaa\" name=\"n\" updated=\"20240101000000\"}")
	if !strings.HasPrefix(base, "sha256:v1:") || len(base) != len("sha256:v1:")+64 {
		t.Errorf("hash %q has another form", base)
	}
	if same := hash("a\n{: updated=\"20250101000000\" name=\"n\" id=\"20240101000000-aaaaaaa\"}\n"); same != base {
		t.Error("the time of a change, or the order of attributes, changes the hash")
	}
	for _, other := range []string{
		"b\n{: id=\"20240101000000-aaaaaaa\" name=\"n\"}", "a\n{: id=\"20240101000000-aaaaaaa\" name=\"m\"}", "a\n{: id=\"20240101000000-aaaaaaa\"}", "",
		"`updated=\"1\"`\n{: id=\"20240101000000-aaaaaaa\" name=\"n\"}",
	} {
		if hash(other) == base {
			t.Errorf("%q has the same hash", other)
		}
	}
	if hash("`{: updated=\"1\"}`") == hash("`{: updated=\"2\"}`") {
		t.Error("code that looks like attributes does not count")
	}
}

// checkView fails unless the text of a view corresponds to its raw text.
func checkView(t interface{ Fatalf(string, ...any) }, raw string) {
	v := viewOf(raw, nil)
	if v.text != Visible(raw) || len(v.offsets) != len(v.text)+1 {
		t.Fatalf("the view of %q is %q with %d offsets", raw, v.text, len(v.offsets))
	}
	for i := range len(v.text) {
		if raw[v.offsets[i]] != v.text[i] || i > 0 && v.offsets[i] <= v.offsets[i-1] {
			t.Fatalf("byte %d of the view of %q is not where it says", i, raw)
		}
	}
	at := 0
	for _, s := range v.spans {
		if s.from < at || s.to < s.from || s.to > len(raw) {
			t.Fatalf("spans of %q overlap: %v", raw, v.spans)
		}
		at = s.to
	}
}

func TestViewKeepsOffsets(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		parts := rapid.SliceOf(rapid.SampledFrom([]string{
			"text", "中文", "\n", "\n\n", "- ", "> ", "  ", "```", "`", "$$", "{: a=\"b\"}", "{: id=\"20240101000000-aaaaaaa\"}", "\u200b", "\\", "{", "}", "{{{", "#", "|",
		})).Draw(t, "parts")
		checkView(t, strings.Join(parts, ""))
	})
}

func FuzzVisible(f *testing.F) {
	for _, seed := range []string{
		"text\n{: id=\"20240101000000-aaaaaaa\"}", "- {: id=\"x\"}a\n  {: id=\"y\"}\n{: id=\"z\"}", "```\n{: a=\"b\"}", "> a\n> {: a=\"b\"}\n>\n{: a=\"b\"}",
		"`{: a=\"b\"}\u200b", "{: a=\"b\"}{: c=\"d\"}", "\n\n{: a=\"b\"}", "\xff\u200b\xfe",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, raw string) {
		checkView(t, raw)
		_ = canonicalForm(raw)
		_ = Attributes(raw)
		if joined := strings.Join(splitTopLevel(raw), ""); len(joined) > len(raw) {
			t.Fatalf("the blocks of %q are longer than it is", raw)
		}
	})
}

func TestTopLevel(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		text string
		want []string
	}{
		"one paragraph":         {"a\nb", []string{"a\nb"}},
		"two":                   {"a\n\nb", []string{"a", "b"}},
		"heading and text":      {"# a\nb", []string{"# a", "b"}},
		"list under text":       {"a\n- b\n\n- c", []string{"a", "- b\n\n- c"}},
		"list and text":         {"- a\n\n  more\n\ntext", []string{"- a\n\n  more", "text"}},
		"two kinds of list":     {"- a\n\n1. b", []string{"- a", "1. b"}},
		"code with blank lines": {"```\na\n\n# b\n```", []string{"```\na\n\n# b\n```"}},
		"code in a list":        {"- ```\n  a\n\n  b\n  ```\n- c", []string{"- ```\n  a\n\n  b\n  ```\n- c"}},
		"quote":                 {"> a\n>\n> b\nc\n\nd", []string{"> a\n>\n> b\nc", "d"}},
		"super block":           {"{{{row\na\n\n{{{col\nb\n\n}}}\n\n}}}\n\nc", []string{"{{{row\na\n\n{{{col\nb\n\n}}}\n\n}}}", "c"}},
		"table":                 {"|a|\n|-|\n|b|\n\nc", []string{"|a|\n|-|\n|b|", "c"}},
		"formula":               {"$$\na\n\nb\n$$\nc", []string{"$$\na\n\nb\n$$", "c"}},
		"attributes":            {"a\n{: id=\"x\"}\n\nb", []string{"a\n{: id=\"x\"}", "b"}},
		"nothing":               {"\n \n", nil},
		"inline code":           {"```a``` b\nc", []string{"```a``` b\nc"}},
	} {
		if diff := cmp.Diff(c.want, splitTopLevel(c.text)); diff != "" {
			t.Errorf("%s: -want +got:\n%s", name, diff)
		}
	}
}
