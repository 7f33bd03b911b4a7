package content_test

import (
	"strings"
	"testing"

	"collie/internal/source/siyuan/content"
	"collie/internal/source/siyuan/kernel"
)

// TestRenewIDs: blocks get new ids in every form in which the kernel takes an id from a text.
func TestRenewIDs(t *testing.T) {
	t.Parallel()
	const id = "20240101000000-abcdefg"
	for _, text := range []string{
		`p` + "\n" + `{: id="` + id + `"}`, `- {: id="` + id + `" updated="20240101000000"}a`, `{: custom-a="{x}" id="` + id + `"}`,
		`{: custom-a="}" id='` + id + `' }`, `{: id=` + id + `}`, `{: id=x` + id + `x}`, "{:\tid=\"" + id + `"}`, `> {: a='"' id="` + id + `"}`,
		"```\n{: id=\"" + id + "\"}\n```", "`{: id=\"" + id + "\"}`", `{: id="bad"}`, `{: id=bad}`, `{: id=""}`, `{: id="2024010100000&#48;-abcdefg"}`,
		"a\n\n{:\nid=\"" + id + `"}`, "{: a=\"}\n\" id=\"" + id + `"}`, "{:\fid=\"" + id + `"}`, "{:\vid=\"" + id + `"}`, "{: a=\"b\"\rid=\"" + id + `"}`,
	} {
		got := content.RenewIDs(text, nil)
		n := strings.Index(got, `id="`)
		if n < 0 || strings.Contains(got, id) || !kernel.ID(got[n+4:n+26]).Valid() || got[n+26] != '"' {
			t.Errorf("%s becomes %s", text, got)
		}
		if again := content.RenewIDs(text, map[kernel.ID]bool{id: true}); strings.Contains(text, `"`+id+`"`) && again != text {
			t.Errorf("%s, whose id is to be kept, becomes %s", text, again)
		}
	}
	for _, text := range []string{"{: id=\n\"" + id + `"}`, "{: id\n=\"" + id + `"}`, "{: id=\"" + id + "\n\"}"} {
		if got := content.RenewIDs(text, nil); strings.Contains(got, id) || strings.Contains(got, "\n") {
			t.Errorf("%q becomes %q, want a new id on one line", text, got)
		}
	}
	for _, text := range []string{
		"", `id="` + id + `"`, "```\n{: id=\"x\"}\n```", "a `{: id=\"x\"}` b", "$$\n{: id=1}\n$$", `<div id="x">`, `{: custom-id="x"}`,
		"`{:\nid=1}`", "**a**{: style=\"x\"} <a id=\"top\">",
	} {
		if got := content.RenewIDs(text, nil); got != text {
			t.Errorf("%s becomes %s", text, got)
		}
	}
}

// FuzzRenewIDs: no id of the text remains, unless it is to be kept.
func FuzzRenewIDs(f *testing.F) {
	for _, seed := range []string{
		"a\n{: id=\"20240101000000-abcdefg\"}", "- {: id='20240101000000-abcdefg'}a", "```\n{: id=\"x\"}", "{:\nid=20240101000000-abcdefg}",
		"`{: id=\"x\"}\n` {: custom-a=\"}\" id=\"20240101000000-abcdefg\"}",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, markdown string) {
		before := content.Attributes(markdown)
		keep := map[kernel.ID]bool{}
		for id := range before {
			keep[id] = true
		}
		for id := range content.Attributes(content.RenewIDs(markdown, nil)) {
			if keep[id] {
				t.Fatalf("%q keeps %s", markdown, id)
			}
		}
		after := content.Attributes(content.RenewIDs(markdown, keep))
		for id := range keep {
			if after[id] == nil {
				t.Fatalf("%q loses %s", markdown, id)
			}
		}
	})
}
