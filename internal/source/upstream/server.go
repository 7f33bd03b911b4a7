package upstream

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"

	"collie/internal/mcp"
	"collie/internal/process"
	"collie/internal/source/upstream/entry"
	"collie/internal/tool"
)

// Server is one MCP server as a source. It is safe for concurrent use.
type Server struct {
	set   *Set
	name  string
	entry entry.Entry
	wrong string // why the entry cannot be used; empty if it can
	log   *slog.Logger
	ring  process.Ring
	noise noiseCounter

	offer   atomic.Pointer[tool.Offer]
	headers atomic.Pointer[map[string]*mcp.ParamHeaders] // of the tools that have any
	watch   watchers
	lists   refresher
	wants   wants

	started chan struct{} // closed when the first start is over

	life   context.Context // ends with Close
	cancel context.CancelCauseFunc
	wg     sync.WaitGroup // goroutines that outlive the call that started them

	mu      sync.Mutex
	status  tool.ServerStatus
	primary *conn
	legacy  *conn // of a server whose primary connection is modern, for callers who are not
	mute    bool  // the server keeps no legacy sessions, so that it cannot ask back in one
	opening map[mcp.Era]*opening
	closed  bool
}

var (
	_ tool.Source  = (*Server)(nil)
	_ tool.Reader  = (*Server)(nil)
	_ tool.Logger  = (*Server)(nil)
	_ tool.Starter = (*Server)(nil)
)

// opening is a connection being made, which all who need it wait for.
type opening struct {
	done chan struct{}
	conn *conn
	err  error
}

func newServer(set *Set, spec Spec) *Server {
	e := spec.Entry
	s := &Server{
		set: set, name: e.Name, entry: e, wrong: spec.wrong(), log: set.log.With("server", e.Name),
		opening: map[mcp.Era]*opening{}, started: make(chan struct{}),
	}
	s.life, s.cancel = context.WithCancelCause(context.Background())
	s.lists.server = s
	s.offer.Store(&tool.Offer{})
	s.status = tool.ServerStatus{Name: e.Name, Transport: string(e.Transport), Command: shown(&e)}
	for _, what := range withoutEffect(&e) {
		s.log.Warn("this setting is read and has no effect yet", "setting", what)
	}
	switch {
	case s.wrong != "":
		s.enter(tool.StateConfigError, s.wrong)
	case e.Disabled:
		s.enter(tool.StateDisabled, "")
	default:
		s.enter(tool.StateIdle, "")
	}
	return s
}

// Name is the server's name in the configuration.
func (s *Server) Name() string { return s.name }

// Offer is what the server offered last.
func (s *Server) Offer() *tool.Offer { return s.offer.Load() }

// Started is closed when the server's first start is over; see [tool.Starter].
func (s *Server) Started() <-chan struct{} { return s.started }

// Watch tells f of changes; see [tool.Source].
func (s *Server) Watch(f func(tool.Change)) (stop func()) { return s.watch.add(f) }

// startFirst starts the server for the first time, with the gateway.
func (s *Server) startFirst() {
	defer close(s.started)
	if s.wrong != "" || s.entry.Disabled {
		return
	}
	if _, err := s.connection(s.life, 0); err != nil && s.life.Err() == nil {
		s.log.Warn("server did not start", "error", s.redact(err.Error()))
	}
}

// connection returns a live connection for a caller of the given era, opening one if there
// is none; era 0 takes what the server prefers. All who wait share one start.
func (s *Server) connection(ctx context.Context, era mcp.Era) (*conn, error) {
	if err := s.usable(); err != nil {
		return nil, err
	}
	s.mu.Lock()
	slot := &s.primary
	if era == mcp.Legacy && s.dual() {
		slot = &s.legacy
	} else {
		era = 0
	}
	if c := *slot; c != nil {
		if c.alive() {
			s.mu.Unlock()
			return c, nil
		}
		*slot = nil
	}
	if s.closed {
		s.mu.Unlock()
		return nil, &tool.Error{Op: "call", Kind: tool.Unavailable, Subject: s.name, Message: "the gateway is stopping"}
	}
	o := s.opening[era]
	if o == nil {
		o = &opening{done: make(chan struct{})}
		s.opening[era] = o
		s.wg.Add(1)
		go s.open(o, slot, era) // ends by the start timeout or the server's life
	}
	s.mu.Unlock()
	select {
	case <-o.done:
		return o.conn, o.err
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// dual reports whether the server's primary connection is modern while it speaks a legacy
// version as well. s.mu is held.
func (s *Server) dual() bool {
	c := s.primary
	if c == nil || c.client.Era != mcp.Modern || s.entry.Protocol != "auto" || s.mute {
		return false
	}
	for _, v := range c.client.Versions {
		if !mcp.IsModern(v) {
			return true
		}
	}
	return false
}

// usable refuses what no start could change.
func (s *Server) usable() error {
	switch {
	case s.wrong != "":
		return &tool.Error{
			Op: "call", Kind: tool.Unavailable, Subject: s.name, Message: "its configuration is wrong: " + s.wrong,
			Hint: "collie mcp validate shows the place",
		}
	case s.entry.Disabled:
		return &tool.Error{
			Op: "call", Kind: tool.Disabled, Subject: s.name, Message: "the server is switched off",
			Hint: `remove "disabled" from its entry`,
		}
	}
	return nil
}

// open makes a connection and puts it into its slot.
func (s *Server) open(o *opening, slot **conn, era mcp.Era) {
	defer s.wg.Done()
	if era == 0 {
		s.enter(tool.StateStarting, "")
	}
	c, err := s.connect(s.life, era)
	if err == nil && era == 0 {
		err = s.learn(c)
	}
	if err == nil && era == mcp.Legacy && !c.keepsSession() {
		s.fallBack(o, c)
		return
	}
	s.mu.Lock()
	delete(s.opening, era)
	if err == nil && s.closed {
		err = errors.New("the gateway is stopping")
	}
	if err == nil {
		*slot = c
	}
	s.mu.Unlock()
	if err != nil && c != nil {
		c.close(s.life)
	}
	if era == 0 {
		s.opened(c, err)
	}
	if err != nil {
		o.err = s.failure(err)
	} else {
		o.conn = c
		s.wants.apply(s.life, c, s.log)
		s.wg.Go(func() { s.mourn(c, era) })
	}
	close(o.done)
}

// fallBack gives a legacy connection up that could do no more than the primary one: a
// server over HTTP that keeps no session has no way to ask a caller back.
func (s *Server) fallBack(o *opening, c *conn) {
	s.mu.Lock()
	delete(s.opening, mcp.Legacy)
	s.mute = true
	s.mu.Unlock()
	c.close(s.life)
	o.conn, o.err = s.connection(s.life, 0)
	close(o.done)
}

// opened records how a start went.
func (s *Server) opened(c *conn, err error) {
	if err != nil {
		reason, hint := reasonOf(err)
		detail := err.Error()
		if hint != "" {
			detail += "; " + hint
		}
		s.move(tool.StateFailed, reason, detail)
		return
	}
	s.mu.Lock()
	s.status.Era, s.status.Version = c.client.Era.String(), c.client.Version
	s.status.Server = strings.TrimSpace(mcp.GetString(c.client.Info, "name") + " " + mcp.GetString(c.client.Info, "version"))
	s.mu.Unlock()
	s.enter(tool.StateReady, "")
}

// failure is the error a caller sees of a start that failed.
func (s *Server) failure(err error) error {
	reason, hint := reasonOf(err)
	if hint == "" {
		hint = "collie mcp logs " + s.name + " shows what it said"
	}
	return &tool.Error{
		Op: "start", Kind: tool.Unavailable, Subject: s.name,
		Message: s.redact(fmt.Sprintf("the server did not start (%s): %v", reason, err)), Hint: hint,
	}
}

// mourn waits for the end of a connection and says so.
func (s *Server) mourn(c *conn, era mcp.Era) {
	select {
	case <-c.client.Link.Done():
	case <-s.life.Done():
		return
	}
	if s.life.Err() != nil {
		return
	}
	detail := s.redact(c.epitaph())
	if era == 0 {
		s.move(tool.StateIdle, "crashed", detail+"; it starts again at its next call")
	}
	s.log.Warn("server ended", "detail", detail)
	c.close(s.life)
}

// close stops the server for good.
func (s *Server) close(ctx context.Context) {
	s.mu.Lock()
	s.closed = true
	conns := []*conn{s.primary, s.legacy}
	s.primary, s.legacy = nil, nil
	s.mu.Unlock()
	s.cancel(errors.New("the gateway is stopping"))
	var wg sync.WaitGroup
	for _, c := range conns {
		if c != nil {
			wg.Go(func() { c.close(ctx) })
		}
	}
	wg.Wait()
	s.lists.close()
	s.wg.Wait()
	s.enter(tool.StateStopped, "")
}

// enter is move without a reason of its own.
func (s *Server) enter(state tool.State, detail string) {
	reason := ""
	if state == tool.StateConfigError {
		reason = "config_invalid"
	}
	s.move(state, reason, detail)
}

// redact hides the secrets of the server's entry in a text.
func (s *Server) redact(text string) string {
	for _, secret := range s.entry.Secrets {
		if len(secret) >= 4 {
			text = strings.ReplaceAll(text, secret, "***")
		}
	}
	return text
}

// capabilities is what we announce to a legacy server, and to a modern one for ourselves:
// what may be forwarded to a caller (architecture.md 8, Wire).
func (s *Server) capabilities() json.RawMessage {
	var fields []mcp.Field
	if s.entry.Sampling != entry.Off {
		fields = append(fields, mcp.Field{Key: "sampling", Value: json.RawMessage(`{}`)})
	}
	if s.entry.Elicitation != entry.Off {
		fields = append(fields, mcp.Field{Key: "elicitation", Value: json.RawMessage(`{"form":{},"url":{}}`)})
	}
	fields = append(fields, mcp.Field{Key: "roots", Value: json.RawMessage(`{}`)})
	return mcp.Edit(nil, fields...)
}
