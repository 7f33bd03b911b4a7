package upstream

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"collie/internal/mcp"
	"collie/internal/process"
	"collie/internal/source/upstream/entry"
	"collie/internal/source/upstream/inflight"
	"collie/internal/source/upstream/listing"
	"collie/internal/tool"
)

// conn is one connection to a server, with the calls in flight on it.
type conn struct {
	server *Server
	client *mcp.Client
	proc   *process.Process // nil for HTTP
	base   *http.Transport  // what HTTP goes over; nil for a process
	box    *container       // of a server in a container
	env    []string         // of the process
	stop   sync.Once

	used  bool          // a call was made over it; guarded by the pool's lock
	whose string        // the session that it was made for or has been given to, for good; guarded by the pool's lock
	feed  *listing.Feed // what it tells of what the server offers

	notes notes
	roots rooting
	calls *inflight.Calls        // in flight
	sick  atomic.Pointer[string] // why health checks gave it up; nil if they did not
}

var errNotInUse = errors.New("the connection is being closed")

// tooLate is the error of a call that came to a connection that takes no more: nothing was
// sent.
func tooLate() error { return &mcp.LinkError{Err: errNotInUse} }

var errStartTimeout = errors.New("the server did not answer in time")

// exitError says that the server's process ended before it was ready.
type exitError struct {
	exit process.ExitInfo
	tail []string
}

// Error gives the exit code and the last words.
func (e *exitError) Error() string {
	msg := "the process ended: " + e.exit.String()
	if len(e.tail) > 0 {
		msg += "; it said: " + strings.Join(e.tail, " | ")
	}
	return msg
}

// connect starts or reaches the server and opens a session of its protocol, for a session of ours or,
// where whose is empty, for all. It tries an era first, or that one only. Over HTTP the session may still have to be made ready; see [mcp.Client.Ready].
func (s *Server) connect(ctx context.Context, whose string, first mcp.Era, only bool) (*conn, error) {
	conf := s.settings()
	c := &conn{server: s, whose: whose, calls: inflight.New(time.Now())}
	opts := mcp.ClientOptions{
		Info: s.set.opts.Info, Capabilities: s.capabilities(), Protocol: conf.Protocol, First: first, Early: true, Logger: s.log,
	}
	opts.Reopened = func() { s.apply(s.life.ctx, c, s.wants.now()) }
	if conf.Protocol == "auto" && only {
		opts.Protocol = "legacy"
		if first == mcp.Modern {
			opts.Protocol = mcp.ModernVersions[0]
		}
	}
	open := c.spawn
	switch {
	case s.set.opts.open != nil:
		open = func(ctx context.Context, opts mcp.ClientOptions) error { return s.set.opts.open(ctx, c, opts) }
	case conf.Transport != entry.Stdio:
		open = c.dial
	}
	if err := open(ctx, opts); err != nil {
		return c, err
	}
	c.feed = listing.NewFeed(c.client, c.proc == nil, c.changeStream())
	return c, nil
}

// changeStream is how to open what the server tells of changed lists on; nil for a pipe, which carries that
// at any time.
func (c *conn) changeStream() func(context.Context) bool {
	link, legacy := c.client.Link.(interface{ AwaitStream(context.Context) bool })
	switch {
	case c.client.Era == mcp.Modern:
		return func(context.Context) bool { return c.server.listen(c.server.life.ctx, c) }
	case legacy:
		return func(ctx context.Context) bool { return c.client.Ready(ctx) == nil && link.AwaitStream(ctx) }
	}
	return nil
}

// timed bounds a start. The time that a server waits for its turn does not count.
func (s *Server) timed(ctx context.Context) (context.Context, context.CancelFunc) {
	limit := s.settings().StartTimeout
	return context.WithTimeoutCause(ctx, limit, fmt.Errorf("%w (startTimeout %v)", errStartTimeout, limit))
}

// dial reaches an HTTP server.
func (c *conn) dial(ctx context.Context, opts mcp.ClientOptions) error {
	release, err := c.server.set.startSlot(ctx, false)
	if err != nil {
		return err
	}
	defer release()
	ctx, cancel := c.server.timed(ctx)
	defer cancel()
	c.client, err = connectHTTP(ctx, c, opts)
	if err != nil && ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}

// spawn starts a process and opens a session over its pipes.
func (c *conn) spawn(ctx context.Context, opts mcp.ClientOptions) error {
	s, conf := c.server, c.server.settings()
	turn, err := s.set.packages.turn(ctx, conf.Package)
	if err != nil {
		return err
	}
	downloaded := sync.OnceFunc(turn) // at the first word of the server, or the end
	defer downloaded()
	release, err := s.set.startSlot(ctx, conf.Runner)
	if err != nil {
		return err
	}
	defer release()
	silent := time.AfterFunc(silentSlot, release)
	defer silent.Stop()
	ctx, cancel := s.timed(ctx)
	defer cancel()

	heard := make(chan struct{})
	hear := sync.OnceFunc(func() {
		close(heard)
		downloaded()
	})
	box, args := containerOf(conf, s.set.opts.RunDir)
	if err := box.prepare(); err != nil {
		return err
	}
	c.box, c.env = box, entry.Environment(*conf, s.set.opts.Environ, entry.EnvironmentOptions{Deny: s.set.opts.Deny})
	c.proc, err = process.Start(process.Command{
		Label: s.name, Name: conf.Command.Reveal(), Args: args, Env: c.env, Dir: conf.Dir,
		Stderr: func(line []byte) {
			hear()
			s.said.Add("stderr", s.redact(string(line)))
		},
	}, &process.Options{Ladder: s.set.opts.Ladder, Reaper: s.set.opts.Reaper, Ledger: s.set.opts.Ledger, Logger: s.log})
	if err != nil {
		return err
	}
	out := &firstRead{r: c.proc.Stdout(), first: hear}
	lines := mcp.NewLines(out, c.proc.Stdin(), s.set.opts.MaxFrame, func() error { return c.proc.Stdout().Close() })
	link := mcp.NewConn(lines, c, &mcp.ConnOptions{Logger: s.log, Noise: c.noise})
	opts.FirstOutput = heard
	if conf.Runner {
		opts.ProbeMax = conf.StartTimeout / 2
	}
	c.client, err = mcp.Connect(ctx, link, opts)
	if err == nil {
		return nil
	}
	c.client = &mcp.Client{Link: link}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if exit := c.exited(); exit != nil {
		return exit
	}
	return err
}

func reveal(values []entry.Value) []string {
	out := make([]string, len(values))
	for i, v := range values {
		out[i] = v.Reveal()
	}
	return out
}

// firstRead calls first when something has been read.
type firstRead struct {
	r     io.Reader
	first func()
	done  bool
}

func (f *firstRead) Read(p []byte) (int, error) {
	n, err := f.r.Read(p)
	if n > 0 && !f.done {
		f.done = true
		f.first()
	}
	return n, err
}

// noise keeps what is not a message for the log.
func (c *conn) noise(frame []byte, err error) {
	text := string(frame)
	if len(text) > 400 {
		text = text[:400] + "…"
	}
	c.server.said.Add("noise", c.server.redact(text))
	if c.server.noise.add(time.Now()) {
		c.server.log.Warn("the server writes much to stdout that is not a message; logs belong on stderr")
	}
	c.server.log.Debug("noise on stdout", "error", err)
}

// exited waits up to 500 ms for the process to have ended; nil if it runs on.
func (c *conn) exited() error {
	if c.proc == nil {
		return nil
	}
	timer := time.NewTimer(500 * time.Millisecond)
	defer timer.Stop()
	select {
	case <-c.proc.Done():
		return &exitError{exit: c.proc.Exit(), tail: c.lastWords()}
	case <-timer.C:
		return nil
	}
}

func (c *conn) lastWords() []string {
	tail := c.proc.Tail(20)
	for i := range tail {
		tail[i] = c.server.redact(tail[i])
	}
	return tail
}

// ending says how the connection ended; empty if it has not.
func (c *conn) ending() string {
	if err := c.exited(); err != nil {
		return err.Error()
	}
	switch err := c.client.Link.Err(); {
	case err == nil:
		return ""
	case errors.Is(err, io.EOF):
		return "the server closed its output"
	default:
		return c.server.redact(err.Error())
	}
}

// keepsSession reports whether the server can send requests over this connection.
func (c *conn) keepsSession() bool {
	link, ok := c.client.Link.(interface{ HasSession() bool })
	return !ok || link.HasSession()
}

// cannotAsk reports whether the server has no way to ask a caller back over this connection, but for
// the era that it is in.
func (c *conn) cannotAsk() bool { return c.client.Era == mcp.Legacy && !c.keepsSession() }

// droppedResponses counts answers that nobody waited for.
func (c *conn) droppedResponses() uint64 {
	if c.client == nil {
		return 0
	}
	if link, ok := c.client.Link.(interface{ Dropped() uint64 }); ok {
		return link.Dropped()
	}
	return 0
}

func (s *Server) addDropped(n uint64) {
	p := s.pool.lock()
	p.dropped += n
	s.pool.unlock()
}

func (c *conn) alive() bool {
	select {
	case <-c.client.Link.Done():
		return false
	default:
		return true
	}
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
	case <-c.client.Link.Done():
	case <-timer.C:
	case <-ctx.Done():
	}
}

// endFor ends the connection for a reason that endReason repeats.
func (c *conn) endFor(reason string) {
	c.sick.Store(&reason)
	if err := c.client.Link.Close(); err != nil {
		c.server.log.Debug("link not closed", "error", err)
	}
}

// endReason is the stable code of how the connection ended.
func (c *conn) endReason() string {
	switch sick := c.sick.Load(); {
	case sick != nil:
		return *sick
	case c.proc != nil && c.proc.Exit().KilledOOM:
		return "killed_oom"
	}
	return "crashed"
}

// close ends the session and the process, and waits for both.
func (c *conn) close(ctx context.Context) {
	c.stop.Do(func() {
		c.server.addDropped(c.droppedResponses())
		if c.proc != nil {
			if err := c.proc.Stop(ctx); err != nil {
				c.server.log.Warn("process not stopped", "error", err)
			}
			if err := c.box.kill(c.env); err != nil {
				c.server.log.Debug("container not killed", "error", err)
			}
		}
		if c.client != nil {
			if err := c.client.Link.Close(); err != nil && !errors.Is(err, net.ErrClosed) {
				c.server.log.Debug("link not closed", "error", err)
			}
		}
		if c.base != nil {
			c.base.CloseIdleConnections()
		}
	})
}
