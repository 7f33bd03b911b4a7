package upstream

import (
	"time"

	"collie/internal/mcp"
	"collie/internal/source/upstream/entry"
	"collie/internal/source/upstream/toolcache"
	"collie/internal/tool"
)

// want describes the server to the cache. It is nil where the server has no identity.
func (s *Server) want() *toolcache.Want {
	if s.hash == "" {
		return nil
	}
	conf := s.settings()
	return &toolcache.Want{
		Name: s.name, Hash: s.hash, Fingerprint: s.fingerprint(), Principal: s.principal(),
		MaxAge: conf.Cache.MaxAge, MaxStale: conf.Cache.MaxStale,
	}
}

// recall publishes what the cache knows of the server and says what that is worth. A list that
// this home has sealed was held against the pins when it came: where that hides nothing, quick
// leaves it to others to look up what waits for approval in it.
func (s *Server) recall(quick bool) (v toolcache.Verdict, why string) {
	w := s.want()
	if w == nil || !s.settings().Cache.Enabled {
		return toolcache.Miss, "off"
	}
	e, v, why := s.set.cache().Lookup(*w)
	if v != toolcache.Hit && v != toolcache.Stale {
		return v, why
	}
	k := &known{
		tools: e.Tools, resources: e.Resources, templates: e.ResourceTemplates, prompts: e.Prompts,
		instructions: e.Instructions, info: e.ServerInfo, capabilities: e.Capabilities, version: e.ProtocolVersion,
		modern: e.Era == mcp.Modern.String(), remote: e.Transport != string(entry.Stdio),
		truncated: e.Truncated, dropped: e.Dropped, ttl: e.TTL, scope: e.CacheScope,
	}
	if quick && e.Sealed && s.settings().Trust != entry.Pin {
		s.unchecked.Store(true)
	} else if !s.checkPins(k, false) {
		return toolcache.Miss, "tampered"
	}
	s.publishing.Lock()
	defer s.publishing.Unlock()
	s.mu.Lock()
	if s.up.Load() || e.ValidatedAt.Before(s.validated) { // the server itself has told better
		s.mu.Unlock()
		return toolcache.Hit, ""
	}
	s.validated = e.ValidatedAt
	s.hello = hello{e.Era, e.ProtocolVersion, nameOf(e.ServerInfo)}
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
	s.mu.Unlock()
	fresh := tool.FreshHit
	if v == toolcache.Stale {
		fresh = tool.FreshStale
	}
	s.publish(k, fresh, why)
	return v, why
}

// speaksForItself reports whether the server runs or is being started: it tells what it offers
// better than any cache.
func (s *Server) speaksForItself() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.up.Load() || len(s.opening) > 0
}

// forget takes back what the cache had told, since somebody has cleared it, and learns it anew
// where that may be done without a call.
func (s *Server) forget() {
	if s.known.Load() == nil {
		return
	}
	s.publishing.Lock()
	if s.speaksForItself() {
		s.publishing.Unlock()
		return
	}
	s.publish(&known{}, tool.FreshNone, "no_entry")
	s.known.Store(nil)
	s.publishing.Unlock()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.validated = time.Time{}
	lazy := s.settings().Lifecycle == entry.Lazy && s.set.opts.Policy.Warmup == "off"
	if !lazy && !s.closed && s.primary == nil && s.opening[slot{}] == nil {
		s.begin(slot{}, 0) // nobody waits for it
	}
}

// remember keeps what c has told, if its lists are those on offer. Lists that are empty where tools
// were announced never replace what is kept.
func (s *Server) remember(c *conn) {
	k := s.known.Load()
	conf := s.settings()
	if k == nil || s.hash == "" || !conf.Cache.Enabled || !s.isTeacher(c) {
		return
	}
	cache := s.set.cache()
	if len(k.tools) == 0 && k.can("tools") {
		if len(k.dropped) == 0 {
			cache.Mark(s.name, toolcache.Empty, "empty_list")
		}
		return
	}
	era := mcp.Legacy
	if k.modern {
		era = mcp.Modern
	}
	s.mu.Lock()
	eras := s.spoken.heard(c.client) // which a connection that is just being made has not noted yet
	transport := string(conf.Transport)
	if s.overSSE {
		transport = string(entry.SSE)
	}
	s.mu.Unlock()
	cache.Store(s.name, &toolcache.Entry{
		Tools: k.tools, Prompts: k.prompts, Resources: k.resources, ResourceTemplates: k.templates,
		ConfigHash: s.hash, Fingerprint: s.fingerprint(), Principal: s.principal(),
		ServerConfig: conf.Snapshot(s.set.opts.Home),
		Era:          era.String(), Eras: string(eras), ProtocolVersion: k.version, Transport: transport,
		ServerInfo: k.info, Capabilities: k.capabilities, Instructions: k.instructions,
		TTL: k.ttl, CacheScope: k.scope, Truncated: k.truncated, Dropped: k.dropped,
	})
}

// rememberEras keeps what has been found out about the eras of a server beside its lists, once these
// are all there.
func (s *Server) rememberEras() {
	s.mu.Lock()
	c := s.teacher
	s.mu.Unlock()
	if c != nil && c.awaitLists(s.life) == nil {
		s.remember(c)
	}
}

// relist asks a live server for its tools again when they have reached their age; see
// [known.lifetime].
func (s *Server) relist(now time.Time) {
	s.relistAt.Store(now.Add(time.Hour).UnixNano()) // a refresh sets it anew
	if s.up.Load() {
		s.lists.ask(tool.ToolsChanged)
	}
}
