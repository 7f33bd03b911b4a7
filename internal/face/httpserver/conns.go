package httpserver

import (
	"crypto/tls"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"
)

// This file closes connections that wait too long for a request.

// checkEvery is how often connections are checked.
const checkEvery = 5 * time.Second

// conns are the connections of a server. It closes those that do not send a request in time or have been idle
// for long. It does not set a deadline per connection, because setting one twice per request is a good part
// of the cost of a local call. When the server stops, conns at once closes connections on which no request has come
// yet; net/http would wait seconds for each, and browsers open such connections in advance. The zero value is ready
// to use.
type conns struct {
	round atomic.Int64 // number of calls of closeOverdue so far

	mu     sync.Mutex
	all    map[*conn]struct{}
	timer  *time.Timer // runs while there are connections
	closed bool
}

// conn is a connection. waitingSince says in which round of closeOverdue it began to wait for a request: 0 while a request is
// served, conns.round + 1 while it waits for another request, and -(conns.round + 1) while it waits for its first one.
type conn struct {
	net.Conn
	conns        *conns
	waitingSince atomic.Int64
}

// watchedListener is a listener whose connections are in conns.
type watchedListener struct {
	net.Listener
	conns *conns
}

// Accept waits for the next connection.
func (g watchedListener) Accept() (net.Conn, error) {
	c, err := g.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return g.conns.track(c), nil
}

// track adds a connection, or closes it at once if the server is stopping.
func (s *conns) track(c net.Conn) net.Conn {
	out := &conn{Conn: c, conns: s}
	out.waitingSince.Store(-s.round.Load() - 1)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		_ = c.Close() // nothing was sent on it yet
		return out
	}
	if s.all == nil {
		s.all = map[*conn]struct{}{}
	}
	s.all[out] = struct{}{}
	switch {
	case len(s.all) > 1:
	case s.timer == nil:
		s.timer = time.AfterFunc(checkEvery, s.closeOverdue)
	default:
		s.timer.Reset(checkEvery)
	}
	return out
}

// Close closes the connection.
func (c *conn) Close() error {
	c.conns.mu.Lock()
	delete(c.conns.all, c)
	c.conns.mu.Unlock()
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
		our.waitingSince.Store(0)
	case http.StateIdle:
		our.waitingSince.Store(s.round.Load() + 1)
	case http.StateNew, http.StateClosed:
	}
}

// closeOverdue interrupts connections that have waited too long. It ends their read instead of closing them, because
// a request that has just arrived would otherwise be cut off.
func (s *conns) closeOverdue() {
	round := s.round.Add(1)
	s.mu.Lock()
	defer s.mu.Unlock()
	for c := range s.all {
		if c.isOverdue(round) {
			_ = c.SetReadDeadline(time.Unix(1, 0)) // the server closes a connection that it cannot read
		}
	}
	if len(s.all) > 0 {
		s.timer.Reset(checkEvery)
	}
}

// isOverdue reports whether a connection has waited too long for its first request, or for another one.
func (c *conn) isOverdue(round int64) bool {
	const headerRounds, idleRounds = int64(headerTimeout / checkEvery), int64(idleTimeout / checkEvery)
	since := c.waitingSince.Load()
	switch {
	case since < 0:
		return round+since >= headerRounds
	case since > 0:
		return round-since >= idleRounds
	}
	return false
}

// closeUnused closes the connections on which no request has come yet, and makes track close all new ones from now on.
func (s *conns) closeUnused() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	for c := range s.all {
		if c.waitingSince.Load() < 0 {
			_ = c.Conn.Close()
		}
	}
}
