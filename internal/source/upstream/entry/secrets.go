package entry

import (
	"math"
	"strings"

	"collie/internal/lazyregexp"
)

// tokenShapes matches tokens whose issuers gave them a recognizable form.
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

// LooksSecret reports whether a word has the form of a known token, or is long and as mixed as only random text is.
// It is false for paths, package names and ids made of words.
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

var secretFlag = lazyregexp.New(`(?i)^--?([a-z0-9-]+[-_])?(api-?key|key|token|secret|password|passwd|pass|auth)$`)

// isSecretFlag reports whether the value of a flag is to be masked.
func isSecretFlag(flag string) bool {
	return secretFlag.MatchString(flag)
}
