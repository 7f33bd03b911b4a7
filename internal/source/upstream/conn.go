package upstream

import (
	"context"
	"errors"
	"time"

	"collie/internal/mcp"
	"collie/internal/source/upstream/inflight"
	"collie/internal/source/upstream/listing"
	"collie/internal/source/upstream/session"
	"collie/internal/tool"
)

// conn is one connection to a server, with the calls in flight on it.
type conn struct {
	server *Server
	*session.Session

	used  bool          // a call was made over it; guarded by pool.mu
	whose string        // the session that it was made for or has been given to, for good; guarded by pool.mu
	feed  *listing.Feed // what it tells of what the server offers

	notes notes
	roots rooting
	calls *inflight.Calls // in flight
}

var errNotInUse = errors.New("the connection is being closed")

// tooLate is the error of a call that came to a connection that takes no more: nothing was
// sent.
func tooLate() error { return &mcp.LinkError{Err: errNotInUse} }

// connect starts or reaches the server and opens a session of its protocol, for a session of ours or,
// where whose is empty, for all. It tries an era first, or that one only; see [session.Session.Open].
func (s *Server) connect(ctx context.Context, whose string, first mcp.Era, only bool) (*conn, error) {
	conf := s.settings()
	c := &conn{server: s, Session: s.dialer.New(), whose: whose, calls: inflight.New(time.Now())}
	opts := mcp.ClientOptions{
		Info: s.set.opts.Info, Capabilities: s.capabilities(), Protocol: conf.Protocol, First: first, Early: true, Logger: s.log,
	}
	opts.Reopened = func() { c.apply(s.life.ctx, s.wants.now()) }
	if conf.Protocol == "auto" && only {
		opts.Protocol = "legacy"
		if first == mcp.Modern {
			opts.Protocol = mcp.ModernVersions[0]
		}
	}
	open := c.Open
	if stand := s.set.opts.open; stand != nil {
		open = func(ctx context.Context, _ mcp.Handler, opts mcp.ClientOptions) error { return stand(ctx, c, opts) }
	}
	if err := open(ctx, c, opts); err != nil {
		return c, err
	}
	c.feed = listing.NewFeed(c.Client, c.Process == nil, c.changeStream())
	return c, nil
}

// changeStream is how to open what the server tells of changed lists on; nil for a pipe, which carries that
// at any time.
func (c *conn) changeStream() func(context.Context) bool {
	link, legacy := c.Client.Link.(interface{ AwaitStream(context.Context) bool })
	switch {
	case c.Client.Era == mcp.Modern:
		return func(context.Context) bool { return c.hearChanges(c.server.life.ctx) }
	case legacy:
		return func(ctx context.Context) bool { return c.Client.Ready(ctx) == nil && link.AwaitStream(ctx) }
	}
	return nil
}

// drain retires the connection and waits until its calls have ended, at most for limit or
// until ctx ends; those that have not are cancelled.
func (c *conn) drain(ctx context.Context, limit time.Duration) {
	c.calls.Retire()
	c.awaitCalls(ctx, limit)
	for _, f := range c.calls.All() {
		f.End(&tool.Error{
			Op: "call", Kind: tool.Canceled, Subject: f.Request.Name,
			Message: "the server was stopped while the call ran",
		})
	}
	c.awaitCalls(ctx, cancelTime) // so that they end for this reason, and the server hears of it
}

// cancelTime is how long calls that were cancelled may take to say so to the server.
const cancelTime = 500 * time.Millisecond

// awaitCalls waits until the calls of a retired connection have ended, at most for limit.
func (c *conn) awaitCalls(ctx context.Context, limit time.Duration) {
	if limit <= 0 {
		return
	}
	timer := time.NewTimer(limit)
	defer timer.Stop()
	select {
	case <-c.calls.Ended():
	case <-c.Client.Link.Done():
	case <-timer.C:
	case <-ctx.Done():
	}
}

// The waits between attempts to open a lost stream again.
const (
	firstWait = time.Second
	lastWait  = time.Minute
)

// pauseFor waits and reports true, unless ctx or done ends first.
func pauseFor(ctx context.Context, done <-chan struct{}, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
	case <-done:
	}
	return false
}
