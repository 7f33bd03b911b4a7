package httpserver

import (
	"crypto/tls"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"
)

// patrol is how often connections are looked at.
const patrol = 5 * time.Second

// conns are the connections of a server. Those that do not send a request in time, or have sent
// none for long, are closed, without a deadline for each: to set one twice with each request is a
// good part of what a local call costs. A stop closes at once those that have not sent a request
// yet; the HTTP server alone would wait seconds for each, and browsers open such connections
// ahead of need. The zero value is ready.
type conns struct {
	now atomic.Int64 // counts patrols, from 1

	mu     sync.Mutex
	all    map[*conn]struct{}
	timer  *time.Timer // runs while there are any
	closed bool
}

// conn is a connection that knows since which patrol it has been waiting: negative before its
// first request, 0 while it is served.
type conn struct {
	net.Conn
	of    *conns
	since atomic.Int64
}

// watchedListener is a listener whose connections are watched.
type watchedListener struct {
	net.Listener
	of *conns
}

// Accept waits for the next connection.
func (g watchedListener) Accept() (net.Conn, error) {
	c, err := g.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return g.of.track(c), nil
}

func (s *conns) track(c net.Conn) net.Conn {
	out := &conn{Conn: c, of: s}
	out.since.Store(-s.now.Load() - 1)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		_ = c.Close() // nothing was said on it
		return out
	}
	if s.all == nil {
		s.all = map[*conn]struct{}{}
	}
	s.all[out] = struct{}{}
	switch {
	case len(s.all) > 1:
	case s.timer == nil:
		s.timer = time.AfterFunc(patrol, s.look)
	default:
		s.timer.Reset(patrol)
	}
	return out
}

// Close closes the connection.
func (c *conn) Close() error {
	c.of.mu.Lock()
	delete(c.of.all, c)
	c.of.mu.Unlock()
	return c.Conn.Close()
}

// observe is the server's ConnState hook.
func (s *conns) observe(c net.Conn, state http.ConnState) {
	if t, ok := c.(*tls.Conn); ok {
		c = t.NetConn()
	}
	our, ok := c.(*conn)
	if !ok {
		return
	}
	switch state {
	case http.StateActive, http.StateHijacked:
		our.since.Store(0)
	case http.StateIdle:
		our.since.Store(s.now.Load() + 1)
	case http.StateNew, http.StateClosed:
	}
}

// look ends the wait of connections that have waited too long. It ends a read and does not close:
// a request that has just come would be cut off after it was begun.
func (s *conns) look() {
	now := s.now.Add(1)
	s.mu.Lock()
	defer s.mu.Unlock()
	for c := range s.all {
		since := c.since.Load()
		if since < 0 && now+since >= int64(headerTimeout/patrol) || since > 0 && now-since >= int64(idleTimeout/patrol) {
			_ = c.SetReadDeadline(time.Unix(1, 0)) // the server closes what it cannot read
		}
	}
	if len(s.all) > 0 {
		s.timer.Reset(patrol)
	}
}

// closeYoung closes the connections that have not sent a request, and those that come later.
func (s *conns) closeYoung() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	for c := range s.all {
		if c.since.Load() < 0 {
			_ = c.Conn.Close()
		}
	}
}
