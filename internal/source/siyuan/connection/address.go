package connection

import (
	"errors"
	"fmt"
	"net"
	"net/url"
	"strings"
)

// Proposed is the address that "collie siyuan init" proposes. It is only used after a person has agreed: a port is
// never guessed.
const Proposed = "http://127.0.0.1:6806"

// Address checks the address of a kernel and returns it without trailing slashes.
func Address(s string) (string, error) {
	s = strings.TrimSpace(s)
	if _, _, err := net.SplitHostPort(s); err == nil && !strings.Contains(s, "/") {
		return "", fmt.Errorf("it has no http:// or https:// before it; write http://%s", s)
	}
	u, err := url.Parse(s)
	switch {
	case err != nil:
		// The error of url.Parse would quote the text, which may contain secrets.
		return "", errors.New("it is not a URL; write one such as " + Proposed)
	case u.Scheme != "http" && u.Scheme != "https":
		return "", errors.New("expected a URL that begins with http:// or https://, such as " + Proposed)
	case u.Hostname() == "":
		return "", errors.New("the URL names no host; write one such as " + Proposed)
	case u.User != nil:
		return "", errors.New("the URL must not contain a name or password; the token has its own field")
	case u.RawQuery != "" || u.ForceQuery || u.Fragment != "":
		return "", errors.New("expected a URL without ? and #; the token has a field of its own")
	}
	return strings.TrimRight(s, "/"), nil
}

// sameAddress reports whether two results of [Address] are the same place, judged by their text. Names are not looked
// up.
func sameAddress(a, b string) bool {
	return plainAddress(a) == plainAddress(b)
}

func plainAddress(s string) string {
	u, err := url.Parse(s)
	if err != nil {
		return s
	}
	port := u.Port()
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[u.Scheme]
	}
	return u.Scheme + "://" + net.JoinHostPort(strings.ToLower(u.Hostname()), port) + u.EscapedPath()
}
