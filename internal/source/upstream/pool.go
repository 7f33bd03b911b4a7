package upstream

import (
	"context"
	"sync"

	"collie/internal/mcp"
	"collie/internal/source/upstream/entry"
)

// pool holds the connections of a server. Its lock is for them alone; who holds it may tell the supervisor
// and the listing of them, which never call back with theirs held.
type pool struct {
	mu    sync.Mutex
	slots slots
}

// lock returns the connections, which are the caller's until unlock.
func (p *pool) lock() *slots {
	p.mu.Lock()
	return &p.slots
}

func (p *pool) unlock() { p.mu.Unlock() }

// slots is which connections a server has, whose each is, and which are being made. It decides and starts
// nothing, and is not safe for concurrent use: whoever has a *slots has the lock of its pool.
type slots struct {
	settings   func() *entry.Entry // as of now
	lastCaller func() mcp.Era      // of any server; 0 where nobody has called

	primary *conn
	extra   map[slot]*conn // beside the primary one: another era, or a session of its own
	opening map[slot]*opening
	eras    eras

	stopping chan struct{} // closed when connections that were given up have ended; nil if none
	closed   bool          // nothing is started any more
}

// eras is what is known of how a server is spoken to.
type eras struct {
	home   mcp.Era // of the primary connection, or of the last one; 0 where there was none
	spoken spoken  // which eras the server speaks
	caller mcp.Era // of the last call; 0 where nobody has called
}

// slot names a connection: the primary one is the zero slot. A session has one connection, in
// the era of its client, and its slot names no era.
type slot struct {
	era     mcp.Era
	session string
}

// opening is a connection being made, which all who need it wait for.
type opening struct {
	ctx     context.Context //nolint:containedctx // of the start itself, whoever waits for it
	cancel  context.CancelCauseFunc
	done    chan struct{}
	first   mcp.Era // the era that is tried first
	only    bool    // and no other
	forCall bool    // somebody will make a call; guarded by pool.mu
	key     slot    // where it will be; guarded by pool.mu
	conn    *conn
	err     error
}

// at returns the connection of a slot, nil if there is none.
func (p *slots) at(key slot) *conn {
	if key == (slot{}) {
		return p.primary
	}
	return p.extra[key]
}

// put sets the connection of a slot; nil empties it.
func (p *slots) put(key slot, c *conn) {
	if c != nil {
		c.whose = key.session
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

// conns returns the connections there are, dead ones included.
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

// holds reports whether c is one of the connections.
func (p *slots) holds(c *conn) (slot, bool) {
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
