package httpserver

import (
	"net/netip"
	"strings"
)

// This file decides which values of the Host header are accepted, which keeps other web pages from reaching a local
// gateway.

// host is either a name or IPv4 address as text, or an IPv6 address.
type host struct {
	name string
	ip   netip.Addr
}

// authority is host[:port]; port is empty if there is none.
type authority struct {
	host host
	port string
}

// parseAuthority parses the value of Host, or the part of an Origin after "://". It accepts only what
// browsers and HTTP clients write: ASCII, no user, no zone, no escapes, no trailing dot, so that names can be
// compared ignoring case. It does not allocate for an accepted value.
func parseAuthority(s string) (a authority, ok bool) {
	rest := ""
	if strings.HasPrefix(s, "[") {
		end := strings.IndexByte(s, ']')
		if end < 0 {
			return authority{}, false
		}
		ip, err := netip.ParseAddr(s[1:end])
		if err != nil || !ip.Is6() || ip.Zone() != "" {
			return authority{}, false
		}
		a.host.ip, rest = ip, s[end+1:]
	} else {
		end := strings.IndexByte(s, ':')
		if end < 0 {
			end = len(s)
		}
		if !isName(s[:end]) {
			return authority{}, false
		}
		a.host.name, rest = s[:end], s[end:]
	}
	if rest == "" {
		return a, true
	}
	if a.port = rest[1:]; rest[0] != ':' || !isPort(a.port) {
		return authority{}, false
	}
	return a, true
}

func isName(s string) bool {
	if s == "" || len(s) > 253 || s[len(s)-1] == '.' {
		return false
	}
	for i := range len(s) {
		c := s[i]
		switch {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9', c == '-', c == '.', c == '_':
		default:
			return false
		}
	}
	return true
}

func isPort(s string) bool {
	if s == "" || len(s) > 5 || s[0] == '0' {
		return false
	}
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return false
		}
	}
	return true
}

func (h host) equal(other host) bool {
	return h.ip == other.ip && strings.EqualFold(h.name, other.name)
}

// hosts decides which values of the header Host are accepted, so that a web page cannot reach a gateway on this machine by a
// name of its own that leads here (DNS rebinding).
type hosts struct {
	// checked is false if the server listens beyond loopback and no names are configured: by which names others reach it is
	// not known then, and any Host is accepted.
	checked bool
	port    string // the server's own port
	list    []authority
}

func newHosts(opts Options, at boundAddr) (hosts, error) {
	h := hosts{checked: at.loopback || len(opts.AllowedHosts) > 0 || opts.PublicURL != ""}
	for _, own := range ownHosts(at) {
		h.list = append(h.list, authority{host: own})
	}
	for _, s := range opts.AllowedHosts {
		a, ok := parseAuthority(s)
		if !ok {
			return hosts{}, &badEntry{"allowed hosts", s, `write a name or name:port, such as "notes.example"`}
		}
		h.list = append(h.list, a)
	}
	if _, rest, found := strings.Cut(opts.PublicURL, "://"); found {
		if a, ok := parseAuthority(strings.TrimRight(rest, "/")); ok { // newProxies refuses others
			h.list = append(h.list, a)
		}
	}
	return h, nil
}

// ownHosts returns the names that are always accepted.
func ownHosts(at boundAddr) []host {
	accepted := []host{{name: "127.0.0.1"}, {name: "localhost"}, {ip: netip.IPv6Loopback()}}
	switch {
	case at.name == "" || at.ip.IsUnspecified():
	case at.ip.Is6() && at.name == at.ip.String():
		accepted = append(accepted, host{ip: at.ip})
	default:
		accepted = append(accepted, host{name: at.name})
	}
	return accepted
}

// allow reports whether a value of Host is accepted. Its port may be missing.
func (h *hosts) allow(value string) bool {
	if !h.checked {
		return true
	}
	got, ok := parseAuthority(value)
	if !ok {
		return false
	}
	for i := range h.list {
		want := &h.list[i]
		if got.host.equal(want.host) && (got.port == "" || got.port == want.portOr(h.port)) {
			return true
		}
	}
	return false
}

func (a *authority) portOr(port string) string {
	if a.port != "" {
		return a.port
	}
	return port
}
