package source

import (
	"slices"
	"strings"
	"sync"

	"collie/internal/tool"
)

// people are the sessions that are connected, in the order in which they came.
type people struct {
	meeting sync.Mutex // held while sources are told, so that they hear of changes in order

	mu   sync.Mutex
	here []*tool.Session
}

// attend reports whether anybody is here.
func (p *people) attend() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.here) > 0
}

// Join tells the sources that a session has come.
func (c *Catalog) Join(s *tool.Session) {
	c.people.mu.Lock()
	c.people.here = append(c.people.here, s)
	c.people.mu.Unlock()
	c.introduce()
}

// Leave tells the sources that a session has gone. It may come twice.
func (c *Catalog) Leave(id string) {
	c.people.mu.Lock()
	before := len(c.people.here)
	c.people.here = slices.DeleteFunc(slices.Clone(c.people.here), func(s *tool.Session) bool { return s.ID == id })
	gone := len(c.people.here) < before
	c.people.mu.Unlock()
	if gone {
		c.introduce()
	}
}

// introduce tells each source which sessions see it.
func (c *Catalog) introduce() {
	c.people.meeting.Lock()
	defer c.people.meeting.Unlock()
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
		m.Meet(sees)
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
	// Of a source that has told nothing yet, the name decides.
	named := func(pattern string) bool {
		name, _, _ := strings.Cut(pattern, "/")
		return glob(name, src.Name())
	}
	hidden := slices.ContainsFunc(p.Hide, func(pattern string) bool { return glob(pattern, src.Name()) })
	return actions == 0 && !hidden && (len(p.Tools) == 0 || slices.ContainsFunc(p.Tools, named))
}

// peers are the sources that a message of a profile's client may be for.
func (c *Catalog) peers(profile string) (out []tool.Peer) {
	_, p := c.profile(profile)
	for _, o := range c.snapshot().offers {
		if m, ok := o.source.(tool.Peer); ok && m.Listens() && p.sees(o.source) {
			out = append(out, m)
		}
	}
	return out
}

// owner is whom a message is for: the source that it is about something of, else the only one.
// Nil means nobody.
func (c *Catalog) owner(m *tool.Message) tool.Peer {
	list := c.peers(m.Profile)
	for _, one := range list {
		if one.Owns(m) {
			return one
		}
	}
	if len(list) == 1 && m.Method != methodProgress { // progress of what nobody has asked for
		return list[0]
	}
	return nil
}

// The notifications of clients that MCP names, and that are not the protocol layer's.
const (
	methodProgress     = "notifications/progress"
	methodRootsChanged = "notifications/roots/list_changed"
)

// Tell passes a client's notification on to the source that it is for. That the client's roots
// have changed is told to all, which know whether they have been told any.
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

// resolveRequest finds who answers a request that MCP does not name.
func (c *Catalog) resolveRequest(call *tool.Call) error {
	one := c.owner(&tool.Message{
		Method: call.Name, Params: call.Params, Request: true,
		Principal: call.Principal, Session: call.Session, Profile: call.Profile,
	})
	if one == nil {
		return &tool.Error{Op: "request", Kind: tool.Unknown, Subject: call.Name, Message: "no server is meant by this method"}
	}
	call.Source, call.Target, call.Tool = one, call.Name, one.Name()
	return nil
}
