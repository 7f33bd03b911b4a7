package httpserver

import (
	"slices"
	"strings"
)

// This file decides which web pages may send requests, by their Origin header.

// origin is scheme://host[:port] as browsers write it. In a list of allowed origins, an empty scheme means
// http and https on any port.
type origin struct {
	scheme string
	host   authority
}

// parseOrigin parses an Origin header. It rejects "null", which any sandboxed page sends. For http and https
// the port is always filled in.
func parseOrigin(s string) (origin, bool) {
	scheme, rest, found := strings.Cut(s, "://")
	if !found || !isScheme(scheme) {
		return origin{}, false
	}
	at, ok := parseAuthority(rest)
	if !ok {
		return origin{}, false
	}
	if at.port == "" {
		at.port = defaultPort(scheme)
	}
	return origin{scheme, at}, true
}

func defaultPort(scheme string) string {
	switch scheme {
	case "http":
		return "80"
	case "https":
		return "443"
	}
	return ""
}

func isScheme(s string) bool {
	if s == "" || s[0] < 'a' || s[0] > 'z' {
		return false
	}
	for i := range len(s) {
		c := s[i]
		switch {
		case 'a' <= c && c <= 'z', '0' <= c && c <= '9', c == '-', c == '+', c == '.':
		default:
			return false
		}
	}
	return true
}

func (o origin) isWeb() bool { return o.scheme == "http" || o.scheme == "https" }

// matches reports whether o matches the list entry want.
func (o origin) matches(want origin) bool {
	if !o.host.host.equal(want.host.host) {
		return false
	}
	if want.scheme == "" {
		return o.isWeb()
	}
	return o.scheme == want.scheme && o.host.port == want.host.port
}

// originStatus says how a request with an Origin is treated.
type originStatus int

const (
	foreignOrigin originStatus = iota // refused
	knownOrigin                       // accepted, but browsers do not show the answer to the page
	listedOrigin                      // accepted, with CORS headers
)

// origins checks the Origin header.
type origins struct {
	own    []host // accepted on any port
	listed []origin
	// hostChecked means that Host was already checked, so an Origin equal to it is one of our own pages.
	hostChecked bool
}

func newOrigins(opts Options, at boundAddr, hostChecked bool) (origins, error) {
	o := origins{own: ownHosts(at), hostChecked: hostChecked}
	for _, s := range opts.AllowedOrigins {
		if name, ok := parseAuthority(s); ok && name.port == "" {
			o.listed = append(o.listed, origin{host: name})
			continue
		}
		parsed, ok := parseOrigin(s)
		if !ok {
			return origins{}, &badEntry{
				"allowed origins", s,
				`write a name or a whole origin, such as "app.example" or "https://app.example"`,
			}
		}
		o.listed = append(o.listed, parsed)
	}
	return o, nil
}

// status returns how to treat a request with these values of Origin and Host. secure reports that it came over TLS: our own pages
// are https then. A page at http:// and the same name may be anybody's who sits on the network between.
func (o *origins) status(value, hostValue string, secure bool) originStatus {
	got, ok := parseOrigin(value)
	if !ok {
		return foreignOrigin
	}
	if slices.ContainsFunc(o.listed, got.matches) {
		return listedOrigin
	}
	if !got.isWeb() {
		return foreignOrigin
	}
	if slices.ContainsFunc(o.own, got.host.host.equal) {
		return knownOrigin
	}
	if _, rest, _ := strings.Cut(value, "://"); o.hostChecked && rest == hostValue && (got.scheme == "https" || !secure) {
		return knownOrigin
	}
	return foreignOrigin
}
