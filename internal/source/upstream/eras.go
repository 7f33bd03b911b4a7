package upstream

import (
	"cmp"
	"slices"

	"collie/internal/mcp"
	"collie/internal/source/upstream/entry"
	"collie/internal/source/upstream/listing"
	"collie/internal/source/upstream/supervise"
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

// firstEra is the era in which a connection for a caller of an era begins, 0 for none; only says
// that the server is known to speak it. Where nothing is known and nobody has called yet, a process
// is asked to initialize, since it may take the other question for the choice of an era; over HTTP
// the modern question comes first, as 2026-07-28 wants it of clients that speak both (Transports,
// Streamable HTTP, Backward Compatibility): each request of theirs has the fields of that revision.
func (p *slots) firstEra(era mcp.Era) (first mcp.Era, only bool) {
	switch p.eras.spoken {
	case speaksLegacy:
		return mcp.Legacy, true
	case speaksModern:
		return mcp.Modern, true
	case speaksBoth:
		return cmp.Or(era, p.eras.caller, p.eras.home, mcp.Legacy), true
	}
	otherwise := mcp.Legacy
	if p.settings().Transport != entry.Stdio {
		otherwise = mcp.Modern
	}
	return cmp.Or(era, p.eras.caller, p.eras.home, p.lastCaller(), otherwise), false
}

// slotOf is where the connection for a caller is kept.
func (p *slots) slotOf(want slot) slot {
	if p.settings().Isolation != entry.Session {
		want.session = ""
	}
	if want.session != "" || want.era == p.eras.home || !p.apart(want.era) {
		want.era = 0
	}
	return want
}

// apart reports whether callers of an era that is not the primary connection's get another one: the
// server speaks both, or it has yet to be asked, which is done once.
func (p *slots) apart(era mcp.Era) bool {
	return p.eras.spoken == speaksBoth || p.eras.spoken == "" && era == mcp.Modern && p.settings().Protocol == "auto"
}

// suits reports whether a connection that begins in an era is right for a caller of another.
func (p *slots) suits(have, want mcp.Era) bool {
	return want == 0 || have == want || p.eras.spoken == speaksLegacy || p.eras.spoken == speaksModern || p.settings().Protocol != "auto"
}

// anyOf returns whatever connection of a server of sessions stands, or is being made, to who only
// wants to know what it offers, feed being whose lists are on offer; nil where he has to start it.
func (p *slots) anyOf(want slot, forCall bool, feed *listing.Feed) (*conn, *opening) {
	if want != (slot{}) || forCall || p.settings().Isolation != entry.Session || supervise.AlwaysOn(p.settings()) {
		return nil, nil
	}
	for _, c := range p.conns() {
		if c.feed == feed && c.Alive() {
			return c, nil
		}
	}
	for _, o := range p.opening {
		return nil, o
	}
	return nil, nil
}

// assign gives the primary connection to a session that has none yet, if nobody has called over it;
// nil if not.
func (p *slots) assign(key slot, era mcp.Era) *conn {
	c := p.primary
	if key.session == "" || c == nil || c.used || !c.Alive() || !p.suits(c.Client.Era, era) {
		return nil
	}
	p.primary, p.extra[key], c.whose = nil, c, key.session
	return c
}

// assignOpening gives the primary connection that is being made to a session, if nobody else needs it; nil
// if not.
func (p *slots) assignOpening(key slot, era mcp.Era) *opening {
	o := p.opening[slot{}]
	if key.session == "" || o == nil || o.forCall || !p.suits(o.first, era) {
		return nil
	}
	delete(p.opening, slot{})
	o.key, p.opening[key] = key, o
	return o
}

// refill starts a primary connection in the place of one that a session has taken, where the server
// is to run whether or not anybody uses it.
func (s *Server) refill(p *slots) {
	if s.runsOn() && !p.closed && p.opening[slot{}] == nil {
		s.begin(p, slot{}, 0) // nobody waits for it
	}
}

// fits reports whether what a start has brought is for a caller who waited for it, and notes that
// he uses it. It is not where a session took it, or where it is in another era than his and the
// server has turned out to speak both.
func (s *Server) fits(o *opening, want slot, forCall bool) bool {
	p := s.pool.lock()
	defer s.pool.unlock()
	if want == (slot{}) && !forCall {
		return true // he wants to know what the server offers
	}
	if at, held := p.holds(o.conn); held && o.conn.Alive() && at != p.slotOf(want) {
		return false
	}
	o.conn.used = o.conn.used || forCall
	return true
}

// erasWith says what has been found out about the eras of the server, c included, and how it is reached;
// see [listing.Options].
func (s *Server) erasWith(c *mcp.Client) (eras string, transport entry.Transport) {
	p := s.pool.lock()
	defer s.pool.unlock()
	transport = s.settings().Transport
	if s.dialer.OverSSE() {
		transport = entry.SSE
	}
	return string(p.eras.spoken.heard(c)), transport // which a connection that is just being made has not noted yet
}

// recalled takes over what the cache knows of the server's eras, unless the server itself has told; see
// [listing.Options].
func (s *Server) recalled(e *toolcache.Entry) bool {
	p := s.pool.lock()
	defer s.pool.unlock()
	if s.listing.Live() {
		return false
	}
	s.dialer.AssumeSSE(e.Transport == string(entry.SSE))
	switch e.Era {
	case mcp.Modern.String():
		p.eras.home = mcp.Modern
	case mcp.Legacy.String():
		p.eras.home = mcp.Legacy
	}
	p.eras.spoken = ""
	switch known := spoken(e.Eras); known {
	case speaksLegacy, speaksModern, speaksBoth: // what a later version may say means nothing here
		p.eras.spoken = known
	}
	return true
}
