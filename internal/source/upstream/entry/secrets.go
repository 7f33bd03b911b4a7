package entry

import (
	"math"
	"strings"

	"collie/internal/lazyregexp"
)

// tokenShapes are the shapes of tokens that their issuers made recognizable.
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

var tokenAlphabet = lazyregexp.New(`^[A-Za-z0-9_+/=-]{32,}$`)

// LooksSecret reports whether a word is a token by its shape, or is long and as mixed as only
// random text is. Paths, package names and ids made of words are not.
func LooksSecret(word string) bool {
	if tokenShapes.MatchString(word) || strings.HasPrefix(word, "-----BEGIN ") {
		return true
	}
	if !tokenAlphabet.MatchString(word) || strings.Count(word, "/") > 1 {
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
	return digits >= 4 && letters >= 4 && entropy(word) >= 3.4 && !isUUID(word)
}

// entropy is Shannon's, in bits a character.
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

// isUUID tells ids, which are long and random as well, from secrets.
func isUUID(s string) bool {
	return len(s) == 36 && s[8] == '-' && s[13] == '-' && s[18] == '-' && s[23] == '-'
}

var secretFlag = lazyregexp.New(`(?i)^--?([a-z0-9-]+[-_])?(api-?key|key|token|secret|password|passwd|pass|auth)$`)

// isSecretFlag reports whether what follows a flag is not for everybody's eyes.
func isSecretFlag(flag string) bool {
	return secretFlag.MatchString(flag)
}
