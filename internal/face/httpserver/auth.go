package httpserver

import (
	"net/http"
	"net/netip"
	"strings"
)

// identify finds out who calls: a key, or why not.
//
// An address that guessed too often waits, right token or not, unless it is
// loopback: all local programs share that one, and any web page can make a browser send
// bad requests from it, so there the right token always opens.
func (a *admission) identify(r *http.Request) (*Key, *refusal) {
	from, local := remote(r)
	secret, given := bearer(r.Header["Authorization"])
	if given && !from.IsLoopback() {
		if wait := a.guesses.wait(from); wait > 0 {
			return nil, refuseGuessing(wait)
		}
	}
	if id := a.keys.find(secret); id != nil {
		return id.key(local), nil
	}
	if a.anonymous != nil {
		return a.anonymous.key(local), nil
	}
	if !given {
		return nil, a.refuseMissing(r, local)
	}
	if wait := a.guesses.fail(from); wait > 0 {
		return nil, refuseGuessing(wait)
	}
	return nil, a.refuseWrong(local)
}

// bearer returns the token of an Authorization header, and whether there was such a
// header at all. Anything but one Bearer value gives an empty token.
func bearer(values []string) (secret string, given bool) {
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

// remote returns the address of the other end, and whether it is a program on this
// machine that speaks for itself. One that forwards for others is not: that header can
// only cost trust, never gain any.
func remote(r *http.Request) (addr netip.Addr, local bool) {
	ap, err := netip.ParseAddrPort(r.RemoteAddr)
	if err != nil {
		return netip.Addr{}, false
	}
	addr = ap.Addr().Unmap()
	local = addr.IsLoopback() && len(r.Header["X-Forwarded-For"]) == 0 && len(r.Header["Forwarded"]) == 0
	return addr, local
}
