// Package bridge carries the messages of an MCP client on stdio to a gateway that is already running, and
// back, so that several clients of one home share the servers of one gateway.
//
//	client ── lines ── Serve ──┬── HTTP ── the gateway of this home (collie serve)
//	                           └── Opened: a gateway in this process, when that one has gone
//
// Messages keep their bytes. Each request is an HTTP exchange of its own, so that none waits for another, and
// the client gets an answer as soon as it arrives. For a legacy client the bridge remembers what makes up its
// session: initialize, the log level, and the subscribed resources. If the gateway goes away, the bridge
// looks for another one, or opens one in this process if none comes back, and restores the session there. The
// client is told that lists may have changed. A request that may have been executed gets an error; one that
// only reads is sent again.
//
// The caller knows where a gateway is and how to open one; see [Options]. The entry point is [Serve].
package bridge

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"io"
	"log/slog"
	"time"

	"collie/internal/mcp"
)

// Gateway says how to reach a running gateway.
type Gateway struct {
	// URL is the URL of its MCP endpoint, including the query.
	URL string
	// Key is its bearer token, which changes when the gateway restarts.
	Key string
	// TLS is used for https; nil means the system's settings.
	TLS *tls.Config
}

// Opened is a gateway in this process.
type Opened struct {
	// Serve answers the client behind s until its input or ctx ends. It is called once.
	Serve func(ctx context.Context, s mcp.Stream) error
	// Close closes the gateway after Serve has returned.
	Close func()
}

// Options tell the bridge where else the client can be served. Find and Open are required; calls of them do
// not overlap.
type Options struct {
	// Find returns the gateway that is running and answering now. An error means that there is none yet, or,
	// if it matches ErrOther, that it is useless to wait for one.
	Find func(ctx context.Context) (Gateway, error)
	// Open opens a gateway in this process.
	Open func(ctx context.Context) (Opened, error)
	// LossWait is how long to wait for a gateway that went away; default 3 s.
	LossWait time.Duration
	// Drain is how long requests may go on after the input has ended; default 10 s.
	Drain time.Duration
	// Stall is how long the client may read nothing of what is written to it; default 1 min.
	Stall time.Duration
	// Logger is told when the gateway changes (warn); nil discards.
	Logger *slog.Logger
}

// ErrOther says that the running gateway is not for this client.
var ErrOther = errors.New("the gateway of this home is another one")

// errEnded is the cause for requests that end because the bridge does.
var errEnded = errors.New("the client's connection was closed")

// Serve carries the messages of one client to the gateway g until in or ctx ends. close must end a waiting
// read; nil does nothing. The end of the input is not an error. If the client does not read for too long, the
// error has [mcp.ErrNotReading] in its chain. Serve waits for all its goroutines, except one in a write that
// nothing can end.
func Serve(ctx context.Context, in io.Reader, out io.Writer, close func() error, g Gateway, opts Options) error {
	opts.LossWait = cmp.Or(max(opts.LossWait, 0), 3*time.Second)
	opts.Drain = cmp.Or(max(opts.Drain, 0), 10*time.Second)
	opts.Logger = cmp.Or(opts.Logger, slog.New(slog.DiscardHandler))
	r := newRelay(out, opts)
	defer r.end(errEnded)
	r.start(g)
	lines := mcp.NewLines(in, nil, 0, close)
	stop := context.AfterFunc(ctx, func() {
		r.end(context.Cause(ctx))
		_ = lines.Close() // the error of read explains it
	})
	defer stop()
	defer context.AfterFunc(r.clientGone, func() { _ = lines.Close() })()
	err := r.read(lines)
	r.drain()
	if cause := context.Cause(r.clientGone); cause != nil {
		err = cause
	}
	if cerr := lines.Close(); err == nil {
		err = cerr
	}
	if errors.Is(err, io.EOF) || ctx.Err() != nil || r.clientGone.Err() != nil && !errors.Is(err, mcp.ErrNotReading) {
		return nil
	}
	return err
}

// read handles the client's messages until there are no more.
func (r *relay) read(lines *mcp.Lines) error {
	for {
		m, err := lines.Read()
		if frame, ok := errors.AsType[*mcp.FrameError](err); ok {
			r.out.line(frame.Response())
			continue
		}
		switch {
		case err != nil:
			return err
		case m.IsRequest():
			r.request(m)
		case m.IsResponse():
			r.forwardAnswer(m)
		default:
			r.handleNotification(m)
		}
	}
}

// leaveTimeout bounds leaving a gateway, and waiting for goroutines that are no longer needed.
const leaveTimeout = 2 * time.Second

// drain ends the relay: subscriptions at once, other requests when they are answered or the time is up.
func (r *relay) drain() {
	r.stopListening()
	finished := make(chan struct{})
	go func() { // ends with the requests, at the latest soon after the end below
		r.inFlight.Wait()
		r.outbox.close()
		<-r.sent
		close(finished)
	}()
	limit := time.NewTimer(r.opts.Drain)
	defer limit.Stop()
	for waits := true; waits; {
		select {
		case <-finished:
			waits = false
		case <-limit.C:
			waits = r.out.Busy() // the client has not read everything yet
			limit.Reset(readWait)
		case <-r.life.Done():
			waits = false
		}
	}
	r.endSession()
	r.end(errEnded)
	drained := make(chan struct{})
	go func() { // ends with the relay's goroutines; see Serve for the exception
		r.wg.Wait()
		close(drained)
	}()
	limit.Reset(r.opts.Drain)
	select {
	case <-drained:
	case <-limit.C:
	}
	r.out.Close()
}

// readWait is how often to check whether a slow client has read everything after its input has ended.
const readWait = time.Second
