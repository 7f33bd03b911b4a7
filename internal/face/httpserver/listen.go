package httpserver

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"syscall"

	"collie/internal/tool"
)

// boundAddr is an address after its name was resolved, so that the address checked for loopback is the one
// listened on.
type boundAddr struct {
	name     string     // as in the options, without brackets
	ip       netip.Addr // invalid means all addresses
	port     string
	loopback bool
}

// resolve parses HOST:PORT and resolves the name of the host.
func resolve(ctx context.Context, addr string) (boundAddr, error) {
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		return boundAddr{}, invalid(addr, "this is not an address to listen on", "write HOST:PORT, such as "+defaultAddr)
	}
	at := boundAddr{name: host, port: port}
	switch ip, err := netip.ParseAddr(host); {
	case host == "":
	case err == nil:
		at.ip = ip.Unmap()
	default:
		if at.ip, err = lookup(ctx, host); err != nil {
			return boundAddr{}, &tool.Error{
				Op: "listen on", Kind: tool.Invalid, Subject: addr, Err: err,
				Hint: "use an address of this machine, such as " + defaultAddr,
			}
		}
	}
	at.loopback = at.ip.IsLoopback()
	return at, nil
}

// lookup resolves a name. It prefers IPv4, which every client on this machine tries.
func lookup(ctx context.Context, host string) (netip.Addr, error) {
	found, err := net.DefaultResolver.LookupNetIP(ctx, "ip", host)
	if err != nil {
		return netip.Addr{}, err
	}
	for _, ip := range found {
		if ip.Unmap().Is4() {
			return ip.Unmap(), nil
		}
	}
	return found[0], nil
}

// Windows has its own error number for an address in use.
const wsaAddrInUse = syscall.Errno(10048)

// listen opens the port at at. addr is the address as the person wrote it, for errors.
func listen(ctx context.Context, at boundAddr, addr string) (*port, error) {
	host := ""
	if at.ip.IsValid() {
		host = at.ip.String()
	}
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", net.JoinHostPort(host, at.port))
	if socket, ok := l.(*net.TCPListener); ok {
		return newPort(socket, nil), nil
	}
	e := &tool.Error{Op: "listen on", Kind: tool.Unavailable, Subject: addr, Err: err}
	switch {
	case errors.Is(err, syscall.EADDRINUSE), errors.Is(err, wsaAddrInUse):
		e.Err = nil
		e.Message = "the address is in use by " + portOwner(ctx, at)
		e.Hint = "stop it, or choose another address with --http"
	case errors.Is(err, syscall.EACCES):
		e.Hint = "choose a port above 1023 with --http"
	case errors.Is(err, syscall.EADDRNOTAVAIL):
		e.Hint = "this machine has no such address; choose another with --http"
	}
	return nil, e
}
