package signin

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"collie/internal/mcp"
)

// This file checks and bounds all requests of a sign-in, whose addresses come from strangers.

const (
	maxRedirects = 5
	maxBody      = 1 << 20
	dialTime     = 10 * time.Second
)

// requestGuard sends the requests of a sign-in. It keeps a server from using us to reach addresses that the server
// itself cannot reach. The origin in the user's settings is always allowed; any other URL in a document must be https
// on a public address. A server that is itself on a private address may name other private addresses, and http on this
// machine.
type requestGuard struct {
	serverURL    *url.URL
	direct       *http.Transport // for the origin of serverURL
	public       *http.Transport // refuses addresses that are not public
	unrestricted *http.Transport // allows all addresses: if the server is on a private one, or through a proxy, which dials for us

	ownPrivate  bool        // the host of serverURL is written as a private address
	seenPrivate atomic.Bool // the server was reached at a private address
	seenPublic  atomic.Bool // the server was reached at a public address
	trusted     atomic.Bool // an earlier sign-in found the server on a private address
}

// newGuard returns the guard of a server at own, nil if its URL cannot use OAuth. base connects to the server; nil means a
// default transport.
func newGuard(own *url.URL, base *http.Transport) *requestGuard {
	g := &requestGuard{serverURL: own}
	if own != nil {
		g.ownPrivate = isLocal(own.Hostname()) || isPrivateLiteral(own.Hostname())
	}
	if base == nil {
		base = mcp.NewHTTPTransport(nil)
	}
	g.direct = base.Clone()
	dial := base.DialContext
	if dial == nil {
		dial = (&net.Dialer{Timeout: dialTime}).DialContext
	}
	g.direct.DialContext = func(ctx context.Context, network, address string) (net.Conn, error) {
		conn, err := dial(ctx, network, address)
		if err == nil {
			g.recordAddress(conn.RemoteAddr())
		}
		return conn, err
	}
	g.unrestricted = mcp.NewHTTPTransport(tlsForOthers(base.TLSClientConfig))
	g.unrestricted.Proxy = base.Proxy
	g.public = g.unrestricted.Clone()
	g.public.DialContext = (&net.Dialer{Timeout: dialTime, Control: refusePrivate}).DialContext
	return g
}

// tlsForOthers returns the part of a server's TLS settings that may be used for other hosts: the certificate
// authorities, but no client certificate, no server name and no disabled verification.
func tlsForOthers(c *tls.Config) *tls.Config {
	if c == nil || c.RootCAs == nil {
		return nil
	}
	return &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: c.RootCAs}
}

func (g *requestGuard) close() {
	for _, t := range []*http.Transport{g.direct, g.public, g.unrestricted} {
		t.CloseIdleConnections()
	}
}

// recordAddress records whether the server was reached at a private or a public address. With a proxy it is the proxy's
// address.
func (g *requestGuard) recordAddress(addr net.Addr) {
	if ip, err := netip.ParseAddrPort(addr.String()); err == nil {
		if isPublic(ip.Addr()) {
			g.seenPublic.Store(true)
		} else {
			g.seenPrivate.Store(true)
		}
	}
}

// isPrivate reports whether the server is on a private address. It is not if it was seen at a public address too, since
// such a name may be made to point anywhere, nor if it is reached through a proxy, unless its URL or an earlier sign-in
// says so.
func (g *requestGuard) isPrivate() bool {
	if g.ownPrivate || g.trusted.Load() {
		return true
	}
	return g.seenPrivate.Load() && !g.seenPublic.Load() && !g.proxied(g.serverURL)
}

func (g *requestGuard) proxied(u *url.URL) bool {
	if g.unrestricted.Proxy == nil || u == nil {
		return false
	}
	proxy, err := g.unrestricted.Proxy(&http.Request{URL: u, Header: http.Header{}})
	return err == nil && proxy != nil
}

// checkURL returns why a URL in a document must not be used; field names its place there.
func (g *requestGuard) checkURL(field, raw string) error {
	u, err := url.Parse(raw)
	if err != nil || u.Host == "" || u.User != nil {
		return fmt.Errorf("%s is %q, expected an https URL", field, quoted(raw))
	}
	if sameOrigin(u, g.serverURL) {
		return nil
	}
	local := isLocal(u.Hostname())
	switch {
	case !g.isPrivate() && (local || isPrivateLiteral(u.Hostname())):
		return fmt.Errorf("%s is %q, which is on a private network: a public server must not use that", field, quoted(raw))
	case u.Scheme == "https", u.Scheme == "http" && local:
		return nil
	}
	return fmt.Errorf("%s is %q, expected an https URL", field, quoted(raw))
}

// RoundTrip sends one request if it is allowed, and bounds the size of the answer.
func (g *requestGuard) RoundTrip(req *http.Request) (*http.Response, error) {
	if err := g.checkURL("the address", req.URL.String()); err != nil {
		return nil, err
	}
	t := g.public
	switch {
	case sameOrigin(req.URL, g.serverURL):
		t = g.direct
	case g.isPrivate(), g.proxied(req.URL):
		t = g.unrestricted
	}
	resp, err := t.RoundTrip(req)
	if err != nil {
		return nil, err
	}
	resp.Body = &limitedBody{resp.Body, maxBody + 1} // one byte more, to tell an end from the limit
	return resp, nil
}

// client returns a client for libraries. It follows redirects of reads only: a posted form holds codes and tokens for
// the address that was checked.
func (g *requestGuard) client() *http.Client {
	return &http.Client{
		Transport: g, Timeout: requestTime,
		CheckRedirect: func(req *http.Request, via []*http.Request) error {
			switch {
			case via[0].Method != http.MethodGet:
				return http.ErrUseLastResponse
			case len(via) > maxRedirects:
				return fmt.Errorf("more than %d redirects", maxRedirects)
			case via[len(via)-1].URL.Scheme == "https" && req.URL.Scheme != "https":
				return errors.New("a redirect from https to http")
			}
			return nil
		},
	}
}

// errTooLong says that an answer is longer than any valid one.
var errTooLong = fmt.Errorf("an answer of more than %d bytes", maxBody)

// limitedBody is a body that fails after a number of bytes.
type limitedBody struct {
	io.ReadCloser
	remaining int // bytes left; none left is an error
}

func (b *limitedBody) Read(p []byte) (int, error) {
	if b.remaining <= 0 {
		return 0, errTooLong
	}
	n, err := b.ReadCloser.Read(p[:min(len(p), b.remaining)])
	b.remaining -= n
	return n, err
}

// refusePrivate refuses a connection to an address that is not public, by whatever name it was found.
func refusePrivate(_, address string, _ syscall.RawConn) error {
	ip, err := netip.ParseAddrPort(address)
	if err != nil || !isPublic(ip.Addr()) {
		return fmt.Errorf("%s is on a private network: a public server must not use that", address)
	}
	return nil
}

// reservedNetworks are networks that netip does not call private but that are not public either.
var reservedNetworks = []netip.Prefix{
	netip.MustParsePrefix("0.0.0.0/8"), netip.MustParsePrefix("100.64.0.0/10"),
	netip.MustParsePrefix("192.0.0.0/24"), netip.MustParsePrefix("198.18.0.0/15"),
	netip.MustParsePrefix("240.0.0.0/4"), netip.MustParsePrefix("64:ff9b::/96"), // the last one contains all of IPv4
}

func isPublic(ip netip.Addr) bool {
	ip = ip.Unmap().WithZone("")
	if !ip.IsGlobalUnicast() || ip.IsPrivate() {
		return false
	}
	for _, p := range reservedNetworks {
		if p.Contains(ip) {
			return false
		}
	}
	return true
}

// isLocal reports whether a host is this machine, by name or number.
func isLocal(host string) bool {
	host = strings.ToLower(strings.TrimSuffix(host, "."))
	if host == "localhost" || strings.HasSuffix(host, ".localhost") {
		return true
	}
	ip, err := netip.ParseAddr(host)
	return err == nil && ip.Unmap().IsLoopback()
}

func isPrivateLiteral(host string) bool {
	ip, err := netip.ParseAddr(host)
	return err == nil && !isPublic(ip)
}
