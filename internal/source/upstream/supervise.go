package upstream

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"collie/internal/source/upstream/entry"
	"collie/internal/tool"
)

// This file decides when a server runs: what happens after a failure (4.7), when it is
// stopped for being idle (4.8), and how connections are given up (4.9).

// startFailed records a start that failed and plans the next one.
func (s *Server) startFailed(err error) {
	reason, hint := reasonOf(err)
	if reason == "auth_required" {
		hint = s.authHint()
	}
	detail := err.Error()
	if hint != "" {
		detail += "; " + hint
	}
	s.set.cache().Failed(s.name, reason)
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		return
	}
	s.lastErr = err
	s.failed(reason, statusOf(err), detail, false)
	s.mu.Unlock()
}

// failed notes a failure and moves to the state that follows. crash says that the server
// ran. s.mu is held.
func (s *Server) failed(reason string, status int, detail string, crash bool) {
	if permanent(reason, status) {
		state := tool.StateFailed
		if reason == "auth_required" {
			state = tool.StateNeedsAuth
		}
		s.history.ready = time.Time{}
		s.status.NextRetry = nil
		s.record(state, reason, detail)
		return
	}
	now := time.Now()
	next, open := s.history.failed(s.settings().Restart, now, rand.Float64()) //nolint:gosec // it spreads load, it keeps no secret
	state := tool.StateBackoff
	if open {
		state = tool.StateOpen
	}
	s.status.NextRetry = &next
	s.record(state, reason, detail)
	s.ailing.Store(true)
	if crash || s.restless() {
		s.tryAt(next, now)
	}
}

// restless reports whether the server is to be tried again without anybody calling. s.mu is
// held.
func (s *Server) restless() bool {
	switch s.settings().Lifecycle {
	case entry.Eager, entry.KeepAlive:
		return true
	case entry.Auto, entry.Lazy:
	}
	return s.known.Load() == nil || s.wants.any()
}

// tryAt plans a start. s.mu is held.
func (s *Server) tryAt(next, now time.Time) {
	if s.retry != nil {
		s.retry.Stop()
	}
	s.retry = time.AfterFunc(next.Sub(now), func() {
		s.mu.Lock()
		if s.closed || s.status.NextRetry == nil || s.primary != nil || s.opening[slot{}] != nil {
			s.mu.Unlock()
			return
		}
		s.status.Restarts++
		s.begin(slot{}) // nobody waits for it
		s.mu.Unlock()
	})
}

// soon is how long a failure that no retry can mend answers further calls: a server that is
// called in a loop is not started in one.
const soon = time.Second

// barred says why no start is to be tried now: the breaker is open, or the last attempt has
// just failed for good. s.mu is held.
func (s *Server) barred(now time.Time) error {
	next := s.status.NextRetry
	switch s.status.State {
	case tool.StateOpen:
		if next == nil || !now.Before(*next) {
			return nil
		}
		after := next.Sub(now)
		return &tool.Error{
			Op: "call", Kind: tool.Unavailable, Subject: s.name, RetryAfter: after,
			Message: fmt.Sprintf("it failed %d times in a row (%s: %s) and is tried again in %v",
				s.history.attempt, s.status.Reason, shorten(s.status.Detail), after.Round(100*time.Millisecond)),
			Hint: "collie mcp restart " + s.name + " tries at once",
		}
	case tool.StateFailed, tool.StateNeedsAuth:
		if s.lastErr != nil && now.Sub(s.status.Since) < soon {
			return s.failure(s.lastErr, 0)
		}
	case tool.StateDisabled, tool.StateConfigError, tool.StateIdle, tool.StateStarting, tool.StateReady,
		tool.StateDegraded, tool.StateBackoff, tool.StateStopping, tool.StateStopped:
	}
	return nil
}

// pardon forgets the failures, so that a start is tried at once.
func (s *Server) pardon() {
	s.mu.Lock()
	s.history.well()
	s.lastErr = nil
	if s.status.State == tool.StateOpen {
		s.record(tool.StateBackoff, s.status.Reason, s.status.Detail)
	}
	s.mu.Unlock()
}

// answered notes that a call came back with an answer: whatever was wrong is over.
func (s *Server) answered() {
	if !s.ailing.Load() {
		return
	}
	s.mu.Lock()
	s.history.well()
	if s.status.State == tool.StateNeedsAuth {
		s.record(tool.StateReady, "", "")
	}
	s.mu.Unlock()
	s.ailing.Store(false)
}

// signedOut notes that the server wants to know who asks, in the middle of a session.
func (s *Server) signedOut(c *conn) {
	s.ailing.Store(true)
	s.moveFrom(c, tool.StateNeedsAuth, "auth_required", s.authHint())
}

// mourn waits for the end of a connection, says so, and plans the next start.
func (s *Server) mourn(c *conn) {
	select {
	case <-c.client.Link.Done():
	case <-s.life.Done():
		return
	}
	if s.life.Err() != nil {
		return
	}
	s.mu.Lock()
	_, known := s.holds(c)
	s.mu.Unlock()
	if !known { // it was given up, or a call has found it dead already
		c.close(s.life)
		return
	}
	detail := s.redact(c.epitaph())
	s.mu.Lock()
	key, known := s.holds(c)
	if known {
		s.put(key, nil)
	}
	if key == (slot{}) && known && s.opening[slot{}] == nil {
		s.failed(c.endReason(), 0, detail, true)
	}
	s.mu.Unlock()
	s.log.Warn("server ended", "detail", shorten(detail))
	c.close(s.life)
}

// restLater arms the timer that stops an idle server. s.mu is held.
func (s *Server) restLater() {
	d, ok := s.idleTime()
	if !ok {
		return
	}
	if s.idle == nil {
		s.idle = time.AfterFunc(d, s.rest)
		return
	}
	s.idle.Reset(d)
}

// idleTime is how long the server may be idle; ok is false where it runs on.
func (s *Server) idleTime() (d time.Duration, ok bool) {
	conf := s.settings()
	switch conf.Lifecycle {
	case entry.Eager, entry.KeepAlive:
		return 0, false
	case entry.Auto, entry.Lazy:
	}
	return conf.IdleTimeout, conf.IdleTimeout > 0
}

// rest stops the server if nobody has needed it for idleTimeout. A call in flight, a question
// that waits for a person and a subscription keep it running.
func (s *Server) rest() {
	s.mu.Lock()
	d, ok := s.idleTime()
	conns := s.conns()
	if !ok || s.closed || len(conns) == 0 || len(s.opening) > 0 {
		s.mu.Unlock()
		return
	}
	now := time.Now()
	left := time.Duration(0)
	for _, c := range conns {
		left = max(left, c.idleFor(now, d))
	}
	if s.wants.any() {
		left = max(left, d)
	}
	if left > 0 {
		s.idle.Reset(left)
		s.mu.Unlock()
		return
	}
	s.abandon(conns)
	s.record(tool.StateStopping, "idle_stop", "")
	done := s.stopping
	s.wg.Go(func() { s.end(s.life, conns, done, "idle_stop", fmt.Sprintf("nobody used it for %v", d)) })
	s.mu.Unlock()
	s.log.Debug("idle, stopping", "after", d)
}

// abandon takes connections out of use: a call that was about to board one looks for
// another. s.mu is held.
func (s *Server) abandon(conns []*conn) {
	for _, c := range conns {
		c.retire()
	}
	s.primary, s.extra = nil, map[slot]*conn{}
	s.up.Store(false)
	s.stopping = make(chan struct{})
}

// giveUp stops all connections: calls in flight may end for as long as drain.
func (s *Server) giveUp(ctx context.Context, drain time.Duration, reason string) {
	s.mu.Lock()
	conns := s.conns()
	if len(conns) == 0 || s.closed {
		s.mu.Unlock()
		return
	}
	s.abandon(conns)
	s.record(tool.StateStopping, reason, "")
	done := s.stopping
	s.mu.Unlock()
	for _, c := range conns {
		c.drain(ctx, drain)
	}
	s.end(ctx, conns, done, reason, "")
}

// end closes connections that were abandoned.
func (s *Server) end(ctx context.Context, conns []*conn, done chan struct{}, reason, detail string) {
	var wg sync.WaitGroup
	for _, c := range conns {
		wg.Go(func() { c.close(ctx) })
	}
	wg.Wait()
	s.mu.Lock()
	if s.stopping == done {
		s.stopping = nil
	}
	if s.status.State == tool.StateStopping {
		s.record(tool.StateIdle, reason, detail)
	}
	s.mu.Unlock()
	close(done)
}
