package source

import (
	"slices"
	"strings"
	"sync"

	"collie/internal/tool"
)

// This file passes messages of clients to the source that they concern, and tells sources which sessions there are.

// sessionList holds the connected sessions in the order in which they came.
type sessionList struct {
	notifyMu sync.Mutex // held while sources are notified, so that they learn of changes in order

	mu       sync.Mutex
	sessions []*tool.Session
}

// isAttended reports whether any session is connected.
func (p *sessionList) isAttended() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.sessions) > 0
}

// Join tells the sources that a session has connected.
func (c *Catalog) Join(s *tool.Session) {
	c.sessions.mu.Lock()
	c.sessions.sessions = append(c.sessions.sessions, s)
	c.sessions.mu.Unlock()
	c.tellSessions()
}

// Leave tells the sources that a session has ended. A second call for the same session does nothing.
func (c *Catalog) Leave(id string) {
	c.sessions.mu.Lock()
	before := len(c.sessions.sessions)
	c.sessions.sessions = slices.DeleteFunc(slices.Clone(c.sessions.sessions), func(s *tool.Session) bool { return s.ID == id })
	removed := len(c.sessions.sessions) < before
	c.sessions.mu.Unlock()
	if removed {
		c.tellSessions()
	}
}

// tellSessions tells each source the sessions that see it.
func (c *Catalog) tellSessions() {
	c.sessions.notifyMu.Lock()
	defer c.sessions.notifyMu.Unlock()
	c.sessions.mu.Lock()
	sessions := c.sessions.sessions
	c.sessions.mu.Unlock()
	c.mu.Lock()
	sources := c.sources
	c.mu.Unlock()
	for _, src := range sources {
		m, ok := src.(tool.Peer)
		if !ok {
			continue
		}
		var sees []*tool.Session
		for _, s := range sessions {
			if _, p := c.profile(s.Profile); !s.ListsOnly && p.showsSource(src) {
				sees = append(sees, s)
			}
		}
		m.SetSessions(sees)
	}
}

// showsSource reports whether a profile shows anything of a source.
func (p *Profile) showsSource(src tool.Source) bool {
	if len(p.Tools) == 0 && len(p.Hide) == 0 {
		return true
	}
	actions := 0
	for _, t := range src.Offer().Tools {
		for i := range t.Actions {
			if p.shows(&t, t.Actions[i].Name) {
				return true
			}
		}
		actions += len(t.Actions)
	}
	// The tools of a source that has told nothing yet are unknown, so the patterns are matched against its name.
	named := func(pattern string) bool {
		name, _, _ := strings.Cut(pattern, "/")
		return glob(name, src.Name())
	}
	hidden := slices.ContainsFunc(p.Hide, func(pattern string) bool { return glob(pattern, src.Name()) })
	return actions == 0 && !hidden && (len(p.Tools) == 0 || slices.ContainsFunc(p.Tools, named))
}

// peers returns the sources that a message from a client of this profile may be for.
func (c *Catalog) peers(profile string) (out []tool.Peer) {
	_, p := c.profile(profile)
	for _, o := range c.snapshot().offers {
		if m, ok := o.source.(tool.Peer); ok && m.Listens() && p.showsSource(o.source) {
			out = append(out, m)
		}
	}
	return out
}

// messageOwner returns the source that a message is for: the one that owns the request or progress the message names,
// else the only source of the profile. It returns nil if there is no such source.
func (c *Catalog) messageOwner(m *tool.Message) tool.Peer {
	list := c.peers(m.Profile)
	for _, one := range list {
		if one.Owns(m) {
			return one
		}
	}
	if len(list) == 1 && m.Method != methodProgress { // progress for an unknown request is for nobody
		return list[0]
	}
	return nil
}

// Client notifications of MCP that reach the catalog; the protocol layer handles the others.
const (
	methodProgress     = "notifications/progress"
	methodRootsChanged = "notifications/roots/list_changed"
)

// Tell passes a client's notification to its source and reports whether it found one. A change of roots goes to all
// sources: each knows whether it has been told any roots.
func (c *Catalog) Tell(m *tool.Message) bool {
	if m.Method == methodRootsChanged {
		list := c.peers(m.Profile)
		for _, owner := range list {
			owner.Tell(m)
		}
		return len(list) > 0
	}
	owner := c.messageOwner(m)
	if owner == nil {
		return false
	}
	owner.Tell(m)
	return true
}

// resolveRequest finds the source that answers a request whose method MCP does not define.
func (c *Catalog) resolveRequest(call *tool.Call) error {
	owner := c.messageOwner(&tool.Message{
		Method: call.Name, Params: call.Params, Request: true,
		Principal: call.Principal, Session: call.Session, Profile: call.Profile,
	})
	if owner == nil {
		return &tool.Error{Op: "request", Kind: tool.NotFound, Subject: call.Name, Message: "no server is meant by this method"}
	}
	call.Source, call.Target, call.Tool = owner, call.Name, owner.Name()
	return nil
}
