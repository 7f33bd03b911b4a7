package system

import (
	"net/url"
	"strings"
	"unicode"

	"collie/internal/lazyregexp"
)

const hidden = "[REDACTED]"

// secretEnds are the ends of keys whose values are hidden, in lower case without
// punctuation, in the singular.
var secretEnds = []string{
	"apikey", "accesstoken", "refreshtoken", "sessiontoken", "bearertoken", "token", "secret", "clientsecret", "password",
	"passwd", "cookie", "authorization", "credential", "privatekey", "jwt", "ticket", "assertion",
	"samlresponse", "oauthverifier",
	// SiYuan's own: the code of the lock screen, keys of the data repository and of locked
	// notebooks, cloud accounts, what was signed in to.
	"accessauthcode", "cookiekey", "repokey", "userdata", "accesskey", "secretkey", "salt", "verifier", "nonce", "oauth",
	"passphrase", "pwd",
}

// secretNames are keys that are secret where nothing else stands in them.
var secretNames = map[string]bool{
	"key": true,
	"env": true, "header": true, "arg": true, // of the servers that SiYuan's own assistant uses
}

// secret reports whether the value of a key must not be shown.
func secret(key string) bool {
	plain := strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return unicode.ToLower(r)
		}
		return -1
	}, key)
	one := strings.TrimSuffix(plain, "s")
	if secretNames[plain] || secretNames[one] {
		return true
	}
	for _, end := range secretEnds {
		if strings.HasSuffix(plain, end) || strings.HasSuffix(one, end) {
			return true
		}
	}
	return false
}

// user matches the name and password before the host of an address.
var user = lazyregexp.New(`(://)[^/?#\s]*@|^[^/?#@\s:]*:[^/?#\s]*@`)

// parameter matches a parameter of an address with its value.
var parameter = lazyregexp.New(`([?&;#])([^=?&;#\s]+)=([^&;#\s]+)`)

// secretParameters are names that a parameter of an address has a secret under, besides those of keys.
var secretParameters = map[string]bool{"auth": true, "code": true, "sig": true, "signature": true, "pass": true}

// address is a text of the configuration without the credentials of an address in it.
func address(text string) string {
	if strings.Contains(text, "=") {
		text = parameter.ReplaceAllStringFunc(text, func(found string) string {
			m := parameter.FindStringSubmatch(found)
			if name, err := url.QueryUnescape(m[2]); err != nil || secret(name) || secretParameters[strings.ToLower(name)] {
				return m[1] + m[2] + "=" + hidden
			}
			return found
		})
	}
	if !strings.Contains(text, "@") {
		return text
	}
	return user.ReplaceAllString(text, "$1"+hidden+"@")
}

// withoutUser is a host without the credentials before an @.
func withoutUser(host string) string {
	if i := strings.LastIndexByte(host, '@'); i >= 0 {
		return host[i+1:]
	}
	return host
}
