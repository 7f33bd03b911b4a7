package upstream

import (
	"collie/internal/mcp"
	"collie/internal/source/upstream/entry"
	"collie/internal/tool"
)

// checkHealthOf pings a quiet server of the legacy era, where its settings want that: a
// remote one as a rule, a child only for keepalive. The modern era has no ping.
func (s *Server) checkHealthOf(c *conn) {
	conf := s.settings()
	if conf.Health.Ping <= 0 || c.Client.Era != mcp.Legacy || c.Process != nil && conf.Lifecycle != entry.KeepAlive {
		return
	}
	s.life.wg.Go(func() { s.checkHealth(c, conf.Health) })
}

// checkHealth ends with the connection, which it ends itself after too many unanswered pings.
func (s *Server) checkHealth(c *conn, h entry.Health) {
	misses := 0
	for pauseFor(s.life.ctx, c.Client.Link.Done(), h.Ping) {
		if c.calls.Busy() { // a call runs: that says nothing of its health, and it has its own limit
			continue
		}
		if c.Ping(s.life.ctx) {
			if misses >= h.Failures {
				s.enterFor(c, tool.StateReady, "", "")
			}
			misses = 0
			continue
		}
		misses++
		switch misses {
		case h.Failures:
			s.enterFor(c, tool.StateDegraded, "ping_failed", "it does not answer pings")
		case 2 * h.Failures:
			s.log.Warn("no answer to pings, connecting anew", "pings", misses)
			c.EndFor("ping_failed")
			return
		}
	}
}
