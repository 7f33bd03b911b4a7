package entry

import (
	"regexp"
	"testing"

	"pgregory.net/rapid"
)

// The checks of names and secrets run at each start, so they compare plain text before, or instead of, a regular
// expression. They must agree with the expressions alone: names and flags exactly; every token of a known form looks
// secret, and other words may too.
func TestPlainChecks(t *testing.T) {
	t.Parallel()
	name := regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`)
	words := rapid.OneOf(
		rapid.StringMatching(`[A-Za-z0-9_. /-]{0,70}`),
		rapid.StringMatching(`(sk-|gh[pousr]_|github_pat_|glpat-|xoxb-|AKIA|ASIA|AIza|ya29\.|hf_|npm_|pypi-|eyJ|ntn_|secret_)[A-Za-z0-9_.-]{8,50}`),
		rapid.StringMatching(`--?[a-zA-Z]{0,6}[-_]?([kK]ey|TOKEN|secret|passw(or)?d|pass|auth)s?`),
		rapid.String(),
	)
	rapid.Check(t, func(t *rapid.T) {
		s := words.Draw(t, "word")
		if got, want := validName(s), name.MatchString(s); got != want {
			t.Errorf("validName(%q) = %t", s, got)
		}
		if tokenShapes.MatchString(s) && !LooksSecret(s) {
			t.Errorf("%q has the form of a token, and does not look secret", s)
		}
		if got, want := isSecretFlag(s), secretFlag.MatchString(s); got != want {
			t.Errorf("isSecretFlag(%q) = %t", s, got)
		}
	})
}
