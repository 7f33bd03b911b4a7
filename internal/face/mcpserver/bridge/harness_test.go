package bridge_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"collie/internal/face/mcpserver"
	"collie/internal/face/mcpserver/bridge"
	"collie/internal/mcp"
	"collie/internal/pipeline"
	"collie/internal/pipeline/audit"
	"collie/internal/source"
	"collie/internal/tool"
	"collie/internal/tool/tooltest"
	"collie/test/await"
)

// limit is how long a test waits for something before it fails.
const limit = await.Limit

// gateway is a real gateway over HTTP with a fake source.
type gateway struct {
	fake     *tooltest.Fake
	face     *mcpserver.Server
	running  atomic.Int32 // running calls of the tool hang
	current  atomic.Pointer[mcp.HTTPServer]
	web      *httptest.Server
	key      string
	maxBody  int64  // refuse longer requests, as the HTTP listener does; 0: none
	closeAll func() // closes everything
	stop     func() // closes Options.Stopping

	mu      sync.Mutex
	methods []string // HTTP method of each request so far
}

func newFake() *tooltest.Fake {
	offer := tooltest.Offer("s", tooltest.Action("echo", `"properties":{"n":{"type":"integer"}}`), tooltest.Action("fail"),
		tooltest.Action("hang"), tooltest.Action("ask"), tooltest.Action("who"))
	offer.Resources = []tool.Resource{tooltest.Resource("s://a"), tooltest.Resource("s://b")}
	offer.Prompts = []tool.Prompt{tooltest.Prompt("greet")}
	offer.Subscribes, offer.Logs, offer.Completes = true, true, true
	fake := tooltest.NewFake("s", offer)
	fake.On("fail", func(context.Context, *tool.Call) (tool.Result, error) { return tooltest.Failed("no"), nil })
	fake.On("ask", func(ctx context.Context, call *tool.Call) (tool.Result, error) {
		answer, err := call.Caller.Ask(ctx, "elicitation/create", []byte(`{"message":"?"}`))
		return tool.Result{Raw: []byte(`{"content":[],"answer":` + string(answer) + `}`)}, err
	})
	return fake
}

// newGateway starts a gateway whose tool "who" answers name.
func newGateway(tb testing.TB, name string) *gateway {
	tb.Helper()
	g := &gateway{fake: newFake(), key: "key of " + name}
	g.fake.On("who", func(context.Context, *tool.Call) (tool.Result, error) {
		return tool.Result{Raw: []byte(`{"content":[],"who":"` + name + `"}`)}, nil
	})
	g.fake.On("hang", func(ctx context.Context, _ *tool.Call) (tool.Result, error) {
		g.running.Add(1)
		defer g.running.Add(-1)
		<-ctx.Done()
		return tool.Result{}, context.Cause(ctx)
	})
	log, err := audit.Open(tb.TempDir(), nil)
	if err != nil {
		tb.Fatal(err)
	}
	catalog := source.New([]tool.Source{g.fake}, source.Options{
		Quiet: time.Millisecond, Instructions: "Read me.", Profiles: map[string]source.Profile{"p": {}}, // see g.at
	})
	stopping := make(chan struct{})
	g.stop = sync.OnceFunc(func() { close(stopping) })
	g.face = mcpserver.New(pipeline.New(catalog, pipeline.Options{Audit: log}), mcpserver.Options{Version: "9", Stopping: stopping})
	g.replaceHandler()
	g.web = httptest.NewServer(http.HandlerFunc(g.serve))
	g.closeAll = sync.OnceFunc(func() {
		g.crash()
		_ = g.handler().Close()
		g.web.Close()
		g.face.Close()
		catalog.Close()
		if err := log.Close(); err != nil {
			tb.Error(err)
		}
	})
	tb.Cleanup(g.closeAll)
	return g
}

// replaceHandler makes the gateway serve by a new handler, which knows no sessions.
func (g *gateway) replaceHandler() {
	g.current.Store(g.face.Handler(func(r *http.Request) mcpserver.Client {
		return mcpserver.Client{Principal: "me", Origin: tool.MCPLocal, Profile: r.URL.Query().Get("profile"), NoHeaders: true, Stream: r.Header.Get(bridge.HeaderStream)}
	}, mcpserver.Bounds{MaxSessions: 16}))
}

func (g *gateway) handler() *mcp.HTTPServer { return g.current.Load() }

func (g *gateway) serve(w http.ResponseWriter, r *http.Request) {
	g.mu.Lock()
	g.methods = append(g.methods, r.Method)
	g.mu.Unlock()
	if r.Header.Get("Authorization") != "Bearer "+g.key {
		w.WriteHeader(http.StatusUnauthorized)
		return
	}
	if g.maxBody > 0 && r.ContentLength > g.maxBody {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusRequestEntityTooLarge)
		_, _ = io.WriteString(w, `{"error":{"type":"request_too_large","message":"the request is over the limit","hint":"send less"}}`)
		return
	}
	g.handler().ServeHTTP(w, r)
}

// countRequests returns the number of HTTP requests with a method.
func (g *gateway) countRequests(method string) (n int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, m := range g.methods {
		if m == method {
			n++
		}
	}
	return n
}

// crash makes the gateway unreachable.
func (g *gateway) crash() {
	g.stop()
	_ = g.web.Listener.Close()
	g.web.CloseClientConnections()
}

func (g *gateway) address() bridge.Gateway {
	return bridge.Gateway{URL: g.web.URL + "/mcp?profile=p", Key: g.key}
}

// home provides the functions Find and Open of a test's bridge.
type home struct {
	mu       sync.Mutex
	found    *gateway
	err      error // returned instead of a gateway
	fallback *gateway
	opened   int
	closed   int
}

func (h *home) setFound(g *gateway, err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.found, h.err = g, err
}

// setFallback sets the gateway to open if none is found.
func (h *home) setFallback(g *gateway) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.fallback = g
}

func (h *home) find(context.Context) (bridge.Gateway, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	switch {
	case h.err != nil:
		return bridge.Gateway{}, h.err
	case h.found == nil:
		return bridge.Gateway{}, errors.New("no gateway")
	}
	return h.found.address(), nil
}

func (h *home) open(context.Context) (bridge.Opened, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.fallback == nil {
		return bridge.Opened{}, errors.New("the settings are broken")
	}
	h.opened++
	return bridge.Opened{
		Serve: h.fallback.face.Streams(mcpserver.Client{Principal: "me", Origin: tool.MCPLocal}),
		Close: func() {
			h.mu.Lock()
			defer h.mu.Unlock()
			h.closed++
		},
	}, nil
}

// client is a client at the other end of a bridge's pipes. It sees lines.
type client struct {
	tb     testing.TB
	in     *io.PipeWriter
	lines  chan string
	done   chan error
	cancel context.CancelFunc
}

// startClient runs a bridge from a new client to g. The bridge looks for other gateways in h.
func (h *home) startClient(tb testing.TB, g *gateway) *client {
	tb.Helper()
	h.setFound(g, nil)
	return startClientAt(tb, g.address(), bridge.Options{
		Find: h.find, Open: h.open, LossWait: 300 * time.Millisecond, Drain: 5 * time.Second,
		Logger: slog.New(slog.NewTextHandler(tb.Output(), &slog.HandlerOptions{Level: slog.LevelDebug})),
	})
}

func startClientAt(tb testing.TB, at bridge.Gateway, opts bridge.Options) *client {
	tb.Helper()
	return runClient(tb, func(ctx context.Context, in *io.PipeReader, out io.Writer) error {
		return bridge.Serve(ctx, in, out, in.Close, at, opts)
	})
}

// runClient starts serve, which is a bridge or a gateway, with a new client at the other end of its pipes.
func runClient(tb testing.TB, serve func(ctx context.Context, in *io.PipeReader, out io.Writer) error) *client {
	tb.Helper()
	in, write := io.Pipe()
	read, out := io.Pipe()
	ctx, cancel := context.WithCancel(context.Background())
	c := &client{tb: tb, in: write, lines: make(chan string, 10_000), done: make(chan error, 1), cancel: cancel}
	go func() {
		err := serve(ctx, in, out)
		_ = out.Close()
		c.done <- err
	}()
	go func() {
		defer close(c.lines)
		for r := bufio.NewReader(read); ; {
			line, err := r.ReadString('\n')
			if err != nil {
				return
			}
			c.lines <- strings.TrimSuffix(line, "\n")
		}
	}()
	tb.Cleanup(func() {
		cancel()
		_ = write.Close()
		select {
		case err := <-c.done:
			if err != nil {
				tb.Errorf("the bridge ended with: %v", err)
			}
		case <-time.After(limit):
			tb.Error("the bridge does not end")
		}
		for range c.lines { // until the reader ends
		}
	})
	return c
}

func (c *client) send(format string, args ...any) {
	c.tb.Helper()
	if len(args) > 0 {
		format = fmt.Sprintf(format, args...)
	}
	if _, err := io.WriteString(c.in, format+"\n"); err != nil {
		c.tb.Fatal(err)
	}
}

// awaitLine waits for a line that contains all words, drops the lines before it and returns it.
func (c *client) awaitLine(words ...string) string {
	c.tb.Helper()
	timeout := time.After(limit)
	var other []string
next:
	for {
		select {
		case line, ok := <-c.lines:
			if !ok {
				c.tb.Fatalf("the bridge ended without %q; before: %.500q", words, other)
			}
			for _, w := range words {
				if !strings.Contains(line, w) {
					other = append(other, line)
					continue next
				}
			}
			return line
		case <-timeout:
			c.tb.Fatalf("nothing with %q came; before: %.500q", words, other)
		}
	}
}

// awaitLines waits until a line has begun with each of the beginnings. It counts the lines of before too, and returns all lines.
func (c *client) awaitLines(before []string, beginnings ...string) (all []string) {
	c.tb.Helper()
	begins := func(line string) func(string) bool {
		return func(b string) bool { return strings.HasPrefix(line, b) }
	}
	for _, line := range before {
		beginnings = slices.DeleteFunc(beginnings, begins(line))
	}
	for all = before; len(beginnings) > 0; {
		select {
		case line, ok := <-c.lines:
			if !ok {
				c.tb.Fatalf("the bridge ended without %q", beginnings)
			}
			all = append(all, line)
			beginnings = slices.DeleteFunc(beginnings, begins(line))
		case <-time.After(limit):
			c.tb.Fatalf("nothing that begins with %q came; but %.500q", beginnings, all)
		}
	}
	return all
}

// expectNone fails if any line received so far has the word.
func (c *client) expectNone(word string) {
	c.tb.Helper()
	for {
		select {
		case line := <-c.lines:
			if strings.Contains(line, word) {
				c.tb.Errorf("came: %s", line)
			}
		default:
			return
		}
	}
}

const (
	initializeRequest = `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{"elicitation":{}},"clientInfo":{"name":"test","version":"2"}}}`
	initializedNotice = `{"jsonrpc":"2.0","method":"notifications/initialized"}`
	modernMeta        = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"test","version":"2"},"io.modelcontextprotocol/clientCapabilities":{}}`
)

// openSession opens a legacy session.
func (c *client) openSession() {
	c.tb.Helper()
	c.send(initializeRequest)
	c.awaitLine(`"id":0,"result":{"protocolVersion":"2025-11-25"`)
	c.send(initializedNotice)
}
