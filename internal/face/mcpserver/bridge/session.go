package bridge

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"sync"

	"collie/internal/mcp"
)

// This file remembers what a legacy client has set up, and sets it up again at another gateway. The requests are kept as the
// client sent them.

// session is the state that a legacy client has set up, to restore it at another gateway.
type session struct {
	mu                sync.Mutex
	opening           chan struct{} // closed when initialize is over; nil before the client has sent it
	initializeRequest []byte        // the client's initialize request, if it succeeded
	initializedNotice []byte        // the client's notifications/initialized
	levelRequest      []byte        // the client's last logging/setLevel request
	subscriptions     map[string][]byte
}

// admit decides whether a legacy request is allowed now, and sets what it has to wait for.
func (s *session) admit(f *request) *mcp.Error {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case f.isInitialize() && s.opening != nil:
		return &mcp.Error{Code: mcp.CodeInvalidRequest, Message: "initialize was sent twice in one session"}
	case f.isInitialize():
		s.opening = make(chan struct{})
	case s.opening == nil:
		return notInitializedError()
	default:
		f.waitFor = s.opening
	}
	return nil
}

func notInitializedError() *mcp.Error {
	return &mcp.Error{Code: mcp.CodeInvalidRequest, Message: "send initialize first, or a request of protocol version " + mcp.ModernVersions[0]}
}

// awaitOpen makes a request wait until the session is open.
func (s *session) awaitOpen(f *request) error {
	if f.waitFor == nil {
		return nil
	}
	select {
	case <-f.waitFor:
	case <-f.ctx.Done():
		return context.Cause(f.ctx)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.initializeRequest == nil {
		return notInitializedError()
	}
	return nil
}

// finishInitialize ends the wait for initialize. If initialize failed, it may be sent again.
func (s *session) finishInitialize() {
	s.mu.Lock()
	defer s.mu.Unlock()
	close(s.opening)
	if s.initializeRequest == nil {
		s.opening = nil
	}
}

// hasBegun reports whether the client has sent initialize.
func (s *session) hasBegun() bool { return s.initializeOver() != nil }

// initializeOver returns a channel that is closed when initialize is over; nil before the client has sent it.
func (s *session) initializeOver() <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.opening
}

// isOpen reports whether there is a session.
func (s *session) isOpen() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.initializeRequest != nil
}

func (s *session) storeReady(raw []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.initializedNotice = raw
}

// storeSetup stores what a request has set up, if its response says that it succeeded.
func (s *session) storeSetup(f *request, response []byte) {
	if f.modern {
		return
	}
	switch f.m.Method {
	case "initialize", "logging/setLevel", "resources/subscribe", "resources/unsubscribe":
	default:
		return
	}
	if m, err := mcp.Parse(response); err != nil || m.Result == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	uri := mcp.GetString(f.m.Params, "uri")
	switch f.m.Method {
	case "initialize":
		s.initializeRequest = f.m.Raw
	case "logging/setLevel":
		s.levelRequest = f.m.Raw
	case "resources/subscribe":
		if s.subscriptions == nil {
			s.subscriptions = map[string][]byte{}
		}
		s.subscriptions[uri] = f.m.Raw
	case "resources/unsubscribe":
		delete(s.subscriptions, uri)
	}
}

// restore sets up the session at another gateway; the client does not notice.
func (r *relay) restore(ctx context.Context, a *attachment) error {
	s := &r.session
	s.mu.Lock()
	hello, ready, level, uris := s.initializeRequest, s.initializedNotice, s.levelRequest, maps.Clone(s.subscriptions)
	s.mu.Unlock()
	if hello == nil {
		return nil
	}
	if err := r.repeat(ctx, a, hello, 0); err != nil {
		return fmt.Errorf("initialize: %w", err)
	}
	if ready == nil {
		return nil
	}
	if err := a.link.tell(ctx, ready, nil); err != nil {
		return err
	}
	requests := slices.Collect(maps.Values(uris))
	if level != nil {
		requests = append(requests, level)
	}
	for n, raw := range requests {
		if err := r.repeat(ctx, a, raw, n+1); err != nil {
			if _, lost := errors.AsType[*lostError](err); lost {
				return err
			}
			r.log.Warn("the gateway does not do again what the client asked for", "request", n, "error", err)
		}
	}
	return nil
}

// repeat sends a request of the client again, with an id that the client does not use.
func (r *relay) repeat(ctx context.Context, a *attachment, raw []byte, n int) error {
	m, err := mcp.Parse(mcp.Edit(raw, mcp.Field{Key: "id", Value: mcp.Quote("collie-again-" + strconv.Itoa(n))}))
	if err != nil {
		return err
	}
	f := newRequest(ctx, m)
	defer f.cancel(nil)
	f.heard = r.forwardMessage
	var failed error
	f.reply = func(raw []byte) {
		if m, err := mcp.Parse(raw); err == nil && m.Error != nil {
			failed = &mcp.RPCError{Raw: m.Error}
		}
	}
	if err := a.link.ask(f, a.generation); err != nil {
		return err
	}
	return failed
}

// announceChanges tells the client what may have changed with the gateway.
func (r *relay) announceChanges() {
	s := &r.session
	s.mu.Lock()
	ready, uris := s.initializedNotice != nil, slices.Collect(maps.Keys(s.subscriptions))
	s.mu.Unlock()
	if !ready {
		return
	}
	for _, list := range []string{"tools", "resources", "prompts"} {
		r.out.line(mcp.AppendNotification(nil, "notifications/"+list+"/list_changed", nil))
	}
	for _, uri := range uris {
		r.out.line(mcp.AppendNotification(nil, "notifications/resources/updated", mcp.Edit(nil, mcp.Field{Key: "uri", Value: mcp.Quote(uri)})))
	}
}
