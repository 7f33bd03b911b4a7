package gateway

import (
	"context"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"slices"
	"sync"
	"time"

	"collie/internal/config"
	"collie/internal/face/httpserver"
	"collie/internal/face/httpserver/tokens"
)

// This file keeps the listeners of a gateway, and moves it to another address without losing the old one on failure.

const (
	// replacedGrace is how long a listener that was replaced still takes requests, so that pages can ask where to go.
	replacedGrace = 10 * time.Second
	// drainLimit is how long the requests of such a listener may go on after replacedGrace.
	drainLimit = time.Minute
)

// ports has the listeners of a running gateway: the one in use, and those that it has replaced, which finish the requests
// they have begun. log and stopping must be set before open.
type ports struct {
	log      *slog.Logger
	stopping chan struct{} // closed when the listener in use stops
	stop     sync.Once     // closes stopping

	mu       sync.Mutex
	opts     httpserver.Options // of the listener in use
	now      *httpserver.Server
	reserved *httpserver.Server   // opened, and not in use yet; nil for none
	wanted   httpserver.Options   // of reserved
	old      []*httpserver.Server // replaced, and not closed yet
	tokens   []tokens.Token
	handler  http.Handler // nil until serve
	ctx      context.Context
	result   chan error // of the listener in use
	serving  sync.WaitGroup
}

// open opens the first listener.
func (p *ports) open(ctx context.Context, opts *httpserver.Options) (err error) {
	p.opts = *opts
	p.now, err = httpserver.Open(ctx, *opts)
	return err
}

// close closes all listeners and waits until they have stopped.
func (p *ports) close() {
	p.mu.Lock()
	all := append(slices.Clone(p.old), p.now)
	if p.reserved != nil {
		all = append(all, p.reserved)
	}
	p.mu.Unlock()
	for _, s := range all {
		_ = s.Close() // an error does not matter: none of them is needed any more
	}
	p.serving.Wait()
}

// url returns the address of the listener in use.
func (p *ports) url() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.now.URL()
}

// urlElsewhere returns the address at which other machines reach the listener in use, over TLS. If there is none, it is empty.
func (p *ports) urlElsewhere() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case p.opts.PublicURL != "":
		return p.opts.PublicURL
	case p.opts.TLSCert == "" || p.now.Local():
		return ""
	case !p.now.Everywhere():
		return p.now.URL()
	case len(p.opts.AllowedHosts) == 0:
		return ""
	}
	name := p.opts.AllowedHosts[0]
	if _, _, err := net.SplitHostPort(name); err != nil {
		at, err := url.Parse(p.now.URL())
		if err != nil {
			return ""
		}
		name += ":" + at.Port()
	}
	return "https://" + name
}

// setTokens is like [httpserver.Server.SetTokens] for all listeners. Later ones get the same tokens.
func (p *ports) setTokens(list []tokens.Token) (ended []string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.tokens = list
	for _, s := range append(slices.Clone(p.old), p.now) {
		for _, holder := range s.SetTokens(list) {
			if !slices.Contains(ended, holder) {
				ended = append(ended, holder)
			}
		}
	}
	return ended
}

// serve answers requests at the listener in use until ctx ends.
func (p *ports) serve(ctx context.Context, h http.Handler) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	p.mu.Lock()
	p.ctx, p.handler, p.result = ctx, h, make(chan error, 1)
	p.run(p.now)
	p.mu.Unlock()
	err := <-p.result
	cancel()
	p.serving.Wait()
	return err
}

// run serves at a listener. The caller holds p.mu.
func (p *ports) run(s *httpserver.Server) {
	p.serving.Go(func() {
		<-s.Stopping()
		if p.inUse(s) {
			p.stop.Do(func() { close(p.stopping) }) // the next listener may end too
		}
	})
	p.serving.Go(func() {
		err := s.Serve(p.ctx, p.handler)
		if p.inUse(s) {
			p.result <- err
			return
		}
		if err != nil {
			p.log.Info("requests at the old address were cut off", "address", s.URL(), "error", err)
		}
		p.mu.Lock()
		p.old = slices.DeleteFunc(p.old, func(o *httpserver.Server) bool { return o == s })
		p.mu.Unlock()
	})
}

func (p *ports) inUse(s *httpserver.Server) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.now == s
}

// sameListener reports whether both options ask for the same listener.
func sameListener(a, b *httpserver.Options) bool {
	return a.Addr == b.Addr && a.TLSCert == b.TLSCert && a.TLSKey == b.TLSKey &&
		a.PublicURL == b.PublicURL && slices.Equal(a.TrustedProxies, b.TrustedProxies) && slices.Equal(a.AllowedHosts, b.AllowedHosts) && slices.Equal(a.AllowedOrigins, b.AllowedOrigins)
}

// reserve opens the listener that is wanted next, unless it is the one in use. If it cannot be opened, nothing changes.
func (p *ports) reserve(ctx context.Context, opts *httpserver.Options) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.reserved != nil && sameListener(&p.wanted, opts) {
		return nil
	}
	p.closeReservedLocked()
	if sameListener(&p.opts, opts) {
		return nil
	}
	next := *opts
	next.Over = p.now
	if host, port, _ := net.SplitHostPort(next.Addr); port == "0" && next.Addr == p.opts.Addr { // port 0 means any free port; keep the present one
		if _, port, err := net.SplitHostPort(p.now.Addr().String()); err == nil {
			next.Addr = net.JoinHostPort(host, port)
		}
	}
	s, err := httpserver.Open(ctx, next)
	if err != nil {
		return err
	}
	p.reserved, p.wanted = s, *opts
	return nil
}

// closeReservedLocked closes the reserved listener. The caller holds p.mu.
func (p *ports) closeReservedLocked() {
	if p.reserved != nil {
		_ = p.reserved.Close() // it has not served anything
		p.reserved = nil
	}
}

// closeReserved closes the reserved listener.
func (p *ports) closeReserved() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closeReservedLocked()
}

// move opens the listener that opts describe and closes the one in use after its requests had time to end. It reports
// whether anything changed.
func (p *ports) move(ctx context.Context, opts *httpserver.Options) (moved bool, err error) {
	if err := p.reserve(ctx, opts); err != nil {
		return false, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.reserved == nil || p.handler == nil || p.ctx.Err() != nil {
		return false, nil
	}
	before := p.now
	p.old = append(p.old, before)
	p.now, p.opts, p.reserved = p.reserved, p.wanted, nil
	p.now.SetTokens(p.tokens)
	p.run(p.now)
	p.serving.Go(func() { p.closeReplaced(before) })
	return true, nil
}

// closeReplaced closes a listener that was replaced, once pages have had time to ask for the new address.
func (p *ports) closeReplaced(s *httpserver.Server) {
	select {
	case <-time.After(replacedGrace):
	case <-p.ctx.Done():
		return // it stops with the one in use
	}
	ctx, cancel := context.WithTimeout(p.ctx, drainLimit)
	defer cancel()
	_ = s.Shutdown(ctx) // Serve returns the error, which run logs
}

// usesListener reports whether the listener in use is the one that opts ask for.
func (p *ports) usesListener(opts *httpserver.Options) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return sameListener(&p.opts, opts)
}

// movedEvent is the event that tells pages where the gateway is now.
type movedEvent struct {
	URL string `json:"url"`
	// Everywhere says that the gateway listens at all addresses of this machine, at the port of URL.
	Everywhere bool `json:"everywhere"`
}

// address returns the address of the listener in use, as an event for pages.
func (p *ports) address() movedEvent {
	p.mu.Lock()
	defer p.mu.Unlock()
	return movedEvent{p.now.URL(), p.now.Everywhere()}
}

// follow continues at the address that changed settings name. If that cannot be opened, the gateway stays where it is.
func (s *serving) follow(cfg *config.Config) {
	before := s.ports.url()
	opts, err := s.listenerOptions(cfg)
	done := false
	if err == nil {
		done, err = s.ports.move(context.Background(), &opts) // no caller's context: what it opens outlives the caller
	}
	if err != nil {
		s.log.Error("the address of the settings cannot be used, the gateway stays where it is", "url", before, "error", err)
		return
	}
	if !done {
		return
	}
	now := s.ports.address()
	s.log.Info("listening at another address", "url", now.URL, "before", before)
	if now.URL == before {
		return
	}
	s.Note("listening on %s/mcp", now.URL)
	if chats, err := s.app.Conversations(context.Background()); err == nil {
		chats.Publish(eventMoved, "", "", now)
	}
}

// eventMoved is the kind of the event about a new address.
const eventMoved = "gateway.moved"
