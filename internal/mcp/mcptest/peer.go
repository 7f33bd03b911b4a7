package mcptest

import (
	"context"
	"slices"
	"strconv"
	"sync"

	"github.com/tidwall/gjson"
)

// This file has the state of one client: its requests, and questions to it.

// peer is a client as the server sees it: the process at the other end of the pipes, one legacy HTTP session,
// or, over modern HTTP, the sender of a single request.
type peer struct {
	session string // Mcp-Session-Id of a legacy HTTP session

	mu           sync.Mutex
	direct       outlet // for messages outside of requests; nil if there is no way to send them
	version      string // agreed on in initialize, "" before
	capabilities gjson.Result
	level        int
	subscribed   map[string]bool
	running      map[string]context.CancelFunc
	asked        map[string]chan *message
	asks         int
	lastAnswered string
	vendorGo     chan struct{} // signalled by notifications/vendor/go
}

func newPeer(direct outlet) *peer {
	return &peer{
		direct:     direct,
		subscribed: map[string]bool{},
		running:    map[string]context.CancelFunc{},
		asked:      map[string]chan *message{},
		vendorGo:   make(chan struct{}, 99),
	}
}

// setAgreed stores the version and capabilities that initialize agreed on.
func (p *peer) setAgreed(version string, capabilities gjson.Result) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.version, p.capabilities = version, capabilities
}

// agreed returns what setAgreed stored; version is "" before.
func (p *peer) agreed() (version string, capabilities gjson.Result) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.version, p.capabilities
}

// track returns a context that ends when the client cancels request id, and a function to call when the
// request is done.
func (p *peer) track(ctx context.Context, id string) (context.Context, func()) {
	ctx, cancel := context.WithCancel(ctx)
	p.mu.Lock()
	p.running[id] = cancel
	p.mu.Unlock()
	return ctx, func() {
		cancel()
		p.mu.Lock()
		delete(p.running, id)
		p.mu.Unlock()
	}
}

// cancel cancels request id and reports whether it was running.
func (p *peer) cancel(id string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	cancel, ok := p.running[id]
	if ok {
		cancel()
	}
	return ok
}

// ask sends a request to the client through out and waits for the response; nil if ctx ended first.
func (p *peer) ask(ctx context.Context, out outlet, method, params string) *message {
	// The server's ids are numbers from 1, so that they collide with the client's ids on purpose: both sides
	// must keep the two directions apart.
	p.mu.Lock()
	p.asks++
	id := strconv.Itoa(p.asks)
	reply := make(chan *message, 1)
	p.asked[id] = reply
	p.mu.Unlock()
	defer func() {
		p.mu.Lock()
		delete(p.asked, id)
		p.mu.Unlock()
	}()
	out.sendEvent([]byte(`{"jsonrpc":"2.0","id":` + id + `,"method":"` + method + `","params":` + params + `}`))
	select {
	case m := <-reply:
		return m
	case <-ctx.Done():
		return nil
	}
}

// lastAsk returns the id of the last request to the client.
func (p *peer) lastAsk() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return strconv.Itoa(p.asks)
}

// deliver passes a response of the client to the ask that waits for it, and reports whether there was one.
func (p *peer) deliver(m *message) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	reply, ok := p.asked[m.id]
	if ok {
		delete(p.asked, m.id)
		reply <- m
	}
	return ok
}

func (p *peer) setLastAnswered(id string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.lastAnswered = id
}

// send sends a message outside of requests, if there is a way.
func (p *peer) send(frame string) {
	p.mu.Lock()
	out := p.direct
	p.mu.Unlock()
	if out != nil {
		out.sendEvent([]byte(frame))
	}
}

// setDirect sets the outlet for messages outside of requests.
func (p *peer) setDirect(out outlet) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.direct = out
}

// dropDirect unsets that outlet, unless another one has replaced it.
func (p *peer) dropDirect(out outlet) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.direct == out {
		p.direct = nil
	}
}

func (p *peer) setSubscribed(uri string, on bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if on {
		p.subscribed[uri] = true
	} else {
		delete(p.subscribed, uri)
	}
}

func (p *peer) isSubscribed(uri string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.subscribed[uri]
}

// levels are the logging levels, least severe first (RFC 5424).
var levels = []string{"debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"}

// setLevel sets the least severe level the client wants and reports whether it exists.
func (p *peer) setLevel(name string) bool {
	level := slices.Index(levels, name)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.level = max(level, 0)
	return level >= 0
}

// wantsLevel reports whether a legacy client wants messages of the level. A message of an unknown level is always
// sent, so that the client has to deal with it.
func (p *peer) wantsLevel(name string) bool {
	level := slices.Index(levels, name)
	p.mu.Lock()
	defer p.mu.Unlock()
	return level < 0 || level >= p.level
}
