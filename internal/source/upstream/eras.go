package upstream

import (
	"cmp"
	"slices"

	"collie/internal/mcp"
	"collie/internal/source/upstream/entry"
	"collie/internal/source/upstream/toolcache"
)

// This file decides in which era a server is spoken to, and which connection a caller of an era
// or a session gets (ADR 26).

// spoken says which eras a server is known to speak, as the cache keeps it. Empty says that only
// one of them was tried.
type spoken string

const (
	speaksLegacy spoken = "legacy"
	speaksModern spoken = "modern"
	speaksBoth   spoken = "both"
)

// heard is what a new connection tells of the eras that its server speaks, given what was known.
func (known spoken) heard(c *mcp.Client) spoken {
	switch {
	case c.Era == mcp.Modern && slices.ContainsFunc(c.Versions, func(v string) bool { return !mcp.IsModern(v) }):
		return speaksBoth
	case c.Era == mcp.Modern:
		return speaksModern
	case c.NotModern:
		return speaksLegacy
	case known == speaksModern: // it has just shown otherwise
		return ""
	}
	return known
}

// tongue is the era in which a connection for a caller of an era begins, 0 for none; only says
// that the server is known to speak it. Where nothing is known and nobody has called yet, a process
// is asked to initialize, since it may take the other question for the choice of an era; over HTTP
// the modern question comes first, as 2026-07-28 wants it of clients that speak both (Transports,
// Streamable HTTP, Backward Compatibility): each request of theirs has the fields of that revision.
// s.mu is held.
func (s *Server) tongue(era mcp.Era) (first mcp.Era, only bool) {
	switch s.spoken {
	case speaksLegacy:
		return mcp.Legacy, true
	case speaksModern:
		return mcp.Modern, true
	case speaksBoth:
		return cmp.Or(era, s.caller, s.home, mcp.Legacy), true
	}
	otherwise := mcp.Legacy
	if s.settings().Transport != entry.Stdio {
		otherwise = mcp.Modern
	}
	return cmp.Or(era, s.caller, s.home, s.set.lastCaller(), otherwise), false
}

// slotOf is where the connection for a caller is kept. s.mu is held.
func (s *Server) slotOf(want slot) slot {
	if s.settings().Isolation != entry.Session {
		want.session = ""
	}
	if want.session != "" || want.era == s.home || !s.apart(want.era) {
		want.era = 0
	}
	return want
}

// apart reports whether callers of an era that is not the primary connection's get another one: the
// server speaks both, or it has yet to be asked, which is done once. s.mu is held.
func (s *Server) apart(era mcp.Era) bool {
	return s.spoken == speaksBoth || s.spoken == "" && era == mcp.Modern && s.settings().Protocol == "auto"
}

// suits reports whether a connection that begins in an era is right for a caller of another. s.mu
// is held.
func (s *Server) suits(have, want mcp.Era) bool {
	return want == 0 || have == want || s.spoken == speaksLegacy || s.spoken == speaksModern || s.settings().Protocol != "auto"
}

// anyOf returns whatever connection of a server of sessions stands, or is being made, to who only
// wants to know what it offers; nil where he has to start it. s.mu is held.
func (s *Server) anyOf(want slot, forCall bool) (*conn, *opening) {
	if want != (slot{}) || forCall || s.settings().Isolation != entry.Session || s.runsOn() {
		return nil, nil
	}
	feed := s.listing.Feed()
	for _, c := range s.conns() {
		if c.feed == feed && c.alive() {
			return c, nil
		}
	}
	for _, o := range s.opening {
		return nil, o
	}
	return nil, nil
}

// adopt gives the primary connection to a session that has none yet, if nobody has called over it;
// nil if not. s.mu is held.
func (s *Server) adopt(key slot, era mcp.Era) *conn {
	c := s.primary
	if key.session == "" || c == nil || c.used || !c.alive() || !s.suits(c.client.Era, era) {
		return nil
	}
	s.primary, s.extra[key], c.whose = nil, c, key.session
	s.spare()
	return c
}

// claim gives the primary connection that is being made to a session, if nobody else needs it; nil
// if not. s.mu is held.
func (s *Server) claim(key slot, era mcp.Era) *opening {
	o := s.opening[slot{}]
	if key.session == "" || o == nil || o.forCall || !s.suits(o.first, era) {
		return nil
	}
	delete(s.opening, slot{})
	o.key, s.opening[key] = key, o
	s.spare()
	return o
}

// spare starts a primary connection in the place of one that a session has taken, where the server
// is to run whether or not anybody uses it. s.mu is held.
func (s *Server) spare() {
	if s.runsOn() && !s.closed && s.opening[slot{}] == nil {
		s.begin(slot{}, 0) // nobody waits for it
	}
}

// isFor reports whether what a start has brought is for a caller who waited for it, and notes that
// he uses it. It is not where a session took it, or where it is in another era than his and the
// server has turned out to speak both.
func (s *Server) isFor(o *opening, want slot, forCall bool) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if want == (slot{}) && !forCall {
		return true // he wants to know what the server offers
	}
	if at, held := s.holds(o.conn); held && o.conn.alive() && at != s.slotOf(want) {
		return false
	}
	o.conn.used = o.conn.used || forCall
	return true
}

// erasWith says what has been found out about the eras of the server, c included, and how it is reached;
// see [listing.Options].
func (s *Server) erasWith(c *mcp.Client) (eras string, transport entry.Transport) {
	s.mu.Lock()
	defer s.mu.Unlock()
	transport = s.settings().Transport
	if s.overSSE {
		transport = entry.SSE
	}
	return string(s.spoken.heard(c)), transport // which a connection that is just being made has not noted yet
}

// recalled takes over what the cache knows of the server's eras, unless the server itself has told; see
// [listing.Options].
func (s *Server) recalled(e *toolcache.Entry) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.listing.Live() {
		return false
	}
	s.overSSE = e.Transport == string(entry.SSE)
	switch e.Era {
	case mcp.Modern.String():
		s.home = mcp.Modern
	case mcp.Legacy.String():
		s.home = mcp.Legacy
	}
	s.spoken = ""
	switch known := spoken(e.Eras); known {
	case speaksLegacy, speaksModern, speaksBoth: // what a later version may say means nothing here
		s.spoken = known
	}
	return true
}
