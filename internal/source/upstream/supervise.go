package upstream

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"collie/internal/source/upstream/entry"
	"collie/internal/tool"
)

// This file decides when a server runs: what happens after a failure (4.7), when it is
// stopped for being idle (4.8), and how connections are given up (4.9).

// startFailed records a start that failed and plans the next one. s.mu is held.
func (s *Server) startFailed(err error) {
	switch {
	case s.closed:
		return
	case errors.Is(err, errStopped):
		s.record(tool.StateIdle, "user_stop", "")
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
	s.lastErr = err
	s.failed(reason, statusOf(err), detail, false)
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
	return s.runsOn() || s.known.Load() == nil || s.wants.any()
}

// runsOn reports whether the server is to run whether or not anybody uses it (4.8).
func (s *Server) runsOn() bool {
	switch s.settings().Lifecycle {
	case entry.Eager, entry.KeepAlive:
		return true
	case entry.Auto, entry.Lazy:
	}
	return false
}

// tryAt plans a start. s.mu is held.
func (s *Server) tryAt(next, now time.Time) {
	s.forgetRetry()
	s.retry = time.AfterFunc(next.Sub(now), func() {
		s.mu.Lock()
		if s.closed || s.status.NextRetry == nil || s.primary != nil || s.opening[slot{}] != nil {
			s.mu.Unlock()
			return
		}
		s.begin(slot{}, 0) // nobody waits for it
		s.mu.Unlock()
	})
}

// forgetRetry gives a planned start up. s.mu is held.
func (s *Server) forgetRetry() {
	if s.retry != nil {
		s.retry.Stop()
	}
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
	defer s.mu.Unlock()
	s.history.well()
	if s.status.State == tool.StateNeedsAuth && s.primary != nil {
		s.record(tool.StateReady, "", "")
	}
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
	switch {
	case !known || s.opening[slot{}] != nil:
	case key == (slot{}):
		s.failed(c.endReason(), 0, detail, true)
	case len(s.conns()) == 0: // the last of a server that each session has for itself
		s.failed(c.endReason(), 0, detail, false)
	}
	s.mu.Unlock()
	s.log.Warn("server ended", "detail", shorten(detail))
	c.close(s.life)
}

// restLater arms the timer that stops an idle server, or the connections of sessions that have
// gone quiet. s.mu is held.
func (s *Server) restLater() {
	conf := s.settings()
	d, ok := s.idleTime()
	if !ok && (conf.Isolation != entry.Session || conf.IdleTimeout <= 0) {
		return
	}
	d = cmp.Or(d, conf.IdleTimeout)
	if s.idle == nil {
		s.idle = time.AfterFunc(d, s.rest)
		return
	}
	s.idle.Reset(d)
}

// idleTime is how long the server may be idle; ok is false where it runs on.
func (s *Server) idleTime() (d time.Duration, ok bool) {
	if s.runsOn() {
		return 0, false
	}
	d = s.settings().IdleTimeout
	return d, d > 0
}

// rest stops the server if nobody has needed it for idleTimeout. A call in flight, a question
// that waits for a person and a subscription keep it running. Of sessions that have a connection
// each, every one rests by itself: a session that ends says nothing.
func (s *Server) rest() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return
	}
	now := time.Now()
	s.restSessions(now)
	conns := s.conns()
	d, ok := s.idleTime()
	if len(conns) == 0 || !ok && len(s.extra) == 0 {
		return
	}
	if left := s.busyFor(conns, now, d, ok); left > 0 {
		s.idle.Reset(left)
		return
	}
	s.abandon(conns)
	s.record(tool.StateStopping, "idle_stop", "")
	done := s.stopping
	s.wg.Go(func() { s.end(s.life, conns, done, "idle_stop", fmt.Sprintf("nobody used it for %v", d)) })
	s.log.Debug("idle, stopping", "after", d)
}

// busyFor is when to look again whether all of conns may rest; 0 says that they may, and that
// they take no more calls. s.mu is held.
func (s *Server) busyFor(conns []*conn, now time.Time, d time.Duration, ok bool) (left time.Duration) {
	if !ok {
		return s.settings().IdleTimeout // the server itself does not rest
	}
	if s.wants.any() || len(s.opening) > 0 {
		return d
	}
	for i, c := range conns {
		if left = c.retireIdle(now, d); left > 0 {
			for _, other := range conns[:i] {
				other.enlist()
			}
			return left
		}
	}
	return 0
}

// restSessions closes the connections of sessions that have been quiet for idleTimeout, unless
// they are all there is: then the server as a whole rests. s.mu is held.
func (s *Server) restSessions(now time.Time) {
	d := s.settings().IdleTimeout
	for key, c := range s.extra {
		if key.session == "" || d <= 0 || len(s.conns()) == 1 || c.retireIdle(now, d) > 0 {
			continue
		}
		s.put(key, nil)
		s.wg.Go(func() { c.close(s.life) })
	}
}

// abandon takes connections out of use: a call that was about to board one looks for
// another. s.mu is held.
func (s *Server) abandon(conns []*conn) {
	for _, c := range conns {
		c.retire()
	}
	s.primary, s.extra, s.teacher = nil, map[slot]*conn{}, nil
	s.up.Store(false)
	s.history.stopped(time.Now())
	s.stopping = make(chan struct{})
}

// giveUp stops all connections: calls in flight may end for as long as drain. Whoever closes the
// server waits for it, and hurries it.
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
	s.wg.Add(1)
	defer s.wg.Done()
	s.mu.Unlock()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(s.life, cancel)()
	drainAll(ctx, conns, drain)
	s.end(ctx, conns, done, reason, "")
}

// drainAll drains connections at the same time.
func drainAll(ctx context.Context, conns []*conn, limit time.Duration) {
	var wg sync.WaitGroup
	for _, c := range conns {
		wg.Go(func() { c.drain(ctx, limit) })
	}
	wg.Wait()
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
