package upstream

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"collie/internal/mcp"
	"collie/internal/source/upstream/entry"
	"collie/internal/source/upstream/serverlog"
	"collie/internal/source/upstream/supervise"
	"collie/internal/tool"
	"collie/internal/units"
)

// This file carries out the decisions of package supervise: it restarts the server after a failure, stops it when
// nobody uses it, and gives up its connections.

// setState moves the server to a state that no event of a connection leads to.
func (s *Server) setState(state tool.State, reason, detail string) {
	s.supervisor.Tell(func(m *supervise.Machine, now time.Time) { m.Enter(now, state, reason, s.redact(detail)) })
}

// enterFor does what setState does if c is still the primary connection. Otherwise the state is about a newer
// connection already.
func (c *conn) enterFor(state tool.State, reason, detail string) {
	s := c.server
	p := s.pool.lock()
	defer s.pool.unlock()
	if p.primary == c {
		s.setState(state, reason, detail)
	}
}

// tellState logs a change of state and publishes it. The supervisor's lock keeps changes in order, so subscribers hear of them
// from their own queues.
func (s *Server) tellState(c supervise.Condition) {
	if c.State != tool.StateIdle || c.Reason != "" {
		s.output.Add(serverlog.Own, logText(c))
	}
	s.log.Debug("server state", "state", string(c.State), "reason", c.Reason, "detail", c.Detail)
	if to := s.set.opts.States; to != nil && !s.muted.Load() {
		to.Publish(StateChange{s.name, c})
	}
}

// logText says in the log of a server that its state has changed. The stable reason is left to the status where a sentence says more.
func logText(c supervise.Condition) string {
	line := string(c.State)
	switch {
	case c.Detail != "":
		line += ": " + c.Detail
	case c.Reason != "":
		line += ": " + c.Reason
	}
	return line
}

// startFailed records a failed start and plans the next one.
func (s *Server) startFailed(p *slots, err error) {
	switch {
	case p.closed:
		return
	case errors.Is(err, errStopped):
		s.setState(tool.StateIdle, reasonStopped, "")
		return
	}
	reason, hint := reasonOf(err)
	if reason == "auth_required" {
		hint = s.authHint()
	}
	detail := err.Error()
	if hint != "" {
		detail += "; " + hint
	}
	s.set.cache().Failed(s.name, reason)
	s.recordFailure(supervise.Failure{Reason: reason, Status: statusOf(err), Detail: detail, Err: err, Retry: s.retriesByItself()})
}

// recordFailure records a failure.
func (s *Server) recordFailure(f supervise.Failure) {
	f.Detail, f.Chance = s.redact(f.Detail), rand.Float64() // Chance spreads retries over time
	s.supervisor.Tell(func(m *supervise.Machine, now time.Time) { m.Failed(now, f) })
}

// retriesByItself reports whether the server is to be retried without a call.
func (s *Server) retriesByItself() bool {
	return s.runsOn() || s.listing.Lists() == nil || s.wants.hasSubscriptions()
}

// runsOn reports whether the server is to run even when nobody uses it.
func (s *Server) runsOn() bool { return supervise.AlwaysOn(s.settings()) }

// execute carries out what the supervisor orders when one of its timers fires.
func (s *Server) execute(order supervise.Order) {
	switch order {
	case supervise.Start:
		s.startAgain()
	case supervise.CheckUse:
		s.stopUnused()
	case supervise.None:
	}
}

// startAgain starts the server after a failure, unless it runs by now or a person has stopped it.
func (s *Server) startAgain() {
	p := s.pool.lock()
	defer s.pool.unlock()
	if p.closed || p.primary != nil || p.opening[slot{}] != nil || s.supervisor.Condition().NextRetry.IsZero() {
		return
	}
	s.startOpening(p, slot{}, 0) // no call waits for this start
}

// startRefusal returns the reason why no start is to be tried now: the breaker is open, or the last attempt has just
// failed for good. It returns nil if a start may be tried.
func (s *Server) startRefusal() error {
	r := s.supervisor.Refused()
	switch {
	case r == nil:
		return nil
	case r.After == 0:
		return s.startFailure(r.Err, 0)
	}
	return &tool.Error{
		Op: "call", Kind: tool.Unavailable, Subject: s.name, RetryAfter: r.After,
		Message: fmt.Sprintf("it failed %d times in a row (%s: %s) and is tried again in %v",
			r.Failures, r.Reason, shorten(r.Detail), r.After.Round(100*time.Millisecond)),
		Hint: "collie mcp restart " + s.name + " tries at once",
	}
}

// signedOut records that the server asked for authentication in the middle of a session.
func (c *conn) signedOut() {
	s := c.server
	p := s.pool.lock()
	defer s.pool.unlock()
	if p.primary == c { // else the state is about another connection
		s.supervisor.Tell(func(m *supervise.Machine, now time.Time) { m.SignedOut(now, s.authHint()) })
	}
}

// watchEnd waits for the end of a connection, records it, and plans the next start.
func (c *conn) watchEnd() {
	s := c.server
	select {
	case <-c.Client.Link.Done():
	case <-s.life.ctx.Done():
		return
	}
	if s.life.ctx.Err() != nil {
		return
	}
	p := s.pool.lock()
	_, known := p.slotWith(c)
	s.pool.unlock()
	if !known { // given up, or already found dead by a call
		c.Close(s.life.ctx)
		return
	}
	detail := s.redact(c.Ending())
	p = s.pool.lock()
	key, known := p.slotWith(c)
	if known {
		s.remove(p, key)
		c.closeLost(p)
	}
	switch {
	case !known || p.opening[slot{}] != nil:
	case key == (slot{}):
		s.recordFailure(supervise.Failure{Reason: c.EndReason(), Detail: detail, Retry: true})
	case len(p.conns()) == 0: // the last connection of a server with one for each session
		s.recordFailure(supervise.Failure{Reason: c.EndReason(), Detail: detail, Retry: s.retriesByItself()})
	}
	s.pool.unlock()
	s.log.Warn("server ended", "detail", shorten(detail))
	c.Close(s.life.ctx)
}

// stopUnused stops the server if nobody has needed it for idleTimeout. Calls in flight, questions that wait for a
// person and subscriptions keep it running. Connections of single sessions are closed one by one, each when it has been
// quiet for that time.
func (s *Server) stopUnused() {
	p := s.pool.lock()
	defer s.pool.unlock()
	if p.closed {
		return
	}
	now := time.Now()
	s.closeUnused(p, now)
	conns := p.conns()
	policy := supervise.PolicyOf(s.settings())
	d, ok := policy.IdleTimeout, policy.Stops()
	if len(conns) == 0 || !ok && len(p.extra) == 0 {
		return
	}
	if remaining := s.busyFor(p, conns, now, d, ok); remaining > 0 {
		s.supervisor.Tell(func(m *supervise.Machine, now time.Time) { m.Postpone(now, remaining) })
		return
	}
	s.release(p, conns, "idle_stop")
	s.life.wg.Go(func() {
		s.end(s.life.ctx, conns, "idle_stop", fmt.Sprintf("it was not used for %s", units.DurationWords(d)))
	})
	s.log.Debug("idle, stopping", "after", d)
}

// busyFor returns how long to wait before checking again whether conns may be closed. 0 means that they may: they
// have been retired and take no more calls.
func (s *Server) busyFor(p *slots, conns []*conn, now time.Time, d time.Duration, ok bool) (remaining time.Duration) {
	if !ok {
		return s.settings().IdleTimeout // the server keeps running
	}
	if s.wants.hasSubscriptions() || len(p.opening) > 0 {
		return d
	}
	for i, c := range conns {
		if remaining = c.calls.RetireIdle(now, d); remaining > 0 {
			for _, other := range conns[:i] {
				other.calls.Reinstate()
			}
			return remaining
		}
	}
	return 0
}

// closeUnused closes the connections of sessions that have been quiet for idleTimeout. If all connections are quiet,
// it closes none: then the server stops as a whole.
func (s *Server) closeUnused(p *slots, now time.Time) {
	d := s.settings().IdleTimeout
	for key, c := range p.extra {
		if key.session == "" || d <= 0 || len(p.conns()) == 1 || c.calls.RetireIdle(now, d) > 0 {
			continue
		}
		s.remove(p, key)
		s.life.wg.Go(func() { c.Close(s.life.ctx) })
	}
}

// release takes connections out of use: calls that were about to use one look for another.
func (s *Server) release(p *slots, conns []*conn, reason string) {
	for _, c := range conns {
		c.calls.Retire()
	}
	p.primary, p.extra = nil, map[slot]*conn{}
	s.listing.Drop(nil)
	s.supervisor.Tell(func(m *supervise.Machine, now time.Time) { m.Stopping(now, reason) })
	p.beginClosing()
}

// giveUp stops all connections. Calls in flight may go on for drain, unless ctx ends or the server is closed meanwhile.
// close waits until giveUp has returned.
func (s *Server) giveUp(ctx context.Context, drain time.Duration, reason string) {
	p := s.pool.lock()
	conns := p.conns()
	if len(conns) == 0 || p.closed {
		s.pool.unlock()
		return
	}
	s.release(p, conns, reason)
	s.life.wg.Add(1)
	defer s.life.wg.Done()
	s.pool.unlock()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(s.life.ctx, cancel)()
	drainAll(ctx, conns, drain)
	s.end(ctx, conns, reason, "")
}

// drainAll drains connections at the same time.
func drainAll(ctx context.Context, conns []*conn, limit time.Duration) {
	var wg sync.WaitGroup
	for _, c := range conns {
		wg.Go(func() { c.drain(ctx, limit) })
	}
	wg.Wait()
}

// end closes connections that were released.
func (s *Server) end(ctx context.Context, conns []*conn, reason, detail string) {
	var wg sync.WaitGroup
	for _, c := range conns {
		wg.Go(func() { c.Close(ctx) })
	}
	wg.Wait()
	p := s.pool.lock()
	p.endClosing()
	s.supervisor.Tell(func(m *supervise.Machine, now time.Time) { m.Stopped(now, reason, detail) })
	s.pool.unlock()
}

// noPing is how long a connection without pings goes on before the settings are looked at again.
const noPing = time.Minute

// pingInterval returns how long to wait before the next ping, and whether the settings ask for pings.
func (c *conn) pingInterval() (interval time.Duration, pings bool) {
	conf := c.server.settings()
	if conf.Health.Ping <= 0 || c.Process != nil && conf.Lifecycle != entry.KeepAlive {
		return noPing, false
	}
	return conf.Health.Ping, true
}

// checkHealth pings a quiet legacy server if its settings say so: by default a remote one, and a child process only
// if it is keepalive. The modern era has no ping. Settings that change are followed from the next ping on. It returns
// when the connection ends, and itself ends a connection on which too many pings stay unanswered.
func (c *conn) checkHealth() {
	if c.Client.Era != mcp.Legacy {
		return
	}
	s, misses, degraded := c.server, 0, false
	for {
		interval, pings := c.pingInterval()
		if !sleepFor(s.life.ctx, c.Client.Link.Done(), interval) {
			return
		}
		if pings && c.calls.Busy() { // a running call says nothing about health and has a limit of its own
			continue
		}
		if !pings || c.Ping(s.life.ctx) {
			if degraded {
				c.enterFor(tool.StateReady, "", "")
			}
			misses, degraded = 0, false
			continue
		}
		misses++
		switch limit := s.settings().Health.Failures; {
		case misses >= 2*limit:
			s.log.Warn("no answer to pings, connecting anew", "pings", misses)
			c.EndFor("ping_failed")
			return
		case misses >= limit && !degraded:
			degraded = true
			c.enterFor(tool.StateDegraded, "ping_failed", "it does not answer pings")
		}
	}
}
