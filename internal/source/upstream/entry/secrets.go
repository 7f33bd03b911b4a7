package entry

import (
	"math"
	"slices"
	"strings"

	"collie/internal/lazyregexp"
)

// This file recognizes secrets in the texts of an entry by their form, and flags whose value is a secret by their name.

// tokenHeads are the beginnings of the tokens that tokenShapes matches.
var tokenHeads = []string{
	"sk-", "gh", "glpat-", "xox", "AKIA", "ASIA", "AIza", "ya29.", "hf_", "npm_", "pypi-", "eyJ", "ntn_", "secret_",
}

// tokenShapes matches tokens whose issuers gave them a recognizable form. It is compiled for words with a fitting head.
var tokenShapes = lazyregexp.New(`^(` + strings.Join([]string{
	`sk-[A-Za-z0-9_-]{20,}`,                                      // model providers
	`gh[pousr]_[A-Za-z0-9]{30,}`, `github_pat_[A-Za-z0-9_]{30,}`, // GitHub
	`glpat-[A-Za-z0-9_-]{20,}`,
	`xox[abeoprs]-[A-Za-z0-9-]{10,}`, // Slack
	`(AKIA|ASIA)[A-Z0-9]{16}`,        // AWS
	`AIza[A-Za-z0-9_-]{35}`,          // Google
	`ya29\.[A-Za-z0-9_-]{20,}`,
	`hf_[A-Za-z0-9]{30,}`, `npm_[A-Za-z0-9]{36}`, `pypi-[A-Za-z0-9_-]{30,}`,
	`eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]*`, // JSON Web Token
	`ntn_[A-Za-z0-9]{30,}`, `secret_[A-Za-z0-9]{30,}`, // Notion
}, "|") + `)$`)

// Random text of secretLength characters or more, letters and digits mixed, is taken for a secret. The bounds keep paths,
// package names and ids made of words out; secretEntropy is in bits per character, and words of a language stay below it.
const (
	secretLength  = 32
	secretDigits  = 4
	secretLetters = 4
	secretEntropy = 3.4
)

// LooksSecret reports whether a word has the form of a known token, or is long and as mixed as only random text is.
// It is false for paths, package names and ids made of words.
func LooksSecret(word string) bool {
	known := func(head string) bool { return strings.HasPrefix(word, head) }
	if slices.ContainsFunc(tokenHeads, known) && tokenShapes.MatchString(word) || strings.HasPrefix(word, "-----BEGIN ") {
		return true
	}
	if len(word) < secretLength || !consistsOf(word, nameChars+"+/=") || strings.Count(word, "/") > 1 {
		return false
	}
	digits, letters := 0, 0
	for _, r := range word {
		switch {
		case '0' <= r && r <= '9':
			digits++
		case r >= 'A':
			letters++
		}
	}
	return digits >= secretDigits && letters >= secretLetters && entropy(word) >= secretEntropy && !isUUID(word)
}

// entropy returns Shannon's entropy in bits per character.
func entropy(s string) float64 {
	var count [256]float64
	for i := range len(s) {
		count[s[i]]++
	}
	sum := 0.0
	for _, n := range count {
		if n > 0 {
			sum -= n / float64(len(s)) * math.Log2(n/float64(len(s)))
		}
	}
	return sum
}

// isUUID reports whether s is a UUID: long and random too, but not a secret.
func isUUID(s string) bool {
	return len(s) == 36 && s[8] == '-' && s[13] == '-' && s[18] == '-' && s[23] == '-'
}

// secretEnds are the endings of the flags that secretFlag matches, in lower case.
var secretEnds = []string{"key", "token", "secret", "password", "passwd", "pass", "auth"}

var secretFlag = lazyregexp.New(`(?i)^--?([a-z0-9-]+[-_])?(api-?key|key|token|secret|password|passwd|pass|auth)$`)

// isSecretFlag reports whether the value of a flag is to be masked.
func isSecretFlag(flag string) bool {
	if !strings.HasPrefix(flag, "-") {
		return false
	}
	lower := strings.ToLower(flag)
	fits := func(end string) bool { return strings.HasSuffix(lower, end) }
	return slices.ContainsFunc(secretEnds, fits) && secretFlag.MatchString(flag)
}
