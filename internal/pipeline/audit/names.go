package audit

import "bytes"

// This file recognizes secrets by the name of their field, such as password.

// secretWords mark a name as that of a secret, wherever they occur in it. Names are compared in lower case
// and without punctuation, so that api_key, API-Key and apiKey are the same.
var secretWords = [][]byte{
	[]byte("password"), []byte("passwd"), []byte("passphrase"), []byte("passcode"), []byte("secret"),
	[]byte("token"), []byte("apikey"), []byte("accesskey"), []byte("privatekey"), []byte("signingkey"),
	[]byte("encryptionkey"), []byte("sessionkey"), []byte("credential"), []byte("authorization"), []byte("cookie"),
}

// maxName is how many bytes of a name are looked at, from its end, where the noun usually is.
const maxName = 128

// isSecretName reports whether a field of this name holds a secret.
func isSecretName(name []byte) bool {
	var buf [maxName]byte
	plain := plainName(buf[:0], name)
	switch string(plain) {
	case "auth", "pwd", "jwt", "otp", "bearer":
		return true
	}
	if bytes.HasSuffix(plain, []byte("pwd")) {
		return true
	}
	for _, w := range secretWords {
		if bytes.Contains(plain, w) {
			return true
		}
	}
	return false
}

// countsTokens reports whether a number with this name is a count and not a secret.
func countsTokens(name []byte) bool {
	var buf [maxName]byte
	return bytes.Contains(plainName(buf[:0], name), []byte("tokens"))
}

func plainName(b, name []byte) []byte {
	for _, c := range name[max(0, len(name)-maxName):] {
		switch {
		case c >= 'A' && c <= 'Z':
			b = append(b, c|0x20)
		case alnum[c] || c >= 0x80:
			b = append(b, c)
		}
	}
	return b
}

// findAssignedSecret finds the value in `password=value`, `"password": "value"` and `Authorization: value`. i is the
// index of the = or : sign.
func findAssignedSecret(s []byte, i int) span {
	end := i
	for end > 0 && (s[end-1] == ' ' || isQuote(s[end-1])) {
		end--
	}
	start := end
	for start > 0 && end-start < maxName && dashed[s[start-1]] {
		start--
	}
	if end-start < 3 || !isSecretName(s[start:end]) {
		return span{}
	}
	from := i + 1
	for from < len(s) && (s[from] == ' ' || s[from] == '\t') {
		from++
	}
	to := valueEndAt(s, from, isHeader(s[start:end]))
	if plain := s[from:to]; len(plain) == 0 || countsTokens(s[start:end]) && isNumber(plain) {
		return span{}
	}
	return span{from, to}
}

// valueEndAt returns the end of the value that starts at i: the closing quote if the value is quoted, the end of
// the line for a header, else the first byte that ends a word.
func valueEndAt(s []byte, i int, wholeLine bool) int {
	open := i
	for open < len(s) && s[open] == '\\' {
		open++
	}
	if open < len(s) && (s[open] == '"' || s[open] == '\'') {
		return quoteEnd(s, open, open-i)
	}
	stop := []byte(" \t\r\n&,;\"'<>)]}")
	if wholeLine {
		stop = []byte("\r\n\"")
	}
	for i < len(s) {
		switch {
		case wholeLine && quotedPartEnd(s, open, i) > i:
			i = quotedPartEnd(s, open, i)
		case bytes.IndexByte(stop, s[i]) >= 0:
			return i
		default:
			i++
		}
	}
	return i
}

// quotedPartEnd returns the index after a part in quotes of a header's value, such as realm="x", whose first quote is at i; 0 if no
// part begins there. A quote behind = that nothing follows closes what is around the header. from is where the value begins.
func quotedPartEnd(s []byte, from, i int) int {
	depth := 0
	for i-depth > from && s[i-depth-1] == '\\' {
		depth++
	}
	if s[i] != '"' || i-depth <= from || s[i-depth-1] != '=' || i+1 == len(s) || bytes.IndexByte([]byte(" \t\r\n,;)]}"), s[i+1]) >= 0 {
		return 0
	}
	end := quoteEnd(s, i, depth)
	if s[end-1] != '"' || end == i+1 || bytes.ContainsAny(s[i:end], "\r\n") {
		return 0 // it does not close on this line
	}
	return end
}

// quoteEnd returns the index after the quote that closes the one at open. depth is the number of backslashes before that
// one, since it may be in an escaped text. A quote after more of them does not close.
func quoteEnd(s []byte, open, depth int) int {
	backslashes := 0
	for i := open + 1; i < len(s); i++ {
		switch {
		case s[i] == '\\':
			backslashes++
			continue
		case s[i] == s[open] && backslashes <= depth:
			return i + 1
		}
		backslashes = 0
	}
	return len(s)
}

// isHeader reports whether name is an HTTP header whose value has several words.
func isHeader(name []byte) bool {
	return hasSuffixFold(name, "authorization") || hasSuffixFold(name, "cookie")
}

func isNumber(s []byte) bool { return classEnd(s, 0, numerals) == len(s) }

func isQuote(c byte) bool { return c == '"' || c == '\'' || c == '\\' }
