package mcp

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
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

// follow judges a redirect. The server gave us the address, so it may lead neither out of
// TLS nor, from a public place, into a private network.
func (w *httpWire) follow(ctx context.Context, from *url.URL, location string) (*url.URL, error) {
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
	case isPrivateHost(ctx, to.Hostname()) && !isPrivateHost(ctx, w.url.Hostname()):
		return refuse("a private address")
	}
	return to, nil
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

// sharedSpace is the address space of carriers, RFC 6598.
var sharedSpace = netip.MustParsePrefix("100.64.0.0/10")

// isPrivateHost reports whether host is, or has, an address off the public internet. A name
// that does not resolve is left to a proxy to judge.
func isPrivateHost(ctx context.Context, host string) bool {
	if ip, err := netip.ParseAddr(host); err == nil {
		return isPrivate(ip)
	}
	ips, err := net.DefaultResolver.LookupNetIP(ctx, "ip", host)
	if err != nil {
		return false
	}
	for _, ip := range ips {
		if isPrivate(ip) {
			return true
		}
	}
	return false
}

func isPrivate(ip netip.Addr) bool {
	ip = ip.Unmap().WithZone("")
	return !ip.IsGlobalUnicast() || ip.IsPrivate() || sharedSpace.Contains(ip)
}
