package upstream

import (
	"context"
	"errors"
	"fmt"
	"time"

	"collie/internal/mcp"
	"collie/internal/source/upstream/entry"
	"collie/internal/source/upstream/supervise"
	"collie/internal/tool"
)

// This file starts a server and opens further connections to it.

// startFirst starts the server with the gateway, to learn its tools. It calls endLease, if not nil, when the lists
// have arrived or will not.
func (s *Server) startFirst(endLease func()) {
	defer s.first.endToolsWait()
	if s.checkUsable() != nil {
		s.first.endAllWaits()
		return
	}
	c, err := s.connection(s.life.ctx)
	if endLease != nil {
		go func() { // ends with the lists, which have a limit, or with the server
			if c != nil {
				_ = c.feed.Await(s.life.ctx)
			}
			endLease()
		}()
	}
	if err != nil {
		s.first.endAllWaits()
		if s.life.ctx.Err() == nil {
			s.log.Warn("server did not start", "error", shorten(s.redact(err.Error())))
		}
	}
}

// open opens the primary connection and fetches the lists.
func (s *Server) open(o *opening) {
	defer o.cancel(nil)
	begun := time.Now()
	c, err := s.connectOpening(o)
	if err == nil {
		err = c.learnTools(o.ctx, true)
	}
	if o.ctx.Err() != nil {
		err = context.Cause(o.ctx)
	}
	p := s.pool.lock()
	delete(p.opening, o.key)
	if err == nil && p.closed {
		err = errStopping
	}
	if err == nil {
		s.supervisor.Tell(func(m *supervise.Machine, _ time.Time) { m.Started(time.Since(begun)) })
		p.put(o.key, c)
		c.used = o.forCall
		p.eras.spoken = p.eras.spoken.after(c.Client)
		p.eras.home = c.Client.Era
		s.listing.MarkLive(c.feed)
		c.recordStart()
	} else {
		if disprovesEras(err) {
			p.eras.home, p.eras.spoken = 0, "" // what was remembered of the era may be the cause
		}
		s.startFailed(p, err)
	}
	s.pool.unlock()
	s.finishOpening(o, c, err)
	if err == nil {
		c.learnRest()
		c.probeModern()
	}
}

// learnRest fetches the lists that no call waits for.
func (c *conn) learnRest() {
	s := c.server
	if s.listing.LearnRest(s.life.ctx, c.feed) {
		s.first.endAllWaits()
	}
}

// probeModern finds out whether a legacy server that keeps no sessions speaks the modern era too. Without a session a
// server cannot ask back in the legacy era, so if it speaks the modern one, that serves all clients.
func (c *conn) probeModern() {
	s := c.server
	p := s.pool.lock()
	ask := c == p.primary && p.eras.spoken == "" && s.settings().Protocol == "auto" && c.CannotAsk() && c.Alive()
	s.pool.unlock()
	if !ask {
		return
	}
	if _, err := s.connectionFor(s.life.ctx, slot{era: mcp.Modern}, false); err != nil {
		s.log.Debug("not asked for the modern era", "error", err)
	}
}

// learnTools fetches the server's tools; see [listing.Listing.Learn]. If the process ended meanwhile, the error says
// how.
func (c *conn) learnTools(ctx context.Context, always bool) error {
	err := c.server.listing.Learn(ctx, c.feed, always)
	if err == nil || c.Alive() {
		return err
	}
	if exit := c.Exited(); exit != nil {
		return exit
	}
	return err
}

// connectOpening connects in the opening's first era. If the server was remembered to speak that era and does not, the
// eras are found out again with a new process.
func (s *Server) connectOpening(o *opening) (*conn, error) {
	s.awaitStop(o.ctx)
	c, err := s.connect(o.ctx, "", o.first, o.only)
	if err == nil || !o.only || o.ctx.Err() != nil || !disprovesEras(err) {
		return c, err
	}
	s.log.Info("the server is not what it was, asking anew", "was", o.first.String(), "error", err)
	c.Close(s.life.ctx)
	p := s.pool.lock()
	p.eras.home, p.eras.spoken = 0, ""
	s.dialer.AssumeSSE(false)
	s.pool.unlock()
	return s.connect(o.ctx, "", o.first, false)
}

// disprovesEras reports whether a failed start disproves what was remembered of the server's eras and transport.
func disprovesEras(err error) bool {
	if _, ok := errors.AsType[*mcp.VersionError](err); ok {
		return true
	}
	if _, ok := errors.AsType[*mcp.HandshakeError](err); ok {
		return true
	}
	e, ok := errors.AsType[*mcp.LinkError](err)
	return ok && e.Status >= 400 && e.Status < 500 && e.Status != 401 && e.Status != 403
}

// awaitStop waits until connections that were given up have ended, since their process may hold a lock or a port, or until ctx
// ends.
func (s *Server) awaitStop(ctx context.Context) {
	p := s.pool.lock()
	allClosed := p.allClosed
	s.pool.unlock()
	if allClosed == nil {
		return
	}
	select {
	case <-allClosed: // bounded by the time a stop may take
	case <-ctx.Done():
	}
}

// openExtra opens a connection beside the primary one: in the other era, or for one session. A server that speaks
// both eras is used in each caller's own, so that questions, logs and progress need no translation.
//
// Over stdio that is a second process. If no call has been made to the first one, nothing depends on its state, and
// the second takes its place.
func (s *Server) openExtra(o *opening, key slot) {
	defer o.cancel(nil)
	s.awaitStop(o.ctx)
	c, err := s.connect(o.ctx, key.session, o.first, o.only)
	if err == nil {
		err = c.fetchForCall(o.ctx, key)
	}
	if o.ctx.Err() != nil {
		err = context.Cause(o.ctx)
	}
	p := s.pool.lock()
	delete(p.opening, key)
	if err == nil && p.closed {
		err = errStopping
	}
	var old *conn
	alone := false // fall back to the primary connection
	before := p.eras.spoken
	if err == nil {
		p.eras.spoken = p.eras.spoken.after(c.Client)
	}
	switch {
	case err != nil:
		alone = s.extraFailed(p, key, err)
	case key.session == "" && p.isRedundant(c):
		p.eras.spoken, alone = knownEras(p.eras.home.String()), true
	default:
		old = s.install(p, key, c)
		c.used = o.forCall
	}
	news := p.eras.spoken != before
	s.pool.unlock()
	if news {
		defer s.listing.KeepCurrent()
	}
	if alone {
		if err != nil {
			s.log.Warn("no second connection, clients of both eras share the first", "era", o.first.String(), "error", err)
		}
		s.life.wg.Go(func() { c.Close(s.life.ctx) })
		o.conn, o.err = s.connectionFor(s.life.ctx, slot{}, o.forCall)
		close(o.done)
		return
	}
	if old != nil {
		s.listing.Hear(s.life.ctx, c.feed)
		s.life.wg.Go(func() {
			old.drain(s.life.ctx, s.set.opts.Drain)
			old.Close(s.life.ctx)
		})
	}
	s.finishOpening(o, c, err)
	if err == nil {
		c.learnRest()
	}
}

// fetchForCall fetches what has to be known before the first call on an extra connection: the tools, unless another
// connection has confirmed them.
func (c *conn) fetchForCall(ctx context.Context, key slot) error {
	if key.session != "" && !c.server.listing.Live() {
		return c.learnTools(ctx, false)
	}
	return c.Client.Ready(ctx)
}

// isRedundant reports whether an extra connection is no better than the primary one: it came up in the same era because
// the server speaks no other, or it cannot ask callers back.
func (p *slots) isRedundant(c *conn) bool {
	if p.primary == nil || !p.primary.Alive() {
		return false
	}
	return c.Client.Era == p.eras.home || c.CannotAsk()
}

// extraFailed records that an extra connection failed to open. alone reports whether the callers are to use the
// primary one instead: a lock or a port may keep the server from running twice.
func (s *Server) extraFailed(p *slots, key slot, err error) (alone bool) {
	switch {
	case p.closed:
	case key.session == "" && p.primary != nil && p.primary.Alive():
		p.eras.spoken = knownEras(p.eras.home.String())
		return true
	case len(p.conns()) == 0 && p.opening[slot{}] == nil:
		s.startFailed(p, err)
	}
	return false
}

// install puts an extra connection into its slot. It returns the connection whose place it takes, nil if there is
// none.
func (s *Server) install(p *slots, key slot, c *conn) (old *conn) {
	if key.session == "" && p.primary != nil && (c.Process != nil && !p.primary.used || p.primary.CannotAsk()) {
		if p.primary.CannotAsk() {
			p.eras.spoken = speaksModern // this connection then serves clients of both eras
		}
		old, p.primary, p.eras.home = p.primary, c, c.Client.Era
		s.listing.Adopt(c.feed)
		c.recordStart()
		return old
	}
	p.put(key, c)
	s.listing.MarkLive(c.feed)
	if key.session != "" && p.primary == nil && p.opening[slot{}] == nil {
		c.recordStart()
	}
	s.supervisor.Tell((*supervise.Machine).Connected)
	return nil
}

// finishOpening hands the new connection, or the error, to all who wait for the opening. They do not wait for the
// process of a failed start to end; the next start does.
func (s *Server) finishOpening(o *opening, c *conn, err error) {
	if err != nil {
		o.err = s.startFailure(err, s.untilRetry())
		c.closeFailed()
		close(o.done)
		return
	}
	o.conn = c
	wanted := s.wants.now() // a caller that waits for o may have subscribed to more; it then subscribes itself
	close(o.done)
	s.life.wg.Go(func() { c.applyInterests(s.life.ctx, wanted) })
	s.life.wg.Go(c.watchEnd)
	s.life.wg.Go(c.checkHealth)
}

// closeFailed closes the connection of a failed start, in the background.
func (c *conn) closeFailed() {
	s := c.server
	if c == nil {
		return
	}
	p := s.pool.lock()
	c.closeGone(p)
	s.pool.unlock()
}

// closeGone closes a connection that is in no slot, in the background. A new start waits for its end.
func (c *conn) closeGone(p *slots) {
	s := c.server
	p.beginClosing()
	s.life.wg.Go(func() { // bounded by the time a stop may take
		c.Close(s.life.ctx)
		s.pool.lock().endClosing()
		s.pool.unlock()
	})
}

// closeLost closes a connection that was lost, in the background. A new start waits only for a process that runs alone: where each
// session has its own, or both eras have one, several run at a time anyway.
func (c *conn) closeLost(p *slots) {
	if c.Process != nil && c.ownerID == "" && len(p.conns()) == 0 {
		c.closeGone(p)
		return
	}
	s := c.server
	s.life.wg.Go(func() { c.Close(s.life.ctx) })
}

// recordStart records a start that worked.
func (c *conn) recordStart() {
	c.server.listing.RecordHandshake(c.Client)
	c.server.supervisor.Tell((*supervise.Machine).Ready)
}

// startFailure returns the error that callers see after a failed start. after is the time until the next try, 0 if there
// is none.
func (s *Server) startFailure(err error, after time.Duration) error {
	if errors.Is(err, errStopping) || errors.Is(err, errStopped) {
		return &tool.Error{Op: "start", Kind: tool.Unavailable, Subject: s.name, Message: "the server is being stopped"}
	}
	reason, hint := reasonOf(err)
	kind := tool.Unavailable
	if reason == "auth_required" {
		kind, hint = tool.NeedsAuth, s.authHint()
	}
	if hint == "" {
		hint = "collie mcp logs " + s.name + " shows its output"
	}
	return &tool.Error{
		Op: "start", Kind: kind, Subject: s.name, RetryAfter: after,
		Message: s.redact(fmt.Sprintf("the server did not start (%s): %v", reason, err)), Hint: hint,
	}
}

// isStarting reports whether a connection is being opened.
func (s *Server) isStarting() bool {
	p := s.pool.lock()
	defer s.pool.unlock()
	return len(p.opening) > 0
}

// isLive reports whether the server runs or is being started, so that its own lists count more than any cache. Both
// are checked under the pool's lock, under which a start turns into a connection.
func (s *Server) isLive() bool {
	p := s.pool.lock()
	defer s.pool.unlock()
	return len(p.opening) > 0 || s.listing.Live()
}

// forgetCached withdraws what came from the cache, after somebody has cleared the cache. It fetches the lists again
// if that is allowed without a call.
func (s *Server) forgetCached() {
	if !s.listing.Forget(s.isLive) {
		return
	}
	p := s.pool.lock()
	defer s.pool.unlock()
	lazy := s.settings().Lifecycle == entry.Lazy && s.set.opts.Policy.Warmup == "off"
	if !lazy && !p.closed && p.primary == nil && p.opening[slot{}] == nil {
		s.startOpening(p, slot{}, 0) // no call waits for this start
	}
}

// untilRetry returns the time until the next automatic start, 0 if none is planned.
func (s *Server) untilRetry() time.Duration {
	if next := s.supervisor.Condition().NextRetry; !next.IsZero() {
		return max(0, time.Until(next))
	}
	return 0
}

func first(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

// shorten cuts a text for the log. The whole text stays in the server's state.
func shorten(text string) string {
	const limit = 300
	if runes := []rune(text); len(runes) > limit {
		return string(runes[:limit]) + "…"
	}
	return text
}

var errStopped = errors.New("the server was stopped while it started")
