package upstream

import (
	"collie/internal/mcp"
	"collie/internal/source/upstream/entry"
	"collie/internal/tool"
)

// checkHealth pings a quiet server of the legacy era, where its settings want that: a
// remote one as a rule, a child only for keepalive. The modern era has no ping. It ends with the
// connection, which it ends itself after too many unanswered pings.
func (c *conn) checkHealth() {
	s, conf := c.server, c.server.settings()
	h := conf.Health
	if h.Ping <= 0 || c.Client.Era != mcp.Legacy || c.Process != nil && conf.Lifecycle != entry.KeepAlive {
		return
	}
	misses := 0
	for pauseFor(s.life.ctx, c.Client.Link.Done(), h.Ping) {
		if c.calls.Busy() { // a call runs: that says nothing of its health, and it has its own limit
			continue
		}
		if c.Ping(s.life.ctx) {
			if misses >= h.Failures {
				c.enterFor(tool.StateReady, "", "")
			}
			misses = 0
			continue
		}
		misses++
		switch misses {
		case h.Failures:
			c.enterFor(tool.StateDegraded, "ping_failed", "it does not answer pings")
		case 2 * h.Failures:
			s.log.Warn("no answer to pings, connecting anew", "pings", misses)
			c.EndFor("ping_failed")
			return
		}
	}
}
