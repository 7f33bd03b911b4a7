package httpserver

import (
	"net"
	"sync"
	"sync/atomic"
	"time"
)

// port is a listening socket that one server can leave to the next: TLS is switched on or off at the same address without
// a moment in which nobody listens there.
type port struct {
	*net.TCPListener
	before *port // owner of the socket until the first Accept; nil for none

	left      atomic.Bool   // the socket is the next server's
	quiet     chan struct{} // closed once Accept takes no more connections
	beQuiet   func()
	closed    chan struct{}
	beClosed  func()
	takeFirst sync.Once
}

func newPort(socket *net.TCPListener, before *port) *port {
	p := &port{TCPListener: socket, before: before, quiet: make(chan struct{}), closed: make(chan struct{})}
	p.beQuiet, p.beClosed = sync.OnceFunc(func() { close(p.quiet) }), sync.OnceFunc(func() { close(p.closed) })
	return p
}

// Accept waits for the next connection. Once the socket was left to the next server, it waits for Close and fails.
func (p *port) Accept() (net.Conn, error) {
	p.takeFirst.Do(func() {
		if p.before != nil {
			p.before.leave()
		}
	})
	if !p.left.Load() {
		c, err := p.TCPListener.Accept()
		if err == nil || !p.left.Load() {
			return c, err
		}
	}
	p.beQuiet()
	<-p.closed
	return nil, net.ErrClosed
}

// leave makes Accept return no more connections, and returns once it does not.
func (p *port) leave() {
	p.left.Store(true)
	_ = p.SetDeadline(time.Unix(1, 0)) // fails only if the socket is closed
	select {
	case <-p.quiet:
	case <-p.closed:
	}
	_ = p.SetDeadline(time.Time{})
}

// Close closes the socket, unless it is another server's.
func (p *port) Close() error {
	p.beClosed()
	if p.left.Load() {
		return nil
	}
	taken := true
	if p.before != nil {
		p.takeFirst.Do(func() { taken = false }) // if Accept was never called, the socket still belongs to before
	}
	if !taken {
		return nil
	}
	return p.TCPListener.Close()
}
