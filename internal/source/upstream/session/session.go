// Package session opens connections to one MCP server, over the pipes of a process that it starts or over HTTP, and
// reports how they ended.
//
// A [Dialer] belongs to a server; a [Session] is one connection, with its process if it has one. Other packages
// decide when a session is opened, who owns it and which calls use it. What the server sends goes to their
// [mcp.Handler].
package session

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"collie/internal/mcp"
	"collie/internal/process"
	"collie/internal/source/upstream/entry"
	"collie/internal/source/upstream/serverlog"
	"collie/internal/units"
)

// Gateway is shared by the sessions of all servers. All fields are optional except Starts.
type Gateway struct {
	Starts *Starts
	// Reaper and Ledger make sure that child processes end with us; either may be nil. Ladder says how long a child
	// may take to end.
	Reaper *process.Reaper
	Ledger *process.Ledger
	Ladder process.Ladder
	// MaxFrame bounds a message from a server in bytes; 0 is the default of package mcp.
	MaxFrame int
	// RunDir is a folder for the ids of containers; empty leaves containers alone.
	RunDir string
	// Environ is our own environment. Deny are patterns of variables that children do not get; nil means the
	// defaults.
	Environ, Deny []string
}

// Dialer opens the sessions of one server. Its exported fields are required, and must not change after the first
// session. It is safe for concurrent use.
type Dialer struct {
	*Gateway
	Settings  func() *entry.Entry // returns the current settings
	Log       *slog.Logger
	ServerLog *serverlog.Log      // gets the server's output beside the protocol
	Redact    func(string) string // masks the secrets of the settings, and those that Hide got
	Hide      func(secrets []string)
	// SignIn adds a sign-in to the HTTP transport, if the server uses one.
	SignIn func(http.RoundTripper) (http.RoundTripper, error)

	noise    noiseCounter
	overSSE  atomic.Bool
	headless atomic.Bool // the server does not answer the request for its listening stream
	dropped  atomic.Uint64
}

// OverSSE reports whether the server is known, or assumed, to speak only HTTP with SSE (MCP 2024-11-05).
func (d *Dialer) OverSSE() bool { return d.overSSE.Load() }

// AssumeSSE sets whether the server is assumed to speak only HTTP with SSE.
func (d *Dialer) AssumeSSE(is bool) { d.overSSE.Store(is) }

// NoiseLines returns how many lines the server wrote to stdout that are not messages.
func (d *Dialer) NoiseLines() uint64 { return d.noise.total() }

// Dropped returns how many answers without a waiting request came on sessions that are closed.
func (d *Dialer) Dropped() uint64 { return d.dropped.Load() }

// Environment returns the environment for programs of the settings.
func (d *Dialer) Environment() []string {
	return entry.Environment(*d.Settings(), d.Environ, entry.EnvironmentOptions{Deny: d.Deny})
}

// Session is one connection to a server. The caller of [Dialer.New] closes it, whether it was opened or not.
type Session struct {
	Client    *mcp.Client      // set once it is open
	Process   *process.Process // nil for HTTP
	Transport *http.Transport  // nil for a process

	dialer    *Dialer
	container *container             // nil if the server does not run in a container
	env       []string               // environment of the process
	endReason atomic.Pointer[string] // reason given to EndFor
	stop      sync.Once
}

// New returns a session that is not open yet.
func (d *Dialer) New() *Session { return &Session{dialer: d} }

// Open starts or reaches the server and initializes the protocol as opts say. What the server sends goes to h. Over
// HTTP the caller may still have to call [mcp.Client.Ready]. The wait for a start slot does not count towards
// startTimeout. The error is [ErrTimeout] after startTimeout, and an [*ExitError] if the process ended.
func (s *Session) Open(ctx context.Context, h mcp.Handler, opts mcp.ClientOptions) error {
	if s.dialer.Settings().Transport == entry.Stdio {
		return s.spawn(ctx, h, opts)
	}
	return s.connectURL(ctx, h, opts)
}

// ErrTimeout says that a server did not answer within startTimeout.
var ErrTimeout = errors.New("the server did not answer in time")

// ExitError says that the server's process ended before it was ready.
type ExitError struct {
	Exit process.ExitInfo
	Tail []string
}

// Error returns the exit code and the last output.
func (e *ExitError) Error() string {
	msg := "the process ended: " + e.Exit.String()
	if len(e.Tail) > 0 {
		msg += "; it said: " + strings.Join(e.Tail, " | ")
	}
	return msg
}

// withStartTimeout bounds ctx by the start timeout.
func (d *Dialer) withStartTimeout(ctx context.Context) (context.Context, context.CancelFunc) {
	limit := d.Settings().StartTimeout
	return context.WithTimeoutCause(ctx, limit, fmt.Errorf("%w (startTimeout %s)", ErrTimeout, units.DurationText(limit)))
}

// connectURL connects to an HTTP server.
func (s *Session) connectURL(ctx context.Context, h mcp.Handler, opts mcp.ClientOptions) error {
	release, err := s.dialer.Starts.acquire(ctx, false)
	if err != nil {
		return err
	}
	defer release()
	ctx, cancel := s.dialer.withStartTimeout(ctx)
	defer cancel()
	s.Client, err = s.connectHTTP(ctx, h, opts)
	if err != nil && ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}

// spawn starts a process and opens a session over its pipes.
func (s *Session) spawn(ctx context.Context, h mcp.Handler, opts mcp.ClientOptions) error {
	d, conf := s.dialer, s.dialer.Settings()
	turn, err := d.Starts.packages.acquire(ctx, conf.Package)
	if err != nil {
		return err
	}
	downloaded := sync.OnceFunc(turn) // called at the server's first output, or at the end
	defer downloaded()
	release, err := d.Starts.acquire(ctx, conf.Runner)
	if err != nil {
		return err
	}
	defer release()
	silent := time.AfterFunc(silentSlot, release)
	defer silent.Stop()
	ctx, cancel := d.withStartTimeout(ctx)
	defer cancel()

	heard := make(chan struct{})
	hear := sync.OnceFunc(func() {
		close(heard)
		downloaded()
	})
	box, args := containerOf(conf, d.RunDir)
	if err := box.prepare(); err != nil {
		return err
	}
	s.container, s.env = box, d.Environment()
	s.Process, err = process.Start(process.Command{
		Label: conf.Name, Name: conf.Command.Reveal(), Args: args, Env: s.env, Dir: conf.Dir,
		Stderr: func(line []byte) {
			hear()
			d.ServerLog.Add("stderr", d.Redact(string(line)))
		},
	}, &process.Options{Ladder: d.Ladder, Reaper: d.Reaper, Ledger: d.Ledger, Logger: d.Log})
	if err != nil {
		return err
	}
	out := &firstRead{r: s.Process.Stdout(), first: hear}
	lines := mcp.NewLines(out, s.Process.Stdin(), d.MaxFrame, func() error { return s.Process.Stdout().Close() })
	link := mcp.NewConn(lines, h, &mcp.ConnOptions{Logger: d.Log, Noise: s.logNoise})
	opts.FirstOutput = heard
	if conf.Runner {
		opts.ProbeMax = conf.StartTimeout / 2
	}
	s.Client, err = mcp.Connect(ctx, link, opts)
	if err == nil {
		return nil
	}
	s.Client = &mcp.Client{Link: link}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if exit := s.Exited(); exit != nil {
		return exit
	}
	return err
}

// firstRead is a reader that calls first once something was read.
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

// logNoise logs output that is not a message.
func (s *Session) logNoise(frame []byte, err error) {
	text := s.dialer.Redact(string(frame)) // before it is cut, or the beginning of a secret would be left
	if len(text) > 400 {
		text = strings.ToValidUTF8(text[:400], "") + "…"
	}
	s.dialer.ServerLog.Add("noise", text)
	if s.dialer.noise.add(time.Now()) {
		s.dialer.Log.Warn("the server writes much to stdout that is not a message; logs belong on stderr")
	}
	s.dialer.Log.Debug("noise on stdout", "error", err)
}

// Exited waits up to 500 ms for the process to end, and returns how it ended; nil if it still runs.
func (s *Session) Exited() error {
	if s.Process == nil {
		return nil
	}
	timer := time.NewTimer(500 * time.Millisecond)
	defer timer.Stop()
	select {
	case <-s.Process.Done():
		return &ExitError{Exit: s.Process.Exit(), Tail: s.lastWords()}
	case <-timer.C:
		return nil
	}
}

func (s *Session) lastWords() []string {
	tail := s.Process.Tail(20)
	for i := range tail {
		tail[i] = s.dialer.Redact(tail[i])
	}
	return tail
}

// Ending describes how the connection ended; empty if it has not.
func (s *Session) Ending() string {
	if err := s.Exited(); err != nil {
		return err.Error()
	}
	switch err := s.Client.Link.Err(); {
	case err == nil:
		return ""
	case errors.Is(err, io.EOF):
		return "the server closed its output"
	default:
		return s.dialer.Redact(err.Error())
	}
}

// keepsSession reports whether the server can send requests over this connection.
func (s *Session) keepsSession() bool {
	link, ok := s.Client.Link.(interface{ HasSession() bool })
	return !ok || link.HasSession()
}

// CannotAsk reports whether the server cannot send questions to the client on this connection: it is legacy and keeps
// no session.
func (s *Session) CannotAsk() bool { return s.Client.Era == mcp.Legacy && !s.keepsSession() }

// Unclaimed returns how many answers came that no request waited for.
func (s *Session) Unclaimed() uint64 {
	if s.Client == nil {
		return 0
	}
	if link, ok := s.Client.Link.(interface{ Dropped() uint64 }); ok {
		return link.Dropped()
	}
	return 0
}

// Alive reports whether the connection is open.
func (s *Session) Alive() bool {
	select {
	case <-s.Client.Link.Done():
		return false
	default:
		return true
	}
}

// PingLimit bounds the wait for the answer to a ping.
const PingLimit = 5 * time.Second

// Ping reports whether the server answers. The error "method not found" counts as an answer.
func (s *Session) Ping(ctx context.Context) bool {
	ctx, cancel := context.WithTimeout(ctx, PingLimit)
	defer cancel()
	_, err := s.Client.Request(ctx, "ping", nil)
	_, answered := errors.AsType[*mcp.RPCError](err)
	return err == nil || answered
}

// EndFor ends the connection with a reason, which EndReason then returns.
func (s *Session) EndFor(reason string) {
	s.endReason.Store(&reason)
	if err := s.Client.Link.Close(); err != nil {
		s.dialer.Log.Debug("link not closed", "error", err)
	}
}

// EndReason returns the stable code for how the connection ended.
func (s *Session) EndReason() string {
	switch sick := s.endReason.Load(); {
	case sick != nil:
		return *sick
	case s.Process != nil && s.Process.Exit().KilledOOM:
		return "killed_oom"
	}
	return "crashed"
}

// Close ends the session and its process, and waits for both.
func (s *Session) Close(ctx context.Context) {
	s.stop.Do(func() {
		s.dialer.dropped.Add(s.Unclaimed())
		if s.Process != nil {
			if err := s.Process.Stop(ctx); err != nil {
				s.dialer.Log.Warn("process not stopped", "error", err)
			}
			if err := s.container.kill(s.env); err != nil {
				s.dialer.Log.Debug("container not killed", "error", err)
			}
		}
		if s.Client != nil {
			if err := s.Client.Link.Close(); err != nil && !errors.Is(err, net.ErrClosed) {
				s.dialer.Log.Debug("link not closed", "error", err)
			}
		}
		if s.Transport != nil {
			s.Transport.CloseIdleConnections()
		}
	})
}

const (
	// noiseLines within noiseTime are more than a banner, and get one warning.
	noiseLines = 100
	noiseTime  = 10 * time.Second
)

// silentSlot is how long a server that starts keeps its start slot without any output.
const silentSlot = 10 * time.Second

// noiseCounter tells a banner on stdout from a server that logs there.
type noiseCounter struct {
	mu     sync.Mutex
	since  time.Time
	count  int
	all    uint64
	warned bool
}

// total returns how many lines there were.
func (n *noiseCounter) total() uint64 {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.all
}

// add counts a line and reports whether to warn now.
func (n *noiseCounter) add(now time.Time) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	if now.Sub(n.since) > noiseTime {
		n.since, n.count = now, 0
	}
	n.all++
	n.count++
	if n.count <= noiseLines || n.warned {
		return false
	}
	n.warned = true
	return true
}
