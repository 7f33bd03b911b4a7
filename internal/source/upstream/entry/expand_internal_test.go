package entry

import (
	"errors"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// The value of a variable is not expanded again, and text outside of variables stays.
func TestExpandIsOnePass(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var written, want strings.Builder
		for range rapid.IntRange(0, 6).Draw(t, "parts") {
			switch rapid.IntRange(0, 3).Draw(t, "part") {
			case 0:
				s := rapid.StringMatching(`[a-z{}%:/ ]{0,5}`).Draw(t, "text")
				written.WriteString(s)
				want.WriteString(s)
			case 1:
				written.WriteString("${V}")
				want.WriteString("${W}$${}")
			case 2:
				written.WriteString("$${V}")
				want.WriteString("${V}")
			case 3:
				written.WriteString("$V ")
				want.WriteString("$V ")
			}
		}
		ps, err := expand(written.String(), func(ref string) (piece, error) { return piece{"${W}$${}", variable}, nil })
		if err != nil {
			t.Fatalf("%q: %v", &written, err)
		}
		if got := joinPieces(ps); got != want.String() {
			t.Fatalf("%q gives %q, want %q", written.String(), got, want.String())
		}
	})
}

// For any text, expanding it leaves no placeholder and changes no text that has none.
func FuzzExpand(f *testing.F) {
	for _, s := range []string{"", "${A}", "$${A}", "$$${A}", "${A:-b}", "${", "a}b", "${env:A:-}", "${secret:x}", "${input:y}", "${/}", "$", "${${}}"} {
		f.Add(s)
	}
	o := Options{Dir: "/d", Env: func(n string) (string, bool) { return "<" + n + ">", n != "UNSET" }}
	f.Fuzz(func(t *testing.T, s string) {
		ps, err := expand(s, o.resolve)
		if err != nil {
			if _, ok := errors.AsType[*unsetError](err); !ok && !strings.Contains(err.Error(), "${") {
				t.Fatalf("%q: %v", s, err)
			}
			return
		}
		got := joinPieces(ps)
		if !strings.Contains(s, "${") && got != s {
			t.Fatalf("%q gives %q", s, got)
		}
		if strings.Contains(got, "${") && !strings.Contains(s, "$${") {
			t.Fatalf("a placeholder is left: %q gives %q", s, got)
		}
	})
}
