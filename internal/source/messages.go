package source

import (
	"slices"
	"strings"
	"sync"

	"collie/internal/tool"
)

// people holds the connected sessions in the order in which they came.
type people struct {
	notifyMu sync.Mutex // held while sources are told, so that they hear of changes in order

	mu   sync.Mutex
	here []*tool.Session
}

// attend reports whether any session is connected.
func (p *people) isAttended() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.here) > 0
}

// Join tells the sources that a session has connected.
func (c *Catalog) Join(s *tool.Session) {
	c.people.mu.Lock()
	c.people.here = append(c.people.here, s)
	c.people.mu.Unlock()
	c.tellSessions()
}

// Leave tells the sources that a session has ended. A second call for the same session does nothing.
func (c *Catalog) Leave(id string) {
	c.people.mu.Lock()
	before := len(c.people.here)
	c.people.here = slices.DeleteFunc(slices.Clone(c.people.here), func(s *tool.Session) bool { return s.ID == id })
	removed := len(c.people.here) < before
	c.people.mu.Unlock()
	if removed {
		c.tellSessions()
	}
}

// introduce tells each source the sessions that see it.
func (c *Catalog) tellSessions() {
	c.people.notifyMu.Lock()
	defer c.people.notifyMu.Unlock()
	c.people.mu.Lock()
	here := c.people.here
	c.people.mu.Unlock()
	c.mu.Lock()
	sources := c.sources
	c.mu.Unlock()
	for _, src := range sources {
		m, ok := src.(tool.Peer)
		if !ok {
			continue
		}
		var sees []*tool.Session
		for _, s := range here {
			if _, p := c.profile(s.Profile); !s.ListsOnly && p.sees(src) {
				sees = append(sees, s)
			}
		}
		m.SetSessions(sees)
	}
}

// sees reports whether a profile shows anything of a source.
func (p *Profile) sees(src tool.Source) bool {
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
		if m, ok := o.source.(tool.Peer); ok && m.Listens() && p.sees(o.source) {
			out = append(out, m)
		}
	}
	return out
}

// owner returns the source that a message is for: the one that owns the request or progress the message names, else
// the only source of the profile. It returns nil if there is no such source.
func (c *Catalog) owner(m *tool.Message) tool.Peer {
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
		for _, one := range list {
			one.Tell(m)
		}
		return len(list) > 0
	}
	one := c.owner(m)
	if one == nil {
		return false
	}
	one.Tell(m)
	return true
}

// resolveRequest finds the source that answers a request whose method MCP does not define.
func (c *Catalog) resolveRequest(call *tool.Call) error {
	one := c.owner(&tool.Message{
		Method: call.Name, Params: call.Params, Request: true,
		Principal: call.Principal, Session: call.Session, Profile: call.Profile,
	})
	if one == nil {
		return &tool.Error{Op: "request", Kind: tool.NotFound, Subject: call.Name, Message: "no server is meant by this method"}
	}
	call.Source, call.Target, call.Tool = one, call.Name, one.Name()
	return nil
}
