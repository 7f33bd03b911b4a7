// Package bridge carries what one MCP client says on its pipes to a gateway that runs
// already, and back, so that several clients of one home share the servers of one gateway.
//
//	client ── lines ── Serve ──┬── HTTP ── the gateway of this home (collie serve)
//	                           └── Opened: a gateway in this process, when that one has gone
//
// Messages pass as the bytes they came in. Each request is an HTTP exchange of its own, so
// that none waits for another, and the answer goes to the client as it arrives. Of a legacy
// client the bridge keeps what makes its session: initialize, the log level, and the
// resources it listens to. When the gateway goes away it looks for another one, opens one in
// this process if none comes back, and sets the session up there anew; the client sees that
// lists may have changed, and an error for those of its requests that may have been carried
// out. Requests that only read are asked again.
//
// Where a gateway is, and how one is opened, is the caller's to know: see [Options]. The
// entry point is [Serve].
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

// Gateway is where a running gateway is.
type Gateway struct {
	// URL of its MCP endpoint, query included.
	URL string
	// Key is the bearer token for it. A gateway that starts anew has a new one.
	Key string
	// TLS is used for https; nil means the system's settings.
	TLS *tls.Config
}

// Opened is a gateway in this process.
type Opened struct {
	// Serve answers the client behind s until its input or ctx ends. It is called once.
	Serve func(ctx context.Context, s mcp.Stream) error
	// Close ends the gateway, after Serve has returned.
	Close func()
}

// Options say where else a client can be served. Find and Open are required, and are called
// by one goroutine at a time.
type Options struct {
	// Find returns the gateway that runs and answers now. An error means that there is
	// none yet; one that is ErrOther in its chain, that waiting for one makes no sense.
	Find func(ctx context.Context) (Gateway, error)
	// Open opens a gateway in this process.
	Open func(ctx context.Context) (Opened, error)
	// LossWait is how long a gateway that went away is waited for; default 3 s.
	LossWait time.Duration
	// Drain is how long requests may take to finish once the input has ended; default 10 s.
	Drain time.Duration
	// Stall is how long the client may leave unread what is written to it; default 1 min.
	Stall time.Duration
	// Logger is told when the gateway changes (warn); nil discards.
	Logger *slog.Logger
}

// ErrOther says that the gateway which runs is not for this client.
var ErrOther = errors.New("the gateway of this home is another one")

// errEnded is why requests end when nothing is left of the bridge.
var errEnded = errors.New("the client's connection was closed")

// Serve carries the messages of one client to the gateway at g until in ends or ctx does.
// close is called to end a read that waits; nil does nothing. The end of the input is not
// an error; a client that does not read for too long is one, with [mcp.ErrNotReading] in its chain.
// Serve waits for what it started, but for a write that nothing can end.
func Serve(ctx context.Context, in io.Reader, out io.Writer, close func() error, g Gateway, opts Options) error {
	opts.LossWait = cmp.Or(max(opts.LossWait, 0), 3*time.Second)
	opts.Drain = cmp.Or(max(opts.Drain, 0), 10*time.Second)
	opts.Logger = cmp.Or(opts.Logger, slog.New(slog.DiscardHandler))
	r := newRelay(out, opts)
	defer r.end(errEnded)
	r.begin(g)
	lines := mcp.NewLines(in, nil, 0, close)
	stop := context.AfterFunc(ctx, func() {
		r.end(context.Cause(ctx))
		_ = lines.Close() // the read says what came of it
	})
	defer stop()
	defer context.AfterFunc(r.deaf, func() { _ = lines.Close() })()
	err := r.read(lines)
	r.drain()
	if cause := context.Cause(r.deaf); cause != nil {
		err = cause
	}
	if cerr := lines.Close(); err == nil {
		err = cerr
	}
	if errors.Is(err, io.EOF) || ctx.Err() != nil || r.deaf.Err() != nil && !errors.Is(err, mcp.ErrNotReading) {
		return nil
	}
	return err
}

// read takes the client's messages in until there are no more.
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
			r.answered(m)
		default:
			r.notified(m)
		}
	}
}

// parting bounds the good-bye to a gateway, and what is done once nothing is waited for.
const parting = 2 * time.Second

// drain ends the relay: what only listens at once, other requests when they are answered or
// time is up.
func (r *relay) drain() {
	r.stopListening()
	finished := make(chan struct{})
	go func() { // ends with the requests, at the latest soon after the end below
		r.flying.Wait()
		r.box.close()
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
			waits = r.out.Busy() // the client has not read yet what is there
			limit.Reset(readWait)
		case <-r.life.Done():
			waits = false
		}
	}
	r.leave()
	r.end(errEnded)
	gone := make(chan struct{})
	go func() { // ends with the relay's goroutines; see Serve for the exception
		r.wg.Wait()
		close(gone)
	}()
	limit.Reset(r.opts.Drain)
	select {
	case <-gone:
	case <-limit.C:
	}
	r.out.Close()
}

// readWait is how often a client that reads slowly is looked at, once its input has ended.
const readWait = time.Second
