package sqlguard_test

import (
	"strings"
	"testing"

	"collie/internal/sqlguard"
)

// TestWords: invalid expressions of full text search are refused; a kernel gives no hits for them and no error.
func TestWords(t *testing.T) {
	t.Parallel()
	for _, right := range []string{
		"apple", "apple pie", "apple AND pie", "apple NOT pie", "app*", `"apple pie"`, `"a-b"`, "NEAR(apple pie, 2)", "content:apple", "tag:fruit",
		"{content tag}:apple", "^apple", "apple + pie", "苹果 OR banana", "🍎", "a_b", `"it's"`, "(a OR b) AND c",
	} {
		if err := sqlguard.Words(right); err != nil {
			t.Errorf("%s: %v", right, err)
		}
	}
	for wrong, want := range map[string]string{
		"a-b": `no such column: b`, "a.b": `near "."`, "apple OR": "at its end", "AND apple": `near "AND"`, "(apple": "", "apple)": "", "a:b": "no such column: a",
		`"apple`: "unterminated string", "it's": `near "'"`, "apple, pie": `near ","`, "100%": `near "%"`, "#fruit#": `near "#"`, "NOT apple": `near "NOT"`,
	} {
		err := sqlguard.Words(wrong)
		if err == nil {
			t.Errorf("%s: no error", wrong)
			continue
		}
		r := mustBeRefused(t, err)
		if !strings.Contains(r.Message, want) || !strings.Contains(r.Hint, "double quotes") || strings.Contains(r.Message, "sqlite:") {
			t.Errorf("%s: %q, %q; want %q", wrong, r.Message, r.Hint, want)
		}
	}
}
