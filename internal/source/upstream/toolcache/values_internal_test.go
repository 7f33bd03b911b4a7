package toolcache

import (
	"regexp"
	"testing"

	"pgregory.net/rapid"
)

// Values are checked by plain comparisons because that happens at each start. They must agree with these regular
// expressions.
func TestPlainChecks(t *testing.T) {
	t.Parallel()
	for what, c := range map[string]struct {
		check      func(string) bool
		expression string
	}{
		"isServerName": {isServerName, `^[A-Za-z0-9_-]+$`},
		"isWord":       {isWord, `^[a-z][a-zA-Z0-9_]{0,63}$`},
		"isVersion":    {isVersion, `^\d+\.\d+\.\d+$`},
	} {
		is := regexp.MustCompile(c.expression)
		words := rapid.OneOf(rapid.StringMatching(`[a-zA-Z0-9_.é-]{0,70}`), rapid.StringMatching(`[0-9.]{0,9}`), rapid.String())
		rapid.Check(t, func(t *rapid.T) {
			if s := words.Draw(t, "word"); c.check(s) != is.MatchString(s) {
				t.Errorf("%s(%q) = %t", what, s, c.check(s))
			}
		})
	}
}
