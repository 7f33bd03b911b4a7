package mcpserver

import (
	"context"
	"encoding/json"
	"sync"
	"time"

	"collie/internal/mcp"
	"collie/internal/tool"
)

// This file keeps the subscriptions of legacy clients, by session.

// session holds the subscriptions of a legacy client.
type session struct {
	name string // the client's name, for people

	mu    sync.Mutex
	level string
	uris  map[string]bool
	until time.Time // until when its lists wait; zero before the first one
}

func (s *session) wantsLog(level string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return atLeast(level, s.level)
}

func (s *session) wantsURI(uri string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.uris[uri]
}

// Opened remembers a session.
func (s *Server) Opened(p *mcp.Peer) {
	s.mu.Lock()
	s.sessions[p] = &session{name: clientName(p), uris: map[string]bool{}}
	s.mu.Unlock()
	s.pipeline.Join(&tool.Session{ID: p.Session, Profile: client(p).Profile, Caller: &sessionCaller{server: s, peer: p}})
}

// Closed forgets a session and its subscriptions. It may be called twice.
func (s *Server) Closed(p *mcp.Peer) {
	s.mu.Lock()
	sess := s.sessions[p]
	delete(s.sessions, p)
	s.mu.Unlock()
	if sess == nil {
		return
	}
	s.pipeline.Leave(p.Session)
	ctx, cancel := context.WithTimeout(context.Background(), partingTime)
	defer cancel()
	sess.mu.Lock()
	uris, level := sess.uris, sess.level
	sess.uris = nil
	sess.mu.Unlock()
	for uri := range uris {
		if err := s.pipeline.Unsubscribe(ctx, client(p).Profile, uri); err != nil {
			s.log.Debug("subscription not ended", "uri", uri, "error", err)
		}
	}
	if level != "" {
		if err := s.pipeline.SetLevel(ctx, p, ""); err != nil {
			s.log.Debug("log level not taken back", "error", err)
		}
	}
}

// partingTime bounds the end of a session.
const partingTime = 2 * time.Second

func (s *Server) session(p *mcp.Peer) *session {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.sessions[p]
}

func (s *Server) subscribe(ctx context.Context, in *mcp.Incoming) (json.RawMessage, error) {
	uri, err := requiredParam(in, "uri", "a resource's URI")
	if err != nil {
		return nil, err
	}
	sess := s.session(in.Peer)
	if sess == nil {
		return nil, mcp.ErrSessionClosed
	}
	if sess.wantsURI(uri) {
		return json.RawMessage("{}"), nil
	}
	if err := s.pipeline.Subscribe(ctx, client(in.Peer).Profile, uri); err != nil {
		_, err = clientError(tool.KindRead, uri, err, false)
		return nil, err
	}
	if !sess.subscribe(uri) { // the session has ended, or a concurrent request has subscribed already
		if err := s.pipeline.Unsubscribe(ctx, client(in.Peer).Profile, uri); err != nil {
			return nil, err
		}
	}
	return json.RawMessage("{}"), nil
}

// subscribe adds a subscription and reports whether it is new.
func (s *session) subscribe(uri string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.uris == nil || s.uris[uri] {
		return false
	}
	s.uris[uri] = true
	return true
}

// unsubscribe removes a subscription and reports whether it existed.
func (s *session) unsubscribe(uri string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	subscribed := s.uris[uri]
	delete(s.uris, uri)
	return subscribed
}

func (s *Server) unsubscribe(ctx context.Context, in *mcp.Incoming) (json.RawMessage, error) {
	uri, err := requiredParam(in, "uri", "a resource's URI")
	if err != nil {
		return nil, err
	}
	sess := s.session(in.Peer)
	if sess == nil || !sess.unsubscribe(uri) {
		return json.RawMessage("{}"), nil
	}
	if err := s.pipeline.Unsubscribe(ctx, client(in.Peer).Profile, uri); err != nil {
		_, err = clientError(tool.KindRead, uri, err, false)
		return nil, err
	}
	return json.RawMessage("{}"), nil
}

func (s *Server) setLevel(ctx context.Context, in *mcp.Incoming) (json.RawMessage, error) {
	level, err := requiredParam(in, "level", "a log level such as info")
	if err != nil {
		return nil, err
	}
	sess := s.session(in.Peer)
	if sess == nil {
		return nil, mcp.ErrSessionClosed
	}
	if err := s.pipeline.SetLevel(ctx, in.Peer, level); err != nil {
		_, err = clientError(tool.KindRead, level, err, false)
		return nil, err
	}
	sess.mu.Lock()
	sess.level = level
	sess.mu.Unlock()
	return json.RawMessage("{}"), nil
}
