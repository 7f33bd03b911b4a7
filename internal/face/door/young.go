package door

import (
	"net"
	"net/http"
	"sync"
)

// youngConns are connections that have not sent a request yet. A stop closes them at
// once; the HTTP server alone would wait seconds for each, and browsers open such
// connections ahead of need. The zero value is ready.
type youngConns struct {
	mu     sync.Mutex
	conns  map[net.Conn]struct{}
	closed bool
}

// observe is the server's ConnState hook.
func (y *youngConns) observe(c net.Conn, state http.ConnState) {
	if state == http.StateIdle { // comes after Active, which has removed it
		return
	}
	y.mu.Lock()
	defer y.mu.Unlock()
	if state != http.StateNew {
		delete(y.conns, c)
		return
	}
	if y.closed {
		_ = c.Close() // nothing was said on it
		return
	}
	if y.conns == nil {
		y.conns = make(map[net.Conn]struct{})
	}
	y.conns[c] = struct{}{}
}

func (y *youngConns) closeAll() {
	y.mu.Lock()
	defer y.mu.Unlock()
	y.closed = true
	for c := range y.conns {
		_ = c.Close()
	}
	clear(y.conns)
}
