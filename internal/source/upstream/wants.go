package upstream

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"collie/internal/mcp"
	"collie/internal/tool"
)

// This file remembers what clients want of a server (subscriptions, log level), and asks for it on each new connection.

// clientInterests holds what clients have asked of a server: subscriptions and the log level. It outlives connections
// and is sent on each new one.
type clientInterests struct {
	mu    sync.Mutex
	level string
	uris  map[string]subscribed
}

// subscribed maps each connection that delivers a resource's updates to a function that ends the subscription's
// stream in the modern era.
type subscribed map[*conn]context.CancelFunc

// hasSubscriptions reports whether anybody has subscribed to a resource.
func (w *clientInterests) hasSubscriptions() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.uris) > 0
}

// addURI records a subscription before there is a connection for it.
func (w *clientInterests) addURI(uri string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.uris == nil {
		w.uris = map[string]subscribed{}
	}
	if w.uris[uri] == nil {
		w.uris[uri] = subscribed{}
	}
}

func (w *clientInterests) setLevel(level string) {
	w.mu.Lock()
	w.level = level
	w.mu.Unlock()
}

func (w *clientInterests) currentLevel() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.level
}

// interestSnapshot is a copy of what clientInterests holds at one moment.
type interestSnapshot struct {
	level string
	uris  []string
}

func (w *clientInterests) now() interestSnapshot {
	w.mu.Lock()
	defer w.mu.Unlock()
	return interestSnapshot{w.level, slices.Sorted(maps.Keys(w.uris))}
}

// applyInterests sends earlier subscriptions and the log level to a new connection. A resource may have changed while
// there was none, so each is reported as updated.
func (c *conn) applyInterests(ctx context.Context, w interestSnapshot) {
	s := c.server
	if w.level != "" {
		if err := c.setLevel(ctx, w.level); err != nil {
			s.log.Debug("log level not set", "error", err)
		}
	}
	if !c.takesSubscriptions() {
		return
	}
	for _, uri := range w.uris {
		if err := c.subscribe(ctx, uri, true); err != nil {
			s.log.Warn("subscription not renewed", "uri", uri, "error", err)
			continue
		}
		s.watchers.notify(tool.Change{
			Kind: tool.ResourceUpdated, Source: s.name, Method: "notifications/resources/updated", URI: uri,
			Params: mcp.Edit(nil, mcp.Field{Key: "uri", Value: mcp.Quote(uri)}),
		})
	}
}

// SetLevel sets the server's log level; see [tool.Peer]. A modern server gets it with each request instead.
func (s *Server) SetLevel(ctx context.Context, level string) error {
	s.wants.setLevel(level)
	s.set.mu.Lock()
	s.set.level = level
	s.set.mu.Unlock()
	for _, c := range s.liveConns() {
		if err := c.setLevel(ctx, level); err != nil {
			return err
		}
	}
	return nil
}

func (c *conn) setLevel(ctx context.Context, level string) error {
	if c.Client.Era == mcp.Modern || !c.Client.Can("logging") {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, requestLimit)
	defer cancel()
	_, err := c.Client.Request(ctx, "logging/setLevel", mcp.Edit(nil, mcp.Field{Key: "level", Value: mcp.Quote(level)}))
	return err
}

// liveConns returns the open connections.
func (s *Server) liveConns() []*conn {
	p := s.pool.lock()
	defer s.pool.unlock()
	var out []*conn
	for _, c := range p.conns() {
		if c.Alive() {
			out = append(out, c)
		}
	}
	return out
}

// Subscribe asks the server for a resource's updates; see [tool.Peer]. After it returns nil no update is missed.
func (s *Server) Subscribe(ctx context.Context, uri string) error {
	s.wants.mu.Lock()
	wanted := s.wants.uris[uri] != nil
	s.wants.mu.Unlock()
	if wanted {
		return nil
	}
	c, err := s.connection(ctx)
	if err != nil {
		return s.startError(err)
	}
	if err := c.subscribe(ctx, uri, false); err != nil {
		return err
	}
	for _, other := range s.liveConns() {
		if other == c || !other.takesSubscriptions() {
			continue
		}
		if err := other.subscribe(ctx, uri, false); err != nil {
			s.log.Debug("not subscribed over the second connection", "uri", uri, "error", err)
		}
	}
	return nil
}

// takesSubscriptions reports whether subscriptions are made on a connection: the primary one, and an extra one that is a
// process of its own, with resources of its own.
func (c *conn) takesSubscriptions() bool {
	p := c.server.pool.lock()
	defer c.server.pool.unlock()
	return c == p.primary || c.Process != nil
}

// subscribe subscribes to a resource on a connection. renew says that this restores an earlier subscription: it is
// withdrawn if nobody wants it any more.
func (c *conn) subscribe(ctx context.Context, uri string, renew bool) error {
	s := c.server
	stop := context.CancelFunc(func() {})
	if c.Client.Era == mcp.Modern {
		filter, err := json.Marshal(map[string]any{"resourceSubscriptions": []string{uri}})
		if err != nil {
			return err
		}
		if stop, err = c.stream(ctx, filter, requestLimit); err != nil {
			stop()
			return err
		}
	} else {
		ctx, cancel := context.WithTimeout(ctx, requestLimit)
		defer cancel()
		if l, ok := c.Client.Link.(interface{ AwaitStream(context.Context) bool }); ok {
			opening, cancel := context.WithTimeout(ctx, listenWait)
			l.AwaitStream(opening) // updates come over it
			cancel()
		}
		if _, err := c.Client.Request(ctx, "resources/subscribe", mcp.Edit(nil, mcp.Field{Key: "uri", Value: mcp.Quote(uri)})); err != nil {
			return wireError(err)
		}
	}
	s.wants.mu.Lock()
	if renew && s.wants.uris[uri] == nil {
		s.wants.mu.Unlock()
		stop()
		return c.unsubscribe(ctx, uri)
	}
	defer s.wants.mu.Unlock()
	if s.wants.uris == nil {
		s.wants.uris = map[string]subscribed{}
	}
	if s.wants.uris[uri] == nil {
		s.wants.uris[uri] = subscribed{}
	}
	for other, old := range s.wants.uris[uri] {
		if other == c || !other.Alive() {
			old()
			delete(s.wants.uris[uri], other)
		}
	}
	s.wants.uris[uri][c] = stop
	return nil
}

// stream opens a subscription that lasts until stop is called or the server ends. It returns once the server has
// confirmed it. After limit it returns an error, though the server may still confirm later.
func (c *conn) stream(ctx context.Context, filter json.RawMessage, limit time.Duration) (stop context.CancelFunc, err error) {
	s := c.server
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	streaming, end := context.WithCancel(s.life.ctx)
	sub := &subscription{confirmed: make(chan struct{})}
	stop = func() {
		sub.ended.Store(true)
		end()
	}
	refused := make(chan error, 1)
	p := s.pool.lock()
	if p.closed { // nobody waits for a stream any more
		s.pool.unlock()
		end()
		return stop, errStopping
	}
	s.life.wg.Go(func() {
		defer end()
		refused <- c.listen(streaming, filter, sub)
	})
	s.pool.unlock()
	select {
	case <-sub.confirmed:
		return stop, nil
	case err := <-refused:
		return stop, err
	case <-ctx.Done():
		return stop, context.Cause(ctx)
	}
}

// subscription is the Owner of a subscriptions/listen request.
type subscription struct {
	once      sync.Once
	confirmed chan struct{} // closed when the server has acknowledged it
	ended     atomic.Bool   // later notifications for it are dropped
}

func (s *subscription) confirm() { s.once.Do(func() { close(s.confirmed) }) }

// isLate reports whether a notification belongs to a subscription that has ended.
func isLate(params json.RawMessage, owner any) bool {
	if sub, ok := owner.(*subscription); ok {
		return sub.ended.Load()
	}
	return owner == nil && mcp.Get(params, "_meta", mcp.MetaSubscription) != nil
}

// Unsubscribe undoes Subscribe.
func (s *Server) Unsubscribe(ctx context.Context, uri string) error {
	s.wants.mu.Lock()
	stream := s.wants.uris[uri]
	delete(s.wants.uris, uri)
	s.wants.mu.Unlock()
	ctx, cancel := context.WithTimeout(ctx, requestLimit)
	defer cancel()
	var first error
	for c, stop := range stream {
		stop()
		if err := c.unsubscribe(ctx, uri); first == nil {
			first = err
		}
	}
	return first
}

// unsubscribe ends a legacy subscription. In the modern era a subscription ends with its stream.
func (c *conn) unsubscribe(ctx context.Context, uri string) error {
	if !c.Alive() || c.Client.Era == mcp.Modern {
		return nil
	}
	_, err := c.Client.Request(ctx, "resources/unsubscribe", mcp.Edit(nil, mcp.Field{Key: "uri", Value: mcp.Quote(uri)}))
	return wireError(err)
}

// wireError returns a server's JSON-RPC error unchanged.
func wireError(err error) error {
	if e, ok := err.(*mcp.RPCError); ok { //nolint:errorlint // Request returns it as it is
		return protocolError(e.Raw)
	}
	return err
}

// listenWait bounds the wait for the server to confirm that it will report changes.
const listenWait = 2 * time.Second

// hearChanges opens the stream on which a modern server reports changed lists. It reports whether the server has
// confirmed it.
func (c *conn) hearChanges(ctx context.Context) bool {
	if c.Client.Era != mcp.Modern {
		return false
	}
	filter := map[string]bool{}
	for capability, field := range map[string]string{
		"tools": "toolsListChanged", "resources": "resourcesListChanged", "prompts": "promptsListChanged",
	} {
		if c.Client.Can(capability, "listChanged") {
			filter[field] = true
		}
	}
	if len(filter) == 0 {
		return false
	}
	raw, err := json.Marshal(filter)
	if err != nil {
		panic("upstream: a filter does not encode: " + err.Error())
	}
	if _, err := c.stream(ctx, raw, listenWait); err != nil { // ends with the connection
		c.server.log.Debug("not confirmed that changed lists will be told", "error", err)
		return false
	}
	return true
}

// listen holds a subscriptions/listen request open until ctx or the connection ends. If its stream is lost, it opens
// another and fetches what it may have missed. The error says why the server refuses it, or that the connection has
// ended.
func (c *conn) listen(ctx context.Context, filter json.RawMessage, sub *subscription) error {
	params := c.Client.Own(mcp.Edit(nil, mcp.Field{Key: "notifications", Value: filter}))
	for wait := firstWait; ; wait = min(2*wait, lastWait) {
		begun := time.Now()
		resp, err := c.Client.Call(ctx, &mcp.Request{Method: "subscriptions/listen", Params: params, Owner: sub})
		switch {
		case ctx.Err() != nil:
			return nil //nolint:nilerr // the caller that ended ctx no longer waits
		case !c.Alive():
			return fmt.Errorf("the connection has ended: %w", c.Client.Link.Err())
		case err == nil && resp.Error != nil:
			return protocolError(resp.Error)
		}
		if time.Since(begun) > lastWait { // it worked for a while, so start over with short waits
			wait = firstWait
		}
		if !sleepFor(ctx, c.Client.Link.Done(), wait) {
			return nil
		}
		for _, kind := range []tool.ChangeKind{tool.ToolsChanged, tool.ResourcesChanged, tool.PromptsChanged} {
			c.server.listing.Ask(kind)
		}
	}
}
