package kernel_test

import (
	"testing"

	"collie/internal/source/siyuan/kernel"
	"collie/internal/source/siyuan/kernel/kerneltest"
)

// TestContains: a text is found as it is, without wildcards, and in upper and lower case alike.
func TestContains(t *testing.T) {
	t.Parallel()
	c := newClient(t, kerneltest.New(t).URL(), kernel.Options{Token: kerneltest.Token})
	for _, test := range []struct {
		text, part string
		want       bool
	}{
		{"Straße ÜBER алл", "über АЛЛ", true},
		{"a*b?c[d]e", "*B?C[D]", true},
		{"abc", "a*c", false},
		{"abc", "a?c", false},
		{"abc", "[b]", false},
		{"100% _x_ \\ it's", `% _X_ \ IT'S`, true},
		{"100x", "0%", false},
		{"会议 😀", "议 😀", true},
		{"a", "", true},
		{"^]-!", "]-!", true},
	} {
		rows, err := kernel.SQL[struct{ N int }](t.Context(), c, "SELECT 1 AS n WHERE "+kernel.Contains(kernel.Quote(test.text), test.part)+" LIMIT 1")
		if err != nil || len(rows) == 1 != test.want {
			t.Errorf("%q in %q: %d rows, %v", test.part, test.text, len(rows), err)
		}
	}
}
