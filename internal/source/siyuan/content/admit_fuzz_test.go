package content_test

import (
	"regexp"
	"strings"
	"testing"

	"collie/internal/source/siyuan/access"
	"collie/internal/source/siyuan/action/actiontest"
	"collie/internal/source/siyuan/content"
)

// FuzzAdmit: if nothing may be read, an admitted text has no reference, shows no database and links to no asset.
// Admitting it again changes nothing.
func FuzzAdmit(f *testing.F) {
	const id = "20240101000000-zzzzzzz"
	for _, seed := range []string{
		"((" + id + " 'x'))", "((" + id + "))", `((` + id + ` "((` + id + ` '"))x'))`, "`((" + id + " 'x'))`", "``` \n((" + id + " 'x'))", "&#40;&#40;" + id + " 'x'))",
		`<span data-type="block-ref" data-id="` + id + `" data-subtype="d">x</span>`, `<span a=">" data-type='block-ref' data-id='` + id + `'>`,
		`<div data-type="NodeAttributeView" data-av-id="` + id + `"></div>`, "`data-av-id='" + id + "'`", "[a](assets/x.txt)", "![a](<assets/x (1).txt> 'b')", `<img src="assets/x.png">`,
		"`[a](assets/x.txt)`", "{{//!js x}}", `{: style="background:url(assets/x.png)"}`, "a \u2060 b \\(( " + id, "[a](" + strings.Repeat("(", 40), "((" + id + "\n\n'x'))",
	} {
		f.Add(seed, false)
		f.Add(seed, true)
	}
	kit := actiontest.New(f)
	kit.Notebook("Hidden")
	kit.Default = access.None
	open := regexp.MustCompile(`\(\(\s*` + id)
	shows := regexp.MustCompile(`(?i:[\s"'/]data-(?:av-)?id)\s*=\s*(?:"` + id + `"|'` + id + `'|` + id + `(?:[\s>]|$))`)
	f.Fuzz(func(t *testing.T, text string, dom bool) {
		r := newRequest(t, kit)
		once, _, err := content.Admit(t.Context(), r, content.Written{Data: text, DOM: dom})
		if err != nil {
			return // refused, and not written
		}
		if open.MatchString(once) || shows.MatchString(once) || !dom && strings.Contains(once, "](assets/") {
			t.Errorf("%q becomes %q", text, once)
		}
		again, _, err := content.Admit(t.Context(), r, content.Written{Data: once, DOM: dom})
		if err != nil || again != once {
			t.Errorf("%q becomes %q and then %q, %v", text, once, again, err)
		}
	})
}
