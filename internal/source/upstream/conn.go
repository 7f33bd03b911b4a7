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

// This file has one connection to a server, from its start to its end.

// conn is one connection to a server with its calls in flight.
type conn struct {
	server *Server
	*session.Session

	used    bool          // a call was made on it; guarded by pool.mu
	ownerID string        // id of the only session that may use it, empty for all; guarded by pool.mu
	feed    *listing.Feed // the lists that came over it

	outgoing notificationQueue
	roots    rootsState
	calls    *inflight.Calls // calls in flight
}

var errNotInUse = errors.New("the connection is being closed")

// tooLateError returns the error for a call on a retired connection. Nothing of it was sent.
func tooLateError() error { return &mcp.LinkError{Err: errNotInUse} }

// connect starts or reaches the server and initializes the protocol. whose is the session that the connection is for,
// empty for all. first is the era to try first, see [mcp.ClientOptions]; if only is set and the settings leave the protocol
// open, it is the only one. On an error it returns the connection as well, which the caller has to close.
func (s *Server) connect(ctx context.Context, whose string, first mcp.Era, only bool) (*conn, error) {
	conf := s.settings()
	c := &conn{server: s, Session: s.dialer.New(), ownerID: whose, calls: inflight.New(time.Now())}
	opts := mcp.ClientOptions{
		Info: s.set.opts.Info, Capabilities: s.capabilities(), Protocol: conf.Protocol, First: first, Early: true, Logger: s.log,
	}
	opts.Reopened = func() { c.applyInterests(s.life.ctx, s.wants.now()) }
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
	c.feed = listing.NewFeed(c.Client, c.Process == nil, c.changeStream(), c.lateStream())
	return c, nil
}

// changeStream returns a function that opens the stream for list changes and reports whether it is open. It returns
// nil for a legacy server on a pipe, where changes can arrive at any time.
func (c *conn) changeStream() func(context.Context) bool {
	link, hasStream := c.Client.Link.(interface{ AwaitStream(context.Context) bool })
	switch {
	case c.Client.Era == mcp.Modern:
		return func(context.Context) bool { return c.hearChanges(c.server.life.ctx) }
	case hasStream:
		return func(ctx context.Context) bool { return c.Client.Ready(ctx) == nil && link.AwaitStream(ctx) }
	}
	return nil
}

// lateStream returns a function that waits for a stream that changeStream has not opened, and reports whether it is
// open; nil where nothing tries again.
func (c *conn) lateStream() func(context.Context) bool {
	if link, ok := c.Client.Link.(interface{ AwaitOpen(context.Context) bool }); ok && c.Client.Era == mcp.Legacy {
		return link.AwaitOpen
	}
	return nil
}

// drain retires the connection and waits for its calls to end, for at most limit or until ctx ends. Calls still in
// flight then are canceled.
func (c *conn) drain(ctx context.Context, limit time.Duration) {
	c.calls.Retire()
	c.awaitCalls(ctx, limit)
	for _, f := range c.calls.All() {
		f.End(&tool.Error{
			Op: "call", Kind: tool.Canceled, Subject: f.Request.Name,
			Message: "the server was stopped while the call ran",
		})
	}
	c.awaitCalls(ctx, cancelTime) // gives canceled calls the time to tell the server
}

// cancelTime bounds how long canceled calls may take to send their cancellation to the server.
const cancelTime = 500 * time.Millisecond

// awaitCalls waits at most limit until the calls of a retired connection have ended.
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

// Waits between attempts to reopen a lost stream.
const (
	firstWait = time.Second
	lastWait  = time.Minute
)

// sleepFor waits for d and returns true; it returns false as soon as ctx or done ends.
func sleepFor(ctx context.Context, done <-chan struct{}, d time.Duration) bool {
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
