package mcp

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
)

const maxRedirects = 5

// redirect returns where resp sends a request with this method, "" for nowhere. A request
// that is not GET or HEAD follows only those redirects that keep its method and body.
func redirect(resp *http.Response, method string) string {
	switch resp.StatusCode {
	case http.StatusTemporaryRedirect, http.StatusPermanentRedirect:
	case http.StatusMovedPermanently, http.StatusFound, http.StatusSeeOther:
		if method != http.MethodGet && method != http.MethodHead {
			return ""
		}
	default:
		return ""
	}
	return resp.Header.Get("Location")
}

// follow judges a redirect. The server gave us the address, and a request carries what its caller
// wrote, and headers that open doors: both stay at the origin that the user has named. The same
// host with TLS in the place of none is that origin too, without the user's headers.
func (w *httpWire) follow(from *url.URL, location string) (*url.URL, error) {
	to, err := from.Parse(location)
	if err != nil {
		return nil, errors.New("redirect to a location that does not parse")
	}
	to.User = nil
	refuse := func(why string) (*url.URL, error) {
		return nil, fmt.Errorf("redirect to %s://%s refused: %s", to.Scheme, to.Host, why)
	}
	switch {
	case to.Scheme != "http" && to.Scheme != "https" || to.Host == "":
		return refuse("expected http or https")
	case from.Scheme == "https" && to.Scheme == "http":
		return refuse("it gives TLS up")
	case sameOrigin(from, to):
		return to, nil
	case w.socket:
		return refuse("it leaves the socket")
	case from.Scheme == "http" && to.Scheme == "https" && strings.EqualFold(from.Hostname(), to.Hostname()):
		return to, nil
	}
	return refuse("it is another origin; if the server has moved there, make that its url")
}

// sameOrigin compares scheme, host and port.
func sameOrigin(a, b *url.URL) bool {
	return a == b || a.Scheme == b.Scheme && strings.EqualFold(a.Hostname(), b.Hostname()) && port(a) == port(b)
}

func port(u *url.URL) string {
	if p := u.Port(); p != "" {
		return p
	}
	if u.Scheme == "https" {
		return "443"
	}
	return "80"
}
