package content

import (
	"strings"
	"testing"
	"unicode/utf8"
)

// TestProtectCode: what the kernel would remove from inline code is protected, and nothing else changes.
func TestProtectCode(t *testing.T) {
	t.Parallel()
	const ref = "((20240101000000-abcdefg 'x'))"
	for _, text := range []string{
		"`|" + ref + "`", "a `b\n|" + ref + "` c", "> a `b\n> |" + ref + "` c", "`|<b>x</b>`", "``|<KBD>``", "|`", "`|<br />` `|<img src=\"x\">`",
		"`|<a@b.c>`", "`|<sub>|<sup>`", "- a `|<i>`", "| `|<u>` | `|<s>` |",
		ref, "<b>x</b>", "a `x\ny` " + ref + " `w", "- a `x\n- " + ref + " ` y", "a `\n\n" + ref + " `", "# a `\n" + ref + " `",
		"```\n<b> `<b>`\n```", "\\`<b>\\`", "`<T>` `<div>` `<b x>` `a<b` `</b>` `<http://x.y>` `a@b.c`", "| ` |\n| <b> ` |", "> a `\n\n<b> `",
	} {
		given := strings.NewReplacer("|((", "((", "|<", "<").Replace(text)
		want := strings.NewReplacer("|((", "((\u200b", "|<", "<\u200b").Replace(text)
		if got := ProtectCode(given); got != want {
			t.Errorf("%q becomes %q, want %q", given, got, want)
		}
	}
}

// TestProtectCodeInALongLine: the time for a line full of things to protect is linear in its length.
func TestProtectCodeInALongLine(t *testing.T) {
	t.Parallel()
	text := strings.Repeat("`((20240101000000-abcdefg))` ", 100_000)
	if got := ProtectCode(text); strings.Count(got, "\u200b") != 100_000 {
		t.Errorf("%d are guarded", strings.Count(got, "\u200b"))
	}
}

func FuzzGuarded(f *testing.F) {
	for _, seed := range []string{
		"`((20240101000000-abcdefg))`", "a `b\n((20240101000000-abcdefg 'c'))` `<b>", "> `x\n> y` <kbd> `<kbd>`", "```\n`<b>`\n```\n`<b>`", "\\``<a@b.c>`",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, markdown string) {
		if !utf8.ValidString(markdown) { // an argument is JSON
			return
		}
		got := ProtectCode(markdown)
		if Clean(got) != Clean(markdown) {
			t.Fatalf("%q becomes %q", markdown, got)
		}
		if again := ProtectCode(got); again != got {
			t.Fatalf("%q becomes %q and then %q", markdown, got, again)
		}
		for _, m := range outsideCode(got, interpretedInCode) {
			if !strings.Contains(markdown, got[m[0]:m[1]]) {
				t.Fatalf("%q becomes %q, changed outside code", markdown, got)
			}
		}
		if a, b := len(outsideCode(markdown, interpretedInCode)), len(outsideCode(got, interpretedInCode)); a != b {
			t.Fatalf("%q: %d references and tags outside code become %d", markdown, a, b)
		}
	})
}
