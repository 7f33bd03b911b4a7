package jsonc_test

import (
	"strings"
	"testing"

	"collie/internal/jsonc"
)

func TestPlain(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		" \n":                            `{}`,
		"{\"b\":1, // 注释\n \"a\":[1,],}": `{"b":1,"a":[1]}`,
		`/* x */ 7`:                      `7`,
		`{"s":"// none, [{ }"}`:          `{"s":"// none, [{ }"}`,
	} {
		raw, err := jsonc.Plain([]byte(text), 4)
		if got := strings.NewReplacer(" ", "", "\n", "").Replace(string(raw)); err != nil || got != strings.ReplaceAll(want, " ", "") {
			t.Errorf("%q is %s, %v; want %s", text, raw, err, want)
		}
	}
	for text, want := range map[string]string{`{"a":`: "not JSON", `[[[[[]]]]]`: "deeper than 4", `{"a":1} 2`: "not JSON"} {
		if raw, err := jsonc.Plain([]byte(text), 4); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q is %s, %v; want an error with %q", text, raw, err, want)
		}
	}
}
