package httpserver

import (
	"slices"
	"strings"
)

// origin is scheme://host[:port] as browsers write it. In a list an empty scheme stands
// for http and https on any port.
type origin struct {
	scheme string
	at     authority
}

// parseOrigin reads the value of an Origin header. "null" is none: it is what a sandboxed
// page sends, whoever wrote it. The port of http and https is always filled in.
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

func (o origin) web() bool { return o.scheme == "http" || o.scheme == "https" }

// matches reports whether o is the entry want of a list.
func (o origin) matches(want origin) bool {
	if !o.at.host.equal(want.at.host) {
		return false
	}
	if want.scheme == "" {
		return o.web()
	}
	return o.scheme == want.scheme && o.at.port == want.at.port
}

// standing is how an Origin is met.
type standing int

const (
	foreign standing = iota // refused
	known                   // passes, but a browser does not show it our answers
	listed                  // passes, with CORS headers
)

// origins judges the Origin header.
type origins struct {
	own    []host // pass on any port, as the public plugin has it
	listed []origin
	// hostChecked says that Host has been found to be ours, so that an Origin equal to it
	// is ourselves.
	hostChecked bool
}

func newOrigins(opts Options, at bind, hostChecked bool) (origins, error) {
	o := origins{own: ownHosts(at), hostChecked: hostChecked}
	for _, s := range opts.AllowedOrigins {
		if name, ok := parseAuthority(s); ok && name.port == "" {
			o.listed = append(o.listed, origin{at: name})
			continue
		}
		whole, ok := parseOrigin(s)
		if !ok {
			return origins{}, &badEntry{
				"allowed origins", s,
				`write a name or a whole origin, such as "app.example" or "https://app.example"`,
			}
		}
		o.listed = append(o.listed, whole)
	}
	return o, nil
}

// judge returns the standing of a request that came to the Host value with the Origin
// value.
func (o *origins) judge(value, hostValue string) standing {
	got, ok := parseOrigin(value)
	if !ok {
		return foreign
	}
	if slices.ContainsFunc(o.listed, got.matches) {
		return listed
	}
	if !got.web() {
		return foreign
	}
	if slices.ContainsFunc(o.own, got.at.host.equal) {
		return known
	}
	if _, rest, _ := strings.Cut(value, "://"); o.hostChecked && rest == hostValue {
		return known
	}
	return foreign
}
