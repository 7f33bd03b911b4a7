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

// This file decides which era is used with a server, and which connection a caller of a given era or session gets
// (ADR 26).

// knownEras tells which eras a server is known to speak, in the words of the cache. Empty means that only one of them
// was tried.
type knownEras string

const (
	speaksLegacy knownEras = "legacy"
	speaksModern knownEras = "modern"
	speaksBoth   knownEras = "both"
)

// after returns what is known of the server's eras after connection c, where known was known before.
func (known knownEras) after(c *mcp.Client) knownEras {
	switch {
	case c.Era == mcp.Modern && slices.ContainsFunc(c.Versions, func(v string) bool { return !mcp.IsModern(v) }):
		return speaksBoth
	case c.Era == mcp.Modern:
		return speaksModern
	case c.NotModern:
		return speaksLegacy
	case known == speaksModern: // this connection shows that the server speaks legacy too; modern was not tried
		return ""
	}
	return known
}

// firstEra returns the era to try first for a caller of the given era (0: no caller). only says that no other
// is to be tried, since it is known which eras the server speaks.
//
// If nothing is known and there is no caller, a process is sent initialize first, since it might take a modern
// request for the choice of an era. Over HTTP the modern request comes first, as MCP 2026-07-28 asks of clients that
// speak both eras (Transports, Streamable HTTP, Backward Compatibility): there every request carries the fields of
// its revision.
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

// connKey returns the slot under which the pool keeps the connection for a caller. It leaves out of want what makes no
// connection of its own: the session unless connections are isolated by session, and an era that the primary connection
// serves too.
func (p *slots) connKey(want slot) slot {
	if p.settings().Isolation != entry.Session {
		want.session = ""
	}
	if want.session != "" || want.era == p.eras.home || !p.needsOwnConn(want.era) {
		want.era = 0
	}
	return want
}

// needsOwnConn reports whether callers of an era that differs from the primary connection's get another connection: if
// the server speaks both eras, or if that is still unknown and the callers are modern.
func (p *slots) needsOwnConn(era mcp.Era) bool {
	return p.eras.spoken == speaksBoth || p.eras.spoken == "" && era == mcp.Modern && p.settings().Protocol == "auto"
}

// servesEra reports whether a connection in the era have can serve a caller of the era want.
func (p *slots) servesEra(have, want mcp.Era) bool {
	return want == 0 || have == want || p.eras.spoken == speaksLegacy || p.eras.spoken == speaksModern || p.settings().Protocol != "auto"
}

// connForLists returns an existing connection, or one being opened, to a caller that only wants the lists of a server with a
// connection for each session. feed is the connection whose lists are published. It returns nil if the caller has to
// open one.
func (p *slots) connForLists(want slot, forCall bool, feed *listing.Feed) (*conn, *opening) {
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

// assignPrimary gives the primary connection to a session that has none yet and opens none, provided it has served no
// call. It returns nil otherwise.
func (p *slots) assignPrimary(key slot, era mcp.Era) *conn {
	c := p.primary
	if key.session == "" || p.opening[key] != nil || c == nil || c.used || !c.Alive() || !p.servesEra(c.Client.Era, era) {
		return nil
	}
	p.primary, p.extra[key], c.ownerID = nil, c, key.session
	return c
}

// assignOpening gives the primary connection that is being opened to a session, provided no other caller needs
// it. It returns nil otherwise.
func (p *slots) assignOpening(key slot, era mcp.Era) *opening {
	o := p.opening[slot{}]
	if key.session == "" || o == nil || o.forCall || !p.servesEra(o.first, era) {
		return nil
	}
	delete(p.opening, slot{})
	o.key, p.opening[key] = key, o
	return o
}

// reopenPrimary opens a new primary connection after a session has taken the old one, if the server is to run even when
// nobody uses it.
func (s *Server) reopenPrimary(p *slots) {
	if s.runsOn() && !p.closed && p.opening[slot{}] == nil {
		s.startOpening(p, slot{}, 0) // no call waits for this start
	}
}

// claimForCaller reports whether the connection from a start suits a caller that waited for it. If the caller has a call
// to make (forCall), it then also marks the connection as used. It does not suit if a session has taken it, or if it has the other era and the server turned out to speak both.
func (s *Server) claimForCaller(o *opening, want slot, forCall bool) bool {
	p := s.pool.lock()
	defer s.pool.unlock()
	if want == (slot{}) && !forCall {
		return true // the caller only fetches the lists
	}
	if at, held := p.slotWith(o.conn); held && o.conn.Alive() && at != p.connKey(want) {
		return false
	}
	o.conn.used = o.conn.used || forCall
	return true
}

// erasWith returns what is known of the server's eras, including what c shows, and the transport; see
// [listing.Options].
func (s *Server) erasWith(c *mcp.Client) (eras string, transport entry.Transport) {
	p := s.pool.lock()
	defer s.pool.unlock()
	transport = s.settings().Transport
	if s.dialer.OverSSE() {
		transport = entry.SSE
	}
	return string(p.eras.spoken.after(c)), transport // a connection that is still being opened is not recorded yet
}

// restoreEras adopts the eras from a cache entry, unless the server itself has shown them; see [listing.Options].
func (s *Server) restoreEras(e *toolcache.Entry) bool {
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
	switch known := knownEras(e.Eras); known {
	case speaksLegacy, speaksModern, speaksBoth: // other values, perhaps from a later version, are ignored
		p.eras.spoken = known
	}
	return true
}
