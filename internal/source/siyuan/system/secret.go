package system

import (
	"strings"
	"unicode"
)

const hidden = "[REDACTED]"

// secretEnds are the ends of keys whose values are hidden (1.9), in lower case without
// punctuation.
var secretEnds = []string{
	"apikey", "accesstoken", "refreshtoken", "sessiontoken", "bearertoken", "token", "secret", "clientsecret", "password",
	"passwd", "cookie", "authorization", "credential", "credentials", "privatekey", "jwt", "ticket", "assertion",
	"samlresponse", "oauthverifier",
	// SiYuan's own: the code of the lock screen, the key of the data repository, cloud accounts.
	"accessauthcode", "cookiekey", "repokey", "userdata", "accesskey", "secretkey", "lockscreenpassword",
}

// secret reports whether the value of a key must not be shown.
func secret(key string) bool {
	plain := strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return unicode.ToLower(r)
		}
		return -1
	}, key)
	if plain == "key" {
		return true
	}
	for _, end := range secretEnds {
		if strings.HasSuffix(plain, end) {
			return true
		}
	}
	return false
}

// withoutUser is a host without the credentials before an @.
func withoutUser(host string) string {
	if i := strings.LastIndexByte(host, '@'); i >= 0 {
		return host[i+1:]
	}
	return host
}
