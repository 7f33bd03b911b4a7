package upstream

import (
	"context"
	"encoding/json"
	"net/url"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"collie/internal/mcp"
	"collie/internal/source/upstream/entry"
	"collie/internal/tool"
)

// A legacy server may ask for roots at any time, and most do so as soon as they run, outside of any call. Within a
// call the caller's roots are meant. Outside one, they are those of the session that owns the process, or of the only
// session; with several sessions nobody could say whose.

const methodRootsChanged = "notifications/roots/list_changed"

// rootsState records which session's roots a connection was given.
type rootsState struct {
	mu          sync.Mutex
	asked       bool   // the server asked outside of a call
	toldOutside string // session whose roots it got then; empty for none
	last        string // session whose roots it got last, in a call or outside
}

// recordSent records that the server got the roots of a session within a call.
func (r *rootsState) recordSent(session string) {
	r.mu.Lock()
	r.last = session
	r.mu.Unlock()
}

// ownerChanged reports whether a server that asked for roots would now get those of another session.
func (r *rootsState) ownerChanged(now string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	moved := r.asked && r.toldOutside != now
	if moved {
		r.toldOutside = now
	}
	return moved
}

// SetSessions records the connected sessions. A server that has asked for roots is told of a change if it would now get
// another session's.
func (s *Server) SetSessions(sessions []*tool.Session) {
	s.sessions.Store(&sessions)
	for _, c := range s.liveConns() {
		now := ""
		if host := c.host(); host != nil {
			now = host.ID
		}
		if c.roots.ownerChanged(now) {
			c.rootsChanged()
		}
	}
}

// beforeCall runs before each call. A process may have asked for roots before a session took it over, so it is told that
// they changed.
func (c *conn) beforeCall(session string) {
	if c.server.settings().Isolation != entry.Session || session == "" {
		return
	}
	if host := c.host(); host != nil && c.roots.ownerChanged(host.ID) {
		c.rootsChanged()
	}
}

// rootsChanged tells a legacy server that its roots may have changed.
func (c *conn) rootsChanged() {
	if c.Client.Era == mcp.Legacy && len(c.server.settings().Roots) == 0 {
		c.outgoing.send(c, methodRootsChanged, nil)
	}
}

// tellRoots tells the server that the roots of a session have changed, on each connection that was told them or would
// be.
func (s *Server) tellRoots(session string) {
	for _, c := range s.liveConns() {
		host := c.host()
		c.roots.mu.Lock()
		theirs := session != "" && (host != nil && host.ID == session || c.roots.last == session)
		c.roots.mu.Unlock()
		if theirs {
			c.rootsChanged()
		}
	}
}

// host returns the session whose roots are meant outside of a call, nil for none.
func (c *conn) host() *tool.Session {
	sessions := c.server.sessions.Load()
	if sessions == nil {
		return nil
	}
	session := c.session()
	if session == "" && (len(*sessions) != 1 || c.server.settings().Isolation == entry.Session) {
		return nil // it belongs to no session, or to several
	}
	for _, s := range *sessions {
		if session == "" || s.ID == session {
			return s
		}
	}
	return nil
}

// session returns the session that owns the connection, empty if all share it.
func (c *conn) session() string {
	s := c.server
	if s.settings().Isolation != entry.Session {
		return ""
	}
	p := s.pool.lock()
	defer s.pool.unlock()
	if _, held := p.slotWith(c); held || c.ownerID != "" {
		return c.ownerID // also while the server is being stopped
	}
	session := "" // not in the pool yet: it may already have been assigned to a session
	for key := range p.opening {
		if session != "" || key.session == "" {
			return ""
		}
		session = key.session
	}
	return session
}

// rootsOutside answers a request for roots that belongs to no known call. several says that calls of several clients
// are in flight: the request could belong to any of them, so only a process owned by one session gets an answer.
func (c *conn) rootsOutside(ctx context.Context, params json.RawMessage, several bool) (json.RawMessage, error) {
	if conf := c.server.settings(); len(conf.Roots) > 0 {
		return rootsResult(entry.Reveal(conf.Roots)), nil
	}
	host := c.host()
	if several && c.session() == "" {
		host = nil
	}
	c.roots.mu.Lock()
	c.roots.asked, c.roots.toldOutside = true, ""
	if host != nil {
		c.roots.toldOutside, c.roots.last = host.ID, host.ID
	}
	c.roots.mu.Unlock()
	if host == nil || !host.Caller.Supports(tool.CanRoots) {
		return decline(methodRoots, entry.Forward)
	}
	return c.askCaller(ctx, host.Caller, host.ID, time.Minute, methodRoots, params)
}

// rootsResult returns the result of roots/list for configured roots, each a path or a URI.
func rootsResult(roots []string) json.RawMessage {
	type root struct {
		URI  string `json:"uri"`
		Name string `json:"name,omitempty"`
	}
	list := make([]root, len(roots))
	for i, r := range roots {
		list[i] = root{URI: r, Name: filepath.Base(r)}
		if !strings.Contains(r, "://") {
			list[i].URI = (&url.URL{Scheme: "file", Path: "/" + strings.TrimPrefix(filepath.ToSlash(r), "/")}).String() // C:/x is /C:/x there
		}
	}
	raw, err := json.Marshal(map[string]any{"roots": list})
	if err != nil {
		panic("upstream: roots do not encode: " + err.Error())
	}
	return raw
}
