package upstream

import (
	"context"
	"errors"
	"time"

	"collie/internal/mcp"
	"collie/internal/tool"
)

// This file says whether a connection is in use, and how it goes out of use.

var errNotInUse = errors.New("the connection is being closed")

// tooLate is the error of a call that came to a connection that takes no more: nothing was
// sent.
func tooLate() error { return &mcp.LinkError{Err: errNotInUse} }

// retire takes no more calls. It returns when none can board any more.
func (c *conn) retire() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.retired {
		return
	}
	c.retired, c.landed = true, make(chan struct{})
	if len(c.calls) == 0 {
		close(c.landed)
	}
}

// drain retires the connection and waits until its calls have ended, at most for limit or
// until ctx ends; those that have not are cancelled.
func (c *conn) drain(ctx context.Context, limit time.Duration) {
	c.retire()
	c.awaitLanding(ctx, limit)
	c.mu.Lock()
	late := make([]*flight, 0, len(c.calls))
	for _, f := range c.calls {
		late = append(late, f)
	}
	c.mu.Unlock()
	for _, f := range late {
		f.end(&tool.Error{
			Op: "call", Kind: tool.Canceled, Subject: f.call.Name,
			Message: "the server was stopped while the call ran",
		})
	}
	c.awaitLanding(ctx, cancelTime) // so that they end for this reason, and the server hears of it
}

// cancelTime is how long calls that were cancelled may take to say so to the server.
const cancelTime = 500 * time.Millisecond

// awaitLanding waits until the calls of a retired connection have ended, at most for limit.
func (c *conn) awaitLanding(ctx context.Context, limit time.Duration) {
	if limit <= 0 {
		return
	}
	timer := time.NewTimer(limit)
	defer timer.Stop()
	select {
	case <-c.landed:
	case <-c.client.Link.Done():
	case <-timer.C:
	case <-ctx.Done():
	}
}

// busy reports whether a call is in flight.
func (c *conn) busy() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.calls) > 0
}

// retireIdle retires the connection if it has been unused for d. Else it returns how much longer
// it has to be.
func (c *conn) retireIdle(now time.Time, d time.Duration) (left time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.calls) > 0 {
		return d
	}
	if left = d - now.Sub(c.last); left > 0 {
		return left
	}
	if !c.retired {
		c.retired, c.landed = true, make(chan struct{})
		close(c.landed)
	}
	return 0
}

// enlist takes a retirement back.
func (c *conn) enlist() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.retired, c.landed = false, nil
}

// giveUpFor ends the connection for a reason that its epitaph repeats.
func (c *conn) giveUpFor(reason string) {
	c.mu.Lock()
	c.sick = reason
	c.mu.Unlock()
	if err := c.client.Link.Close(); err != nil {
		c.server.log.Debug("link not closed", "error", err)
	}
}

// endReason is the stable code of how the connection ended.
func (c *conn) endReason() string {
	c.mu.Lock()
	sick := c.sick
	c.mu.Unlock()
	switch {
	case sick != "":
		return sick
	case c.proc != nil && c.proc.Exit().KilledOOM:
		return "killed_oom"
	}
	return "crashed"
}
