package upstream

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
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
	other   *conn   // in the other era, for callers of it; nil until one comes
	home    mcp.Era // of the primary connection, once it is known
	both    bool    // the server speaks both eras
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
	done    chan struct{}
	forCall bool // somebody will make a call; guarded by the server's mu
	conn    *conn
	err     error
}

func newServer(set *Set, spec Spec) *Server {
	e := spec.Entry
	s := &Server{
		set: set, name: e.Name, entry: e, wrong: spec.wrong(),
		opening: map[mcp.Era]*opening{}, started: make(chan struct{}),
	}
	s.log = slog.New(discreet{set.log.Handler(), s.redact}).With("server", e.Name)
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
	if _, err := s.connection(s.life); err != nil && s.life.Err() == nil {
		s.log.Warn("server did not start", "error", shorten(s.redact(err.Error())))
	}
}

// connection returns a live connection of the server's own preference.
func (s *Server) connection(ctx context.Context) (*conn, error) {
	return s.connectionFor(ctx, 0, false)
}

// connectionFor returns a live connection for a caller of an era, opening one if there is
// none; era 0 takes what the server prefers. All who wait share one start. forCall says that
// a call will be made over it.
func (s *Server) connectionFor(ctx context.Context, era mcp.Era, forCall bool) (*conn, error) {
	if err := s.usable(); err != nil {
		return nil, err
	}
	s.mu.Lock()
	slot, key := &s.primary, mcp.Era(0)
	if s.both && era != 0 && era != s.home {
		slot, key = &s.other, era
	}
	if c := *slot; c != nil {
		if c.alive() {
			c.used = c.used || forCall
			s.mu.Unlock()
			return c, nil
		}
		*slot = nil
	}
	if s.closed {
		s.mu.Unlock()
		return nil, &tool.Error{Op: "call", Kind: tool.Unavailable, Subject: s.name, Message: "the gateway is stopping"}
	}
	o := s.opening[key]
	if o == nil {
		o = &opening{done: make(chan struct{})}
		s.opening[key] = o
		s.wg.Add(1)
		if key == 0 {
			go s.open(o) // ends by the start timeout or the server's life
		} else {
			go s.openOther(o, key)
		}
	}
	o.forCall = o.forCall || forCall
	s.mu.Unlock()
	select {
	case <-o.done:
		return o.conn, o.err
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
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

// open makes the primary connection and learns what the server offers.
func (s *Server) open(o *opening) {
	defer s.wg.Done()
	s.enter(tool.StateStarting, "")
	s.mu.Lock()
	home := s.home
	s.mu.Unlock()
	c, err := s.connect(s.life, home)
	if err == nil {
		err = s.learn(c)
	}
	s.mu.Lock()
	delete(s.opening, 0)
	if err == nil && s.closed {
		err = errStopping
	}
	if err == nil {
		s.primary, c.used = c, o.forCall
		s.home = c.client.Era
		s.both = s.both || s.speaksBoth(c)
	} else {
		s.home, s.both = 0, false // what was known of its era may be why
	}
	s.mu.Unlock()
	s.opened(c, err)
	s.deliver(o, c, err)
}

var errStopping = errors.New("the gateway is stopping")

// speaksBoth reports whether a server that was found to be modern speaks a legacy version
// as well.
func (s *Server) speaksBoth(c *conn) bool {
	return c.client.Era == mcp.Modern && s.entry.Protocol == "auto" &&
		slices.ContainsFunc(c.client.Versions, func(v string) bool { return !mcp.IsModern(v) })
}

// openOther makes a connection in the era that the primary one is not of. A server that
// speaks both is spoken to in the caller's: it asks back, logs and reports progress as that
// era does, and nothing needs translating.
//
// Over stdio that is a second process. Where no call has been made to the first one yet, it
// has no state that anybody knows of, and the second takes its place.
func (s *Server) openOther(o *opening, era mcp.Era) {
	defer s.wg.Done()
	c, err := s.connect(s.life, era)
	var old *conn
	var alone bool // the primary connection has to do
	s.mu.Lock()
	delete(s.opening, era)
	switch {
	case err != nil && !s.closed && s.primary != nil && s.primary.alive():
		s.both, alone = false, true // it may be unable to run twice, because of a lock or a port
	case err != nil:
	case s.closed:
		err = errStopping
	case era == mcp.Legacy && !c.keepsSession():
		s.both, alone = false, true // it has no way to ask a caller back: the primary connection is as good
	case c.proc != nil && s.primary != nil && !s.primary.used:
		old, s.primary, s.home = s.primary, c, era
		c.used = o.forCall
	default:
		s.other, c.used = c, o.forCall
	}
	s.mu.Unlock()
	switch {
	case alone:
		if err != nil {
			s.log.Warn("no second connection, clients of both eras share the first", "era", era.String(), "error", err)
		}
		c.close(s.life)
		o.conn, o.err = s.connectionFor(s.life, 0, o.forCall)
		close(o.done)
		return
	case old != nil:
		s.opened(c, nil)
		s.wg.Go(func() { old.close(s.life) })
	}
	s.deliver(o, c, err)
}

// deliver hands a connection, or why there is none, to all who wait for it.
func (s *Server) deliver(o *opening, c *conn, err error) {
	defer close(o.done)
	if err != nil {
		if c != nil {
			c.close(s.life)
		}
		o.err = s.failure(err)
		return
	}
	o.conn = c
	s.wants.apply(s.life, c, s.log)
	s.wg.Go(func() { s.mourn(c) })
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
func (s *Server) mourn(c *conn) {
	select {
	case <-c.client.Link.Done():
	case <-s.life.Done():
		return
	}
	if s.life.Err() != nil {
		return
	}
	s.mu.Lock()
	known := s.primary == c || s.other == c
	s.mu.Unlock()
	if !known { // it was given up for another one, or a call has found it dead already
		c.close(s.life)
		return
	}
	detail := s.redact(c.epitaph())
	s.moveFrom(c, tool.StateIdle, "crashed", detail+"; it starts again at its next call")
	s.log.Warn("server ended", "detail", detail)
	c.close(s.life)
}

// close stops the server for good.
func (s *Server) close(ctx context.Context) {
	s.mu.Lock()
	s.closed = true
	conns := []*conn{s.primary, s.other}
	s.primary, s.other = nil, nil
	s.mu.Unlock()
	s.cancel(errStopping)
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

// shorten keeps a log line readable; the whole text is in the server's state.
func shorten(text string) string {
	const most = 300
	if runes := []rune(text); len(runes) > most {
		return string(runes[:most]) + "…"
	}
	return text
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
