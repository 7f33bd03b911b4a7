package httpserver

import (
	"net/netip"
	"strings"
)

// host is a name or an IPv4 address as text, or an IPv6 address: exactly one of the two.
type host struct {
	name string
	ip   netip.Addr
}

// authority is host[:port]; the port is empty if there is none.
type authority struct {
	host host
	port string
}

// parseAuthority reads the value of Host, or what follows "://" in an Origin. It knows
// only what browsers and HTTP clients write: no user, no zone, no escapes, no dot at the
// end, and not more than ASCII, so that names can be compared without case. It does not
// allocate for a value that it accepts.
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

// hosts is the list of values of Host that we answer to.
type hosts struct {
	checked bool
	port    string // our own
	list    []authority
}

func newHosts(opts Options, at bind) (hosts, error) {
	h := hosts{checked: at.loopback || len(opts.AllowedHosts) > 0}
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
	return h, nil
}

// ownHosts are the names under which we are always known.
func ownHosts(at bind) []host {
	own := []host{{name: "127.0.0.1"}, {name: "localhost"}, {ip: netip.IPv6Loopback()}}
	switch {
	case at.name == "" || at.ip.IsUnspecified():
	case at.ip.Is6() && at.name == at.ip.String():
		own = append(own, host{ip: at.ip})
	default:
		own = append(own, host{name: at.name})
	}
	return own
}

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
