package gateway

import (
	"context"
	"log/slog"
	"net/http"
	"slices"
	"sync"
	"time"

	"collie/internal/config"
	"collie/internal/face/httpserver"
	"collie/internal/face/httpserver/tokens"
)

const (
	// farewell is how long a listener that was replaced still takes requests, so that pages can ask where to go.
	farewell = 10 * time.Second
	// lastCalls is how long its requests may go on after that.
	lastCalls = time.Minute
)

// ports is where a running gateway listens: the listener in use, and those that it has replaced and that end what they have begun.
// The zero value needs a log and stopping.
type ports struct {
	log      *slog.Logger
	stopping chan struct{} // closed when the listener in use stops

	mu       sync.Mutex
	opts     httpserver.Options // of the listener in use
	now      *httpserver.Server
	reserved *httpserver.Server // opened, and not in use yet; nil for none
	wanted   httpserver.Options // of reserved
	old      []*httpserver.Server
	tokens   []tokens.Token
	handler  http.Handler // nil until it serves
	ctx      context.Context
	result   chan error
	serving  sync.WaitGroup
}

// open opens the first listener.
func (p *ports) open(ctx context.Context, opts *httpserver.Options) (err error) {
	p.opts = *opts
	p.now, err = httpserver.Open(ctx, *opts)
	return err
}

func (p *ports) close() {
	p.mu.Lock()
	all := append(slices.Clone(p.old), p.now)
	if p.reserved != nil {
		all = append(all, p.reserved)
	}
	p.mu.Unlock()
	for _, s := range all {
		_ = s.Close() // it has served, or will not
	}
	p.serving.Wait()
}

// url returns the address of the listener in use.
func (p *ports) url() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.now.URL()
}

// setTokens is [httpserver.Server.SetTokens] for all listeners.
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
			close(p.stopping)
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

// same reports whether two listeners would be the same.
func same(a, b *httpserver.Options) bool {
	return a.Addr == b.Addr && a.TLSCert == b.TLSCert && a.TLSKey == b.TLSKey &&
		slices.Equal(a.AllowedHosts, b.AllowedHosts) && slices.Equal(a.AllowedOrigins, b.AllowedOrigins)
}

// reserve opens the listener that is wanted next, unless it is the one in use. If it cannot be opened, nothing changes.
func (p *ports) reserve(ctx context.Context, opts *httpserver.Options) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.reserved != nil && same(&p.wanted, opts) {
		return nil
	}
	p.drop()
	if same(&p.opts, opts) {
		return nil
	}
	next := *opts
	next.Over = p.now
	s, err := httpserver.Open(ctx, next)
	if err != nil {
		return err
	}
	p.reserved, p.wanted = s, *opts
	return nil
}

// drop closes the reserved listener. The caller holds p.mu.
func (p *ports) drop() {
	if p.reserved != nil {
		_ = p.reserved.Close() // it has not served
		p.reserved = nil
	}
}

// forget closes the reserved listener.
func (p *ports) forget() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.drop()
}

// move goes on at the listener that opts ask for, and ends the one in use once its requests had time. It reports whether there was
// anything to do.
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
	p.serving.Go(func() { p.end(before) })
	return true, nil
}

// end closes a listener that was replaced.
func (p *ports) end(s *httpserver.Server) {
	select {
	case <-time.After(farewell):
	case <-p.ctx.Done():
		return // it stops with the one in use
	}
	ctx, cancel := context.WithTimeout(p.ctx, lastCalls)
	defer cancel()
	_ = s.Shutdown(ctx) // Serve reports it
}

// at reports whether the listener in use is the one that opts ask for.
func (p *ports) at(opts *httpserver.Options) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return same(&p.opts, opts)
}

// moved is the event that tells pages where the gateway is now.
type moved struct {
	URL string `json:"url"`
	// Everywhere says that any name of this machine leads there, at the port of URL.
	Everywhere bool `json:"everywhere"`
}

// where returns the address of the listener in use, as pages are told of it.
func (p *ports) where() moved {
	p.mu.Lock()
	defer p.mu.Unlock()
	return moved{p.now.URL(), p.now.Everywhere()}
}

// follow goes on at the address that changed settings name. If it cannot be opened, the gateway stays where it is.
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
	now := s.ports.where()
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
