package upstream

import (
	"context"
	"sync"

	"collie/internal/mcp"
	"collie/internal/source/upstream/entry"
)

// This file holds the connections of a server: one for all clients, or further ones for an era or a session.

// pool holds the connections of a server under a lock of its own. Code that holds the lock may call the supervisor and
// the listing, because they never call back while they hold their own locks.
type pool struct {
	mu    sync.Mutex
	slots slots
}

// lock locks the pool and returns its slots, for use until unlock.
func (p *pool) lock() *slots {
	p.mu.Lock()
	return &p.slots
}

func (p *pool) unlock() { p.mu.Unlock() }

// slots are the connections of a server, those being opened, and their owners. It decides but starts nothing. It is not
// safe for concurrent use: the lock of the pool guards it.
type slots struct {
	settings   func() *entry.Entry // returns the current settings
	lastCaller func() mcp.Era      // era of the last caller of any server, 0 if there was none

	primary *conn
	extra   map[slot]*conn // beside the primary one: for the other era, or for single sessions
	opening map[slot]*opening
	eras    eras

	closing   int           // how many groups of connections that were given up are being closed
	allClosed chan struct{} // closed when closing is 0 again; nil if it is 0
	closed    bool          // set by Close: nothing is started after it
}

// beginClosing records that connections are being closed, until endClosing. A new start waits for that, since their process may
// hold a lock or a port.
func (p *slots) beginClosing() {
	if p.closing == 0 {
		p.allClosed = make(chan struct{})
	}
	p.closing++
}

func (p *slots) endClosing() {
	if p.closing--; p.closing == 0 {
		close(p.allClosed)
		p.allClosed = nil
	}
}

// eras records what is known of the eras that a server speaks.
type eras struct {
	home   mcp.Era   // era of the primary connection, or of the last one; 0 if there was none
	spoken knownEras // the eras that the server speaks
	caller mcp.Era   // era of the last call; 0 if there was none
}

// slot identifies a connection; the zero slot is the primary one. A session has one connection, in its client's era,
// so its slot has no era.
type slot struct {
	era     mcp.Era
	session string
}

// opening is a connection being opened. All callers that need it wait for it together.
type opening struct {
	ctx     context.Context //nolint:containedctx // of the start itself, not of a caller that waits for it
	cancel  context.CancelCauseFunc
	done    chan struct{}
	first   mcp.Era // the era that is tried first
	only    bool    // no other era is tried
	forCall bool    // a call waits for it; guarded by pool.mu
	key     slot    // the slot it is for; guarded by pool.mu
	conn    *conn
	err     error
}

// at returns the connection in a slot, nil if there is none.
func (p *slots) at(key slot) *conn {
	if key == (slot{}) {
		return p.primary
	}
	return p.extra[key]
}

// put sets the connection of a slot; nil empties the slot.
func (p *slots) put(key slot, c *conn) {
	if c != nil {
		c.ownerID = key.session
	}
	switch {
	case key == (slot{}):
		p.primary = c
	case c == nil:
		delete(p.extra, key)
	default:
		p.extra[key] = c
	}
}

// conns returns all connections, dead ones included.
func (p *slots) conns() []*conn {
	var out []*conn
	if p.primary != nil {
		out = append(out, p.primary)
	}
	for _, c := range p.extra {
		out = append(out, c)
	}
	return out
}

// slotWith reports whether c is in use, and in which slot.
func (p *slots) slotWith(c *conn) (slot, bool) {
	if p.primary == c {
		return slot{}, true
	}
	for key, x := range p.extra {
		if x == c {
			return key, true
		}
	}
	return slot{}, false
}
