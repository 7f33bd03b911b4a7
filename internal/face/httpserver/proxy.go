package httpserver

import (
	"crypto/tls"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
)

// This file finds out who sent a request that a trusted proxy has passed on.

// proxies are the proxies in front whose word counts, and the address under which they are reached.
type proxies struct {
	trusted []netip.Prefix
	public  string // the Host of Options.PublicURL; empty for none
}

// byProxy is the TLS state of a request whose TLS a proxy ended.
var byProxy = &tls.ConnectionState{HandshakeComplete: true}

func newProxies(opts Options) (p proxies, err error) {
	if opts.PublicURL != "" {
		u, err := url.Parse(opts.PublicURL)
		if err != nil || u.Scheme != "https" || u.User != nil || strings.Trim(u.Path, "/") != "" || u.RawQuery != "" || u.Fragment != "" {
			return p, badPublicURL(opts.PublicURL)
		}
		if _, ok := parseAuthority(u.Host); !ok {
			return p, badPublicURL(opts.PublicURL)
		}
		p.public = u.Host
	}
	for _, s := range opts.TrustedProxies {
		prefix, err := netip.ParsePrefix(s)
		if addr, bad := netip.ParseAddr(s); bad == nil {
			prefix, err = addr.Unmap().Prefix(addr.Unmap().BitLen())
		}
		if err != nil {
			return p, &badEntry{"trusted proxies", s, `write an address or a network, such as "127.0.0.1" or "10.0.0.0/8"`}
		}
		p.trusted = append(p.trusted, prefix.Masked())
	}
	return p, nil
}

func badPublicURL(s string) *badEntry {
	return &badEntry{"public URL", s, `write https, a name, and a port if it is not 443, such as "https://notes.example"`}
}

func (p *proxies) trusts(addr netip.Addr) bool {
	for _, prefix := range p.trusted {
		if prefix.Contains(addr) {
			return true
		}
	}
	return false
}

// asSent returns a request as the proxy received it: from whom, and whether over TLS. What does not come from a trusted
// proxy stays as it is. TLS counts only at the public address, for which browsers sign in there. The headers stay, so
// that such a request never counts as local.
func (p *proxies) asSent(r *http.Request) *http.Request {
	if len(p.trusted) == 0 {
		return r
	}
	peer, err := netip.ParseAddrPort(r.RemoteAddr)
	if err != nil || !p.trusts(peer.Addr().Unmap()) {
		return r
	}
	from, found := p.client(r.Header["X-Forwarded-For"])
	proto := r.Header["X-Forwarded-Proto"]
	secure := r.TLS == nil && found && len(proto) == 1 && proto[0] == "https" && strings.EqualFold(r.Host, p.public)
	if !found && !secure {
		return r
	}
	sent := r.WithContext(r.Context()) // a copy
	if found {
		sent.RemoteAddr = netip.AddrPortFrom(from, 0).String()
	}
	if secure {
		sent.TLS = byProxy
	}
	return sent
}

// client returns the nearest address that is not a trusted proxy's, else the farthest one. Each proxy adds the address
// that it was called from at the end; earlier entries are unverified claims.
func (p *proxies) client(values []string) (from netip.Addr, found bool) {
	hops := strings.Split(strings.Join(values, ","), ",")
	for _, hop := range slices.Backward(hops) {
		addr, err := netip.ParseAddr(strings.TrimSpace(hop))
		if err != nil {
			return from, found
		}
		if from, found = addr.Unmap(), true; !p.trusts(from) {
			break
		}
	}
	return from, found
}
