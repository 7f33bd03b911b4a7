package mcptest

import (
	"context"
	"crypto/rand"
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
)

// This file serves over HTTP.

// Names of header fields in the spelling of net/http.
const (
	sessionHeader = "Mcp-Session-Id"
	versionHeader = "Mcp-Protocol-Version"
	methodHeader  = "Mcp-Method"
	nameHeader    = "Mcp-Name"
)

// Handler returns the server as an HTTP handler for the path /mcp, inside the caller's process. flags are
// those of [Main]; --http and those about the life of the process have no effect. Tools that would end the
// process never answer. The handler is safe for concurrent use.
func Handler(flags ...string) (http.Handler, error) {
	o, err := parseOptions(flags, io.Discard)
	if err != nil {
		return nil, err
	}
	o.http = "handler"
	return newServer(o, io.Discard)
}

// serveHTTP listens and serves until ctx ends.
func (s *server) serveHTTP(ctx context.Context) error {
	var config net.ListenConfig
	l, err := config.Listen(ctx, "tcp", s.opts.http)
	if err != nil {
		return err
	}
	s.logf("listening http://%s/mcp", l.Addr())
	server := &http.Server{
		Handler: s,
		// A bound that linters require; no client in tests is that slow.
		ReadHeaderTimeout: lifetime,
		BaseContext:       func(net.Listener) context.Context { return ctx },
	}
	stop := context.AfterFunc(ctx, func() { server.Close() })
	defer stop()
	if err := server.Serve(l); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// ServeHTTP implements the MCP endpoint (Streamable HTTP of 2025-03-26 and later).
func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch {
	case r.URL.Path != "/mcp":
		http.NotFound(w, r)
	case s.opts.neverAnswer:
		<-r.Context().Done()
	case !localOrigin(r.Header.Get("Origin")):
		http.Error(w, "foreign origin", http.StatusForbidden)
	case r.Method == http.MethodPost && s.opts.lag > 0 && !pause(r.Context(), s.opts.lag):
	case r.Method == http.MethodPost:
		s.servePost(w, r)
	case !s.opts.legacy():
		http.Error(w, "only POST", http.StatusMethodNotAllowed)
	case r.Method == http.MethodGet:
		s.serveGet(w, r)
	case r.Method == http.MethodDelete:
		s.serveDelete(w, r)
	default:
		http.Error(w, "only GET, POST and DELETE", http.StatusMethodNotAllowed)
	}
}

// localOrigin reports whether an Origin is local, as a protection against DNS rebinding.
func localOrigin(origin string) bool {
	if origin == "" {
		return true
	}
	u, err := url.Parse(origin)
	if err != nil {
		return false
	}
	ip := net.ParseIP(u.Hostname())
	return u.Hostname() == "localhost" || ip != nil && ip.IsLoopback()
}

// servePost handles one POST: a response, a notification or a request.
func (s *server) servePost(w http.ResponseWriter, r *http.Request) {
	if accept := strings.Join(r.Header["Accept"], ","); !strings.Contains(accept, "application/json") || !strings.Contains(accept, "text/event-stream") {
		http.Error(w, "Accept must list application/json and text/event-stream", http.StatusNotAcceptable)
		return
	}
	if !strings.HasPrefix(r.Header.Get("Content-Type"), "application/json") {
		http.Error(w, "Content-Type must be application/json", http.StatusUnsupportedMediaType)
		return
	}
	body, err := readBody(r)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	s.recordInput(body)
	m, ok := parseMessage(body)
	if !ok {
		refusePost(w, http.StatusBadRequest, codeParse, "Parse error")
		return
	}
	c := &call{message: m, header: r.Header}
	s.decideEra(c)
	if c.modern {
		c.peer = newPeer(nil)
	} else if c.peer = s.findOrStartSession(w, c); c.peer == nil {
		return
	}
	switch {
	case m.method == "":
		c.peer.deliver(m)
		w.WriteHeader(http.StatusAccepted)
	case m.id == "":
		s.handleNotification(c.peer, m)
		w.WriteHeader(http.StatusAccepted)
	default:
		s.serveExchange(w, r, c)
	}
}

func readBody(r *http.Request) ([]byte, error) {
	if r.ContentLength < 0 {
		return io.ReadAll(r.Body)
	}
	b := make([]byte, r.ContentLength)
	_, err := io.ReadFull(r.Body, b)
	return b, err
}

// findOrStartSession finds or starts the legacy session of a message. It returns nil if it refused the message.
func (s *server) findOrStartSession(w http.ResponseWriter, c *call) *peer {
	id := c.header.Get(sessionHeader)
	if c.method == "initialize" {
		p := newPeer(nil)
		p.session = rand.Text()
		s.addPeer(p)
		w.Header().Set(sessionHeader, p.session)
		return p
	}
	if id == "" {
		refusePost(w, http.StatusBadRequest, codeInvalidRequest, "Missing "+sessionHeader)
		return nil
	}
	p := s.findSession(id)
	if p == nil {
		refusePost(w, http.StatusNotFound, codeInvalidRequest, "Session not found")
		return nil
	}
	agreed, _ := p.agreed()
	if v := c.header.Get(versionHeader); v != "" && v != agreed {
		refusePost(w, http.StatusBadRequest, codeInvalidRequest, "The session speaks "+agreed+", not "+v)
		return nil
	}
	return p
}

func (s *server) findSession(id string) *peer {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.sessions[id]
}

// serveExchange answers one request.
func (s *server) serveExchange(w http.ResponseWriter, r *http.Request, c *call) {
	e := &exchange{w: w, modern: c.modern, stream: s.opts.sse, admitting: true}
	c.out = e
	defer e.finish()
	h := s.admit(c)
	if h == nil {
		return
	}
	e.endAdmission()
	ctx := r.Context()
	if s.mayBlock(c) {
		var done func()
		ctx, done = c.peer.track(ctx, c.id)
		defer done()
	}
	h(s, ctx, c)
	// In the modern era a client cancels a request by closing the connection.
	if c.modern && r.Context().Err() != nil && !e.hasReplied() {
		s.logf("cancelled %s", c.id)
	}
}

// serveGet opens the stream of a legacy session for messages outside of requests, until the client closes it.
func (s *server) serveGet(w http.ResponseWriter, r *http.Request) {
	p := s.findSession(r.Header.Get(sessionHeader))
	if p == nil {
		http.Error(w, "no such session", http.StatusNotFound)
		return
	}
	e := &exchange{w: w}
	defer e.finish()
	p.setDirect(e) // before the client can know that the stream is open, because nothing may be lost from then on
	defer p.dropDirect(e)
	e.open()
	<-r.Context().Done()
}

// serveDelete ends a legacy session.
func (s *server) serveDelete(w http.ResponseWriter, r *http.Request) {
	p := s.findSession(r.Header.Get(sessionHeader))
	if p == nil {
		http.Error(w, "no such session", http.StatusNotFound)
		return
	}
	s.removePeer(p)
	w.WriteHeader(http.StatusNoContent)
}
