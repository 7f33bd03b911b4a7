// Package mcpserver is the face for MCP clients: it turns their requests into calls through the pipeline, and
// changes behind the pipeline into notifications. Package mcp implements the protocol of both eras; this
// package implements the methods.
//
// The entry point is [New]. A [Server] serves any number of clients over HTTP ([Server.Handler]) and over
// streams ([Server.ServeStream]).
package mcpserver

import (
	"cmp"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"collie/internal/mcp"
	"collie/internal/pipeline"
	"collie/internal/tool"
)

// Client is what a transport knows about a client before it sends anything.
type Client struct {
	Principal string
	Origin    tool.Origin
	Profile   string
	// Owner is what sessions and parked requests are bound to; empty means Principal and Stream.
	Owner string
	// NoHeaders says that a bridge carries the client's pipe to HTTP. Such a client cannot know which
	// arguments a tool wants as Mcp-Param headers.
	NoHeaders bool
	// Stream distinguishes pipes that are carried to HTTP under one principal; empty if there is none.
	// The code that sets it must check that the sender may do so.
	Stream string
	// Mute reports whether the client's answers to elicitations do not count as a person's. It may change
	// while the client is connected. Nil means that they count.
	Mute *atomic.Bool
	// Do runs the client's requests instead of the pipeline, for a wrapper around it; nil means the pipeline.
	// Shows reports whether the client's lists show a tool; nil means all.
	Do    func(context.Context, tool.Request) (tool.Result, error)
	Shows func(name string) bool
}

// ownerKey returns what sessions and parked requests are bound to.
func (c Client) ownerKey() string {
	switch {
	case c.Owner != "":
		return c.Owner
	case c.Stream == "":
		return c.Principal
	}
	return c.Principal + "\x00" + c.Stream
}

// Options are the optional parts of a [Server].
type Options struct {
	// Version of this program.
	Version string
	// ListWait is how long, counted from a client's first list, its lists wait for servers that are starting
	// for the first time. Many clients request lists once and never again. 0 does not wait.
	ListWait time.Duration
	// Stopping is closed when the gateway stops, which ends long-lived requests.
	Stopping <-chan struct{}
	Logger   *slog.Logger // nil discards
}

// Server answers MCP clients. It is safe for concurrent use. Close it before the parts of the pipeline.
type Server struct {
	pipeline *pipeline.Pipeline
	opts     Options
	log      *slog.Logger
	info     json.RawMessage
	stop     func()

	mu              sync.Mutex
	sessions        map[*mcp.Peer]*session
	subscriptions   map[*subscription]struct{}
	firstListsUntil map[string]time.Time // until when lists wait, for clients without a session
}

var _ mcp.Service = (*Server)(nil)

// New returns a Server for p.
func New(p *pipeline.Pipeline, opts Options) *Server {
	s := &Server{
		pipeline: p, opts: opts, log: cmp.Or(opts.Logger, slog.New(slog.DiscardHandler)),
		sessions: map[*mcp.Peer]*session{}, subscriptions: map[*subscription]struct{}{}, firstListsUntil: map[string]time.Time{},
	}
	s.opts.Version = cmp.Or(s.opts.Version, "0")
	s.info = mcp.Edit(nil,
		mcp.Field{Key: "name", Value: mcp.Quote("collie")},
		mcp.Field{Key: "title", Value: mcp.Quote("Collie")},
		mcp.Field{Key: "version", Value: mcp.Quote(s.opts.Version)})
	s.stop = p.Watch(s.notifyChange)
	return s
}

// Close stops notifying clients of changes.
func (s *Server) Close() { s.stop() }

// Bounds are the limits of one endpoint. 0 means the default of [mcp.HTTPServerOptions].
type Bounds struct {
	MaxBody     int64 // bytes of a request
	MaxSessions int   // open legacy sessions
	Kept        int64 // bytes of answers kept for clients that come back
}

// Handler returns a handler for one URL. identify returns the sender of a request; sessions are bound to
// its Owner. The caller closes the handler.
func (s *Server) Handler(identify func(*http.Request) Client, b Bounds) *mcp.HTTPServer {
	return mcp.NewHTTPServer(s, &mcp.HTTPServerOptions{
		Logger: s.log, MaxBody: b.MaxBody, MaxSessions: b.MaxSessions, Kept: b.Kept, Headers: s.checkParams,
		Identify: func(r *http.Request) (string, any) {
			c := identify(r)
			return c.ownerKey(), c
		},
	})
}

// serveStream answers one client over a stream until its input or ctx ends.
func (s *Server) serveStream(ctx context.Context, stream mcp.Stream, client Client) error {
	return mcp.ServeStream(ctx, stream, s, &mcp.StreamOptions{Logger: s.log, Key: client})
}

// capabilities are announced once, for all servers to come: servers may appear later.
var capabilities = json.RawMessage(`{"tools":{"listChanged":true},"resources":{"subscribe":true,"listChanged":true},` +
	`"prompts":{"listChanged":true},"completions":{},"logging":{}}`)

// Hello returns the description of this server.
func (s *Server) Hello(_ context.Context, p *mcp.Peer) mcp.Hello {
	return mcp.Hello{Info: s.info, Capabilities: capabilities, Instructions: s.pipeline.Instructions(client(p).Profile)}
}

func client(p *mcp.Peer) Client {
	c, _ := p.Key.(Client)
	return c
}

// nameOf is like clientName, cached in the session if there is one.
func (s *Server) nameOf(p *mcp.Peer) string {
	if p.Era == mcp.Legacy {
		if sess := s.session(p); sess != nil {
			return sess.name
		}
	}
	return clientName(p)
}

// clientName returns the client's own name and version, for people.
func clientName(p *mcp.Peer) string {
	return strings.TrimSpace(mcp.GetString(p.Info, "name") + " " + mcp.GetString(p.Info, "version"))
}

// checkParams compares the Mcp-Param headers of a modern call with its arguments.
func (s *Server) checkParams(in *mcp.Incoming) error {
	if in.Method != "tools/call" || client(in.Peer).NoHeaders {
		return nil
	}
	schema := s.pipeline.InputSchema(client(in.Peer).Profile, mcp.GetString(in.Params, "name"))
	if !strings.Contains(string(schema), `"x-mcp-header"`) {
		return nil
	}
	headers, err := mcp.CompileParamHeaders(schema)
	if err != nil || headers == nil {
		return nil //nolint:nilerr // an invalid annotation requires no header
	}
	return headers.Check(mcp.Get(in.Params, "arguments"), func(name string) []string { return in.Header.Values(name) })
}

// Streams returns ServeStream bound to one client.
func (s *Server) Streams(client Client) func(context.Context, mcp.Stream) error {
	return func(ctx context.Context, stream mcp.Stream) error { return s.serveStream(ctx, stream, client) }
}

// ServeLines answers one client over lines of r and w, MCP's stdio transport. close must end a waiting read.
func (s *Server) ServeLines(ctx context.Context, r io.Reader, w io.Writer, close func() error, client Client) error {
	return s.serveStream(ctx, mcp.NewLines(r, w, 0, close), client)
}
