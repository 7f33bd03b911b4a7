package httpserver

import (
	"net/http"
	"net/netip"
	"reflect"
	"slices"
	"strings"

	"collie/internal/face/httpserver/tokens"
)

// This file finds out whose token a request carries.

// identify returns who sent the request and whether from this machine, or the refusal.
//
// An address with too many wrong tokens has to wait, even with the right one. Loopback is an exception: all
// local programs share it, and any web page can make a browser send wrong tokens from it, so the right token
// always works there.
func (a *checks) identify(r *http.Request) (id *identity, local bool, f *refusal) {
	from, local := remoteAddr(r)
	if len(r.Header["Authorization"]) == 0 && a.browser != nil {
		if signedOut, ok := a.browser(r); ok {
			return ofBrowser(signedOut), local, nil
		}
	}
	secret, given := bearerToken(r.Header["Authorization"])
	if given && !from.IsLoopback() {
		if wait := a.wrongTokens.waitFor(from); wait > 0 {
			return nil, local, refuseGuessing(wait)
		}
	}
	if id := a.find(secret); id != nil {
		return id, local, nil
	}
	if a.anonymous != nil {
		return a.anonymous, local, nil
	}
	if !given {
		return nil, local, a.refuseMissing(r, local)
	}
	if wait := a.wrongTokens.fail(from); wait > 0 {
		return nil, local, refuseGuessing(wait)
	}
	return nil, local, a.refuseWrong(local)
}

// find returns the identity of a secret, nil if there is none.
func (a *checks) find(secret string) *identity {
	if secret == "" || len(secret) > maxSecret {
		return nil
	}
	sum := digestOf(secret)
	found := a.keys.match(sum, nil)
	if named := a.named.Load(); named != nil {
		found = named.match(sum, found)
	}
	return found
}

// setNamed replaces the named tokens and ends those that are missing or changed in list. It returns the
// holders of the ended ones.
func (a *checks) setNamed(list []tokens.Token) (ended []string) {
	var before keyring
	if p := a.named.Load(); p != nil {
		before = *p
	}
	ring, unchanged := make(keyring, 0, len(list)), make([]bool, len(before))
	for i := range list {
		at := slices.IndexFunc(before, func(id identity) bool { return reflect.DeepEqual(*id.local.Token, list[i]) })
		switch fixed := a.keys.match(list[i].Digest(), nil); {
		case fixed != nil: // the gateway's own keys take precedence over the file
		case at >= 0:
			unchanged[at] = true
			ring = append(ring, before[at])
		default:
			ring = append(ring, ofToken(&list[i]))
		}
	}
	a.named.Store(&ring)
	for i, id := range before {
		if !unchanged[i] {
			id.end()
			ended = append(ended, id.local.holder)
		}
	}
	return ended
}

// bearerToken returns the token in the values of an Authorization header, and whether there was such a header.
// Anything but exactly one Bearer value gives an empty token.
func bearerToken(values []string) (secret string, ok bool) {
	const scheme = "Bearer "
	if len(values) != 1 {
		return "", len(values) > 1
	}
	v := values[0]
	if len(v) < len(scheme) || !strings.EqualFold(v[:len(scheme)], scheme) {
		return "", true
	}
	return strings.TrimLeft(v[len(scheme):], " "), true
}

// remoteAddr returns the address of the other end, and whether it is a local program that speaks for itself. A
// request with a forwarding header does not count as local; the header can thus only reduce trust.
func remoteAddr(r *http.Request) (addr netip.Addr, local bool) {
	ap, err := netip.ParseAddrPort(r.RemoteAddr)
	if err != nil {
		return netip.Addr{}, false
	}
	addr = ap.Addr().Unmap()
	local = addr.IsLoopback() && len(r.Header["X-Forwarded-For"]) == 0 && len(r.Header["X-Forwarded-Proto"]) == 0 && len(r.Header["Forwarded"]) == 0
	return addr, local
}
