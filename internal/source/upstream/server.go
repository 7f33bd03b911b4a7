package upstream

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"collie/internal/mcp"
	"collie/internal/source/upstream/entry"
	"collie/internal/source/upstream/listing"
	"collie/internal/source/upstream/serverlog"
	"collie/internal/source/upstream/session"
	"collie/internal/source/upstream/supervise"
	"collie/internal/tool"
)

// This file has one MCP server as a source: its parts, and what it says of itself.

// Server is one MCP server as a source. It joins the decisions of its parts, each of which has a lock of its own or
// none. Locks are taken in the order pool, supervisor, listing. It is safe for concurrent use.
type Server struct {
	set *Set
	identity
	log    *slog.Logger
	hidden atomic.Pointer[[]string] // secrets that a headersCommand has printed

	first          *firstStart
	life           lifetime
	supervisor     *supervise.Supervisor           // decides when it runs
	pool           *pool                           // its connections
	dialer         session.Dialer                  // opens connections
	listing        *listing.Listing                // the lists of what it offers
	wants          clientInterests                 // the notifications that clients want from it
	questions      pendingQuestions                // put to clients and not answered yet
	watchers       watchers                        // the listeners for its changes
	output         *serverlog.Log                  // its output beside the protocol
	refreshBackoff refreshBackoff                  // of background refreshes
	login          login                           // OAuth; unused for other servers
	sessions       atomic.Pointer[[]*tool.Session] // connected sessions that see this server
	replaced       atomic.Bool                     // takes no more calls; see successor
	muted          atomic.Bool                     // its states are not published, because a new server has its name
}

// identity tells which server the settings describe, and whether it may run.
type identity struct {
	name          string
	invalidReason string // why the entry is invalid; empty if it is valid
	offReason     string // why the server must not run, as a stable code; empty if it may
	hash          string // identifies the server; empty if the entry is invalid or offReason is set
	conf          atomic.Pointer[entry.Entry]
}

// lifetime ends the goroutines of a server with it.
type lifetime struct {
	ctx    context.Context //nolint:containedctx // ends when the server is closed
	cancel context.CancelCauseFunc
	wg     sync.WaitGroup // goroutines that outlive the call that started them
}

// firstStart tracks how far the server's start with the gateway has come.
type firstStart struct {
	started chan struct{} // closed when the start is over or not needed
	tools   sync.Once     // guards the close of started
	listed  chan struct{} // closed when all lists are known, or will not come
	all     sync.Once     // guards the close of listed
}

func newFirstStart() *firstStart {
	return &firstStart{started: make(chan struct{}), listed: make(chan struct{})}
}

// endToolsWait ends waits for tools, because they are known or will not come.
func (f *firstStart) endToolsWait() { f.tools.Do(func() { close(f.started) }) }

// endAllWaits ends all waits, because the lists are known or will not come.
func (f *firstStart) endAllWaits() {
	f.endToolsWait()
	f.all.Do(func() { close(f.listed) })
}

var (
	_ tool.Peer      = (*Server)(nil)
	_ tool.Refresher = (*Server)(nil)
)

func newServer(set *Set, spec Spec) *Server {
	e := spec.Entry
	s := &Server{
		set: set, first: newFirstStart(),
		pool: &pool{slots: slots{extra: map[slot]*conn{}, opening: map[slot]*opening{}, lastCaller: set.lastCaller}},
	}
	s.name, s.invalidReason, s.offReason = e.Name, spec.invalidReason(), spec.Off
	s.conf.Store(&e)
	s.pool.slots.settings = s.settings
	s.log = slog.New(redactingHandler{set.log.Handler(), s.redact}).With("server", e.Name)
	s.output = set.logFor(e.Name, s.log)
	s.login.open = s.openSignIn
	s.dialer = session.Dialer{
		Gateway: &set.gateway, Settings: s.settings, Log: s.log, ServerLog: s.output, Redact: s.redact, Hide: s.hide, SignIn: s.login.wrap,
	}
	s.life.ctx, s.life.cancel = context.WithCancelCause(context.Background()) //nolint:fatcontext // it is the first one
	s.questions.prefix = "ask-" + e.Name + "-"
	s.supervisor = supervise.New(supervise.Options{
		Policy: func() supervise.Policy { return supervise.PolicyOf(s.settings()) }, Do: s.execute, Changed: s.tellState,
	})
	switch {
	case spec.Off != "":
		s.setState(tool.StateDisabled, spec.Off, "")
	case s.invalidReason != "":
		s.setState(tool.StateConfigError, spec.reason(), s.invalidReason)
	case e.Disabled:
		s.hash = set.identity(&e) // what is stored about it stays unchanged
		s.setState(tool.StateDisabled, "", "")
	default:
		s.hash = set.identity(&e)
		s.setState(tool.StateIdle, "", "")
	}
	s.listing = listing.New(listing.Options{
		Name: s.name, Hash: s.hash, Settings: s.settings, Cache: set.cache(), Pins: set.opts.Pins, Home: set.opts.Home,
		Log: s.log, ServerLog: s.output, Fingerprint: s.fingerprint, Principal: s.principal,
		Eras: s.erasWith, Recalled: s.restoreEras, Starting: s.isStarting, Tell: s.watchers.notify, Life: s.life.ctx, Go: s.life.wg.Go,
	})
	return s
}

// settings returns the current entry.
func (s *Server) settings() *entry.Entry { return s.conf.Load() }

// Name returns the server's name in the configuration.
func (s *Server) Name() string { return s.name }

// Offer returns what the server offered last.
func (s *Server) Offer() *tool.Offer { return s.listing.Offer() }

// Started returns a channel that is closed when the server's first start is over, or when its tools are known without
// one.
func (s *Server) Started() <-chan struct{} { return s.first.started }

// Ready returns a channel that is closed once lists of this kind are known or will not come; for tools it is that of
// Started. See [tool.Refresher].
func (s *Server) Ready(kind tool.ListKind) <-chan struct{} {
	if kind == tool.ListTools {
		return s.first.started
	}
	return s.first.listed
}

// Listed refreshes the list of tools if it is out of date; see [tool.Refresher].
func (s *Server) Listed(kind tool.ListKind, _ func() bool) {
	if kind != tool.ListTools {
		return
	}
	now := time.Now()
	s.listing.Used(now)
	if !s.listing.Live() && s.set.forGateway.Load() && s.listing.Aged(now) {
		s.connectForLists(now)
	}
}

// Watch calls f for each change; see [tool.Source].
func (s *Server) Watch(f func(tool.Change)) (stop func()) { return s.watchers.add(f) }

// connection returns a live connection in the era that the server prefers.
func (s *Server) connection(ctx context.Context) (*conn, error) {
	return s.connectionFor(ctx, slot{}, false)
}

// connectionFor returns a live connection for a caller's era and session, and opens one if there is none. The zero
// slot means the primary connection. All callers that wait share one start. forCall says that a call will be made on
// it.
func (s *Server) connectionFor(ctx context.Context, want slot, forCall bool) (*conn, error) {
	if err := s.checkUsable(); err != nil {
		return nil, err
	}
	for {
		c, o, err := s.acquire(want, forCall)
		if o == nil {
			return c, err
		}
		select {
		case <-o.done:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
		if o.err != nil || s.claimForCaller(o, want, forCall) {
			return o.conn, o.err
		}
	}
}

// acquire returns the live connection for a caller, or the start that the caller has to wait for.
func (s *Server) acquire(want slot, forCall bool) (*conn, *opening, error) {
	p := s.pool.lock()
	defer s.pool.unlock()
	if p.closed { // remaining connections take no more calls
		return nil, nil, &tool.Error{Op: "call", Kind: tool.Unavailable, Subject: s.name, Message: "the gateway is stopping"}
	}
	if forCall && want.era != 0 {
		p.eras.caller = want.era
		s.set.recordEra(want.era)
	}
	key := p.connKey(want)
	if c := p.at(key); c != nil {
		if c.Alive() {
			c.used = c.used || forCall
			return c, nil, nil
		}
		s.discard(p, key, c)
	}
	if c, o := p.connForLists(want, forCall, s.listing.Feed()); c != nil || o != nil {
		return c, o, nil
	}
	if c := p.assignPrimary(key, want.era); c != nil {
		s.reopenPrimary(p)
		c.used = c.used || forCall
		return c, nil, nil
	}
	if key.session == "" && key.era != 0 && p.primary == nil && (p.eras.spoken == "" || p.opening[slot{}] == nil) {
		key = slot{} // the primary connection is opened in the first caller's era, and shows which eras the server speaks
	}
	o := p.opening[key]
	if o == nil {
		if o = p.assignOpening(key, want.era); o != nil {
			s.reopenPrimary(p)
		}
	}
	if o == nil {
		if err := s.startRefusal(); err != nil {
			return nil, nil, err
		}
		o = s.startOpening(p, key, want.era)
	}
	o.forCall = o.forCall || forCall && p.servesEra(o.first, want.era)
	return nil, o, nil
}

// isConnected reports whether there is a connection for a caller already.
func (s *Server) isConnected(want slot) bool {
	p := s.pool.lock()
	defer s.pool.unlock()
	c := p.at(p.connKey(want))
	return c != nil && c.Alive()
}

// discard takes a dead connection out of its slot before watchEnd has noticed its end, so that the caller that found
// it dead need not wait.
func (s *Server) discard(p *slots, key slot, c *conn) {
	s.remove(p, key)
	if key == (slot{}) {
		s.supervisor.Tell((*supervise.Machine).Lost)
	}
	c.closeLost(p)
}

// remove empties a slot whose connection is no longer in use. If the lists came from it, they come from another
// connection from now on, if there is one.
func (s *Server) remove(p *slots, key slot) {
	gone := p.at(key).feed
	p.put(key, nil)
	if s.listing.Feed() != gone {
		return
	}
	s.listing.Drop(gone)
	for _, c := range p.conns() {
		if c.Alive() {
			s.listing.Adopt(c.feed)
			s.listing.MarkLive(c.feed)
			s.life.wg.Go(func() { s.listing.LearnAnew(s.life.ctx, c.feed) })
			return
		}
	}
}

// startOpening starts to open the connection of a slot. era is the caller's, 0 without a caller.
func (s *Server) startOpening(p *slots, key slot, era mcp.Era) *opening {
	o := &opening{done: make(chan struct{}), key: key}
	if o.first, o.only = p.firstEra(era); o.only && key == (slot{}) {
		p.eras.home = o.first // later callers of this era wait for this opening
	}
	o.ctx, o.cancel = context.WithCancelCause(s.life.ctx)
	p.opening[key] = o
	if key != (slot{}) {
		s.life.wg.Go(func() { s.openExtra(o, key) })
		return o
	}
	detail := ""
	if conf := s.settings(); conf.Runner {
		detail = "a first start may download " + first(conf.Package, "its package")
	}
	s.supervisor.Tell(func(m *supervise.Machine, now time.Time) { m.Starting(now, s.redact(detail)) })
	s.life.wg.Go(func() { s.open(o) }) // ends by the start timeout or with the server
	return o
}

// checkUsable returns an error if the server cannot run at all: its entry is invalid, or it is switched off.
func (s *Server) checkUsable() error {
	conf := s.settings()
	switch {
	case s.offReason == "untrusted":
		return &tool.Error{
			Op: "call", Kind: tool.Disabled, Subject: s.name, Message: "the server comes with a project that nobody has trusted",
			Hint: "collie mcp trust shows what it would start and asks",
		}
	case s.offReason != "":
		return &tool.Error{
			Op: "call", Kind: tool.Disabled, Subject: s.name, Message: "all MCP servers are switched off",
			Hint: "collie config set mcp.enabled true switches them on",
		}
	case conf.Disabled:
		return &tool.Error{
			Op: "call", Kind: tool.Disabled, Subject: s.name, Message: "the server is switched off",
			Hint: "collie mcp enable " + s.name + " switches it on",
		}
	case s.invalidReason != "":
		return &tool.Error{
			Op: "call", Kind: tool.Unavailable, Subject: s.name, Message: "its configuration is wrong: " + s.invalidReason,
			Hint: "collie mcp validate shows the place",
		}
	}
	return nil
}

var errStopping = errors.New("the gateway is stopping")

// close stops the server for good. Calls in flight may go on for drain, then they are canceled.
func (s *Server) close(ctx context.Context, drain time.Duration) {
	s.replaced.Store(true)
	p := s.pool.lock()
	p.closed = true
	conns := p.conns()
	s.pool.unlock()
	s.awaitLists(ctx)
	drainAll(ctx, conns, drain)
	p = s.pool.lock()
	p.primary, p.extra = nil, map[slot]*conn{}
	s.listing.Drop(nil)
	s.pool.unlock()
	s.supervisor.Finish()
	s.life.cancel(errStopping)
	var wg sync.WaitGroup
	for _, c := range conns {
		wg.Go(func() { c.Close(ctx) })
	}
	wg.Wait()
	s.listing.Close()
	s.life.wg.Wait()
	s.login.close(s.log)
	s.output.Close()
	s.setState(tool.StateStopped, "", "")
	s.first.endAllWaits()
}

// listsAtEnd bounds the wait for lists already requested from a server that is being stopped. Lists are stored all
// together or not at all.
const listsAtEnd = 500 * time.Millisecond

// awaitLists waits for the lists that a live server is sending. Lists that do not come in time are fetched at another
// start.
func (s *Server) awaitLists(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, listsAtEnd)
	defer cancel()
	if f := s.listing.Feed(); f != nil {
		_ = f.AwaitAlive(ctx)
	}
}

// capabilities returns the client capabilities that we announce: those whose requests can be forwarded to a caller or
// answered from the settings.
func (s *Server) capabilities() json.RawMessage {
	var fields []mcp.Field
	conf := s.settings()
	if conf.Sampling != entry.Off {
		fields = append(fields, mcp.Field{Key: "sampling", Value: json.RawMessage(`{}`)})
	}
	if conf.Elicitation != entry.Off {
		fields = append(fields, mcp.Field{Key: "elicitation", Value: json.RawMessage(`{"form":{},"url":{}}`)})
	}
	fields = append(fields, mcp.Field{Key: "roots", Value: json.RawMessage(`{"listChanged":true}`)})
	return mcp.Edit(nil, fields...)
}

// watchers receive a server's changes, one at a time.
type watchers struct {
	mu   sync.Mutex
	next int
	list map[int]func(tool.Change)

	deliver sync.Mutex
}

func (w *watchers) add(f func(tool.Change)) (stop func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.list == nil {
		w.list = map[int]func(tool.Change){}
	}
	w.next++
	id := w.next
	w.list[id] = f
	return func() {
		w.mu.Lock()
		delete(w.list, id)
		w.mu.Unlock()
		w.deliver.Lock()
		w.deliver.Unlock() //nolint:staticcheck // a call that is under way ends first
	}
}

func (w *watchers) notify(ch tool.Change) {
	w.deliver.Lock()
	defer w.deliver.Unlock()
	w.mu.Lock()
	list := make([]func(tool.Change), 0, len(w.list))
	for _, f := range w.list {
		list = append(list, f)
	}
	w.mu.Unlock()
	for _, f := range list {
		f(ch)
	}
}
