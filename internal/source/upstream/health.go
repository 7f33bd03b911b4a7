package upstream

import (
	"context"
	"errors"
	"time"

	"collie/internal/mcp"
	"collie/internal/source/upstream/entry"
	"collie/internal/tool"
)

// pingLimit is how long an answer to a ping may take.
const pingLimit = 5 * time.Second

// checkHealthOf pings a quiet server of the legacy era, where its settings want that: a
// remote one as a rule, a child only for keepalive. The modern era has no ping.
func (s *Server) checkHealthOf(c *conn) {
	conf := s.settings()
	if conf.Health.Ping <= 0 || c.client.Era != mcp.Legacy || c.proc != nil && conf.Lifecycle != entry.KeepAlive {
		return
	}
	s.life.wg.Go(func() { s.checkHealth(c, conf.Health) })
}

// checkHealth ends with the connection, which it ends itself after too many unanswered pings.
func (s *Server) checkHealth(c *conn, h entry.Health) {
	misses := 0
	for pauseFor(s.life.ctx, c.client.Link.Done(), h.Ping) {
		if c.calls.Busy() { // a call runs: that says nothing of its health, and it has its own limit
			continue
		}
		if c.ping(s.life.ctx) {
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
			c.endFor("ping_failed")
			return
		}
	}
}

// ping reports whether the server answers; that it knows no ping is an answer.
func (c *conn) ping(ctx context.Context) bool {
	ctx, cancel := context.WithTimeout(ctx, pingLimit)
	defer cancel()
	_, err := c.client.Request(ctx, "ping", nil)
	_, answered := errors.AsType[*mcp.RPCError](err)
	return err == nil || answered
}
