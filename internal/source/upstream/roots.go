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

// A legacy server asks for roots when it likes, most of them as soon as they run, and not within a
// call. Inside a call its caller's are meant. Outside one they are those of the session that the
// process belongs to, or of the only session there is: whose else could not be said.

const methodRootsChanged = "notifications/roots/list_changed"

// rooting is whose roots a connection was told.
type rooting struct {
	mu      sync.Mutex
	asked   bool   // outside of a call
	outside string // the session whose roots it got then; empty for none
	last    string // the session whose roots it got last, at any time
}

// told notes that the server gets the roots of a session inside a call.
func (r *rooting) told(session string) {
	r.mu.Lock()
	r.last = session
	r.mu.Unlock()
}

// moved reports whether a server that has asked for roots would get those of another session now.
func (r *rooting) moved(now string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	moved := r.asked && r.outside != now
	if moved {
		r.outside = now
	}
	return moved
}

// Meet takes note of who is there. A server that has asked for roots is told where its question
// would go to somebody else now.
func (s *Server) Meet(sessions []*tool.Session) {
	s.sessions.Store(&sessions)
	for _, c := range s.live() {
		now := ""
		if host := c.host(); host != nil {
			now = host.ID
		}
		if c.roots.moved(now) {
			c.rootsChanged()
		}
	}
}

// meets is called before a call: a process that has become a session's own may have asked for roots
// when it was nobody's.
func (c *conn) meets(session string) {
	if c.server.settings().Isolation != entry.Session || session == "" {
		return
	}
	if host := c.host(); host != nil && c.roots.moved(host.ID) {
		c.rootsChanged()
	}
}

// rootsChanged tells a server that the roots it knows may be others now.
func (c *conn) rootsChanged() {
	if c.Client.Era == mcp.Legacy && len(c.server.settings().Roots) == 0 {
		c.notes.send(c, methodRootsChanged, nil)
	}
}

// tellRoots tells the server that the roots of a session have changed, on each connection that would
// get them, or has got them.
func (s *Server) tellRoots(session string) {
	for _, c := range s.live() {
		host := c.host()
		c.roots.mu.Lock()
		theirs := session != "" && (host != nil && host.ID == session || c.roots.last == session)
		c.roots.mu.Unlock()
		if theirs {
			c.rootsChanged()
		}
	}
}

// host is the session whose roots are meant outside of a call; nil for none.
func (c *conn) host() *tool.Session {
	here := c.server.sessions.Load()
	if here == nil {
		return nil
	}
	own := c.session()
	if own == "" && (len(*here) != 1 || c.server.settings().Isolation == entry.Session) {
		return nil // it is nobody's, or everybody's
	}
	for _, s := range *here {
		if own == "" || s.ID == own {
			return s
		}
	}
	return nil
}

// session is the session that the connection belongs to, empty where all share it.
func (c *conn) session() string {
	s := c.server
	if s.settings().Isolation != entry.Session {
		return ""
	}
	p := s.pool.lock()
	defer s.pool.unlock()
	if _, held := p.holds(c); held || c.whose != "" {
		return c.whose // what it says while it is being stopped is that session's too
	}
	session := "" // it is being made, to find out what the server offers, and may have been given away
	for key := range p.opening {
		if session != "" || key.session == "" {
			return ""
		}
		session = key.session
	}
	return session
}

// rootsOutside answers a question for roots that belongs to no call, as far as can be seen. With
// several it may belong to the call of any of those clients: then only a process of one session can
// be told whose roots are meant.
func (c *conn) rootsOutside(ctx context.Context, params json.RawMessage, several bool) (json.RawMessage, error) {
	if conf := c.server.settings(); len(conf.Roots) > 0 {
		return rootsResult(entry.Reveal(conf.Roots)), nil
	}
	host := c.host()
	if several && c.session() == "" {
		host = nil
	}
	c.roots.mu.Lock()
	c.roots.asked, c.roots.outside = true, ""
	if host != nil {
		c.roots.outside, c.roots.last = host.ID, host.ID
	}
	c.roots.mu.Unlock()
	if host == nil || !host.Caller.Supports(tool.CanRoots) {
		return decline(methodRoots, entry.Forward)
	}
	return c.putTo(ctx, host.Caller, host.ID, time.Minute, methodRoots, params)
}

// rootsResult answers roots/list with the roots of the configuration, paths or URIs.
func rootsResult(roots []string) json.RawMessage {
	type root struct {
		URI  string `json:"uri"`
		Name string `json:"name,omitempty"`
	}
	list := make([]root, len(roots))
	for i, r := range roots {
		list[i] = root{URI: r, Name: filepath.Base(r)}
		if !strings.Contains(r, "://") {
			list[i].URI = (&url.URL{Scheme: "file", Path: filepath.ToSlash(r)}).String()
		}
	}
	raw, err := json.Marshal(map[string]any{"roots": list})
	if err != nil {
		panic("upstream: roots do not encode: " + err.Error())
	}
	return raw
}
