// Package httpserver is the HTTP listener that all faces share. A request reaches a handler (an MCP endpoint,
// an API or pages) only after these checks, in this order:
//
//	path known?      404   before anything else, so that probes for OAuth documents end here
//	Host             403   against DNS rebinding
//	Origin           403   a missing one passes: only browsers send it
//	CORS preflight   204   for listed origins; needs no token
//	health pages     200   /healthz and /readyz; need no token
//	public paths           the pages; need no token
//	bearer token     401   429 for an address that keeps guessing
//	or a browser           in which a person has signed in
//	body size        413
//
// Every refusal is JSON: {"error":{"type":…,"message":…,"hint":…}}. Routes and sessions are up to the
// handlers. The server also reloads the TLS certificate, creates the token file, and stops without cutting
// off requests in flight.
//
// The entry point is [Open], then [Server.Serve]. Handlers call [KeyFrom] to learn who is calling.
package httpserver

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"strconv"
	"sync"
	"time"

	"collie/internal/face/httpserver/tokens"
	"collie/internal/tool"
)

// The defaults of [Options].
const (
	defaultAddr    = "127.0.0.1:7420"
	defaultMaxBody = 16 << 20 // bytes
	defaultGrace   = 5 * time.Second
)

// Options says where a [Server] listens and whom it lets in. The zero value is refused because it has no key.
// Open copies what it needs.
type Options struct {
	// Addr is HOST:PORT; empty means 127.0.0.1:7420; port 0 means any free port. Keys are required for an
	// address that other machines can reach.
	Addr string
	// Keys are the accepted tokens. At least one is required unless NoAuth is set.
	Keys []Key
	// NoAuth accepts all requests, as [anonymous]. It is allowed only on loopback. A request with one of Keys
	// still gets the identity of that key.
	NoAuth bool
	// AllowedHosts are accepted values of Host, besides localhost, 127.0.0.1, [::1] and the host in Addr:
	// "name" with the server's port or none, or "name:port". If Addr is not loopback, Host is checked only if
	// this list or PublicURL is not empty.
	AllowedHosts []string
	// PublicURL is the address at which a proxy in front is reached, https://NAME[:PORT]; its host is an accepted value of
	// Host, and Host is then checked everywhere. Empty means none.
	PublicURL string
	// TrustedProxies are the addresses and networks of proxies whose X-Forwarded-For (client) and X-Forwarded-Proto
	// (TLS or not) are believed. The TLS of a trusted proxy counts as TLS at PublicURL. From other senders these
	// headers only have the effect that a request does not count as local.
	TrustedProxies []string
	// AllowedOrigins are other sites whose pages may call the server; only they get CORS headers. An entry is
	// "name", for any port over http and https, or a whole origin such as "https://app.example". The origins
	// of localhost, 127.0.0.1, [::1], the host in Addr and the server itself are accepted too, without CORS
	// headers.
	AllowedOrigins []string
	// TLSCert and TLSKey are PEM files; set both or neither. They are reloaded when they change.
	TLSCert, TLSKey string
	// MaxBody is the maximum size of a request body in bytes; 0 means 16 MiB.
	MaxBody int64
	// Routes are the known paths; one that ends in "/" includes all below it. If empty, every path goes to
	// the handler. The health pages always exist.
	Routes []string
	// Public are paths among Routes that need no token; those that end in "/" include all below. Host and Origin
	// are checked all the same.
	Public []string
	// Framed are paths among Public whose files a page with the origin null may read too: a sandboxed frame has that
	// origin. All other requests of such a page are refused.
	Framed []string
	// Browser reports whether a request without a token comes from a browser in which a person has signed in;
	// signedOut ends with that. Such a request has the key [BrowserKey]. If Browser is nil, there are none.
	Browser func(*http.Request) (signedOut context.Context, ok bool)
	// Version is shown by /healthz.
	Version string
	// Ready decides the answer of /readyz; nil means always ready. detail is visible to anybody, so it must
	// hold no secrets; nil omits it. Ready is called concurrently.
	Ready func() (ok bool, detail any)
	// Over is the server that this one replaces. If both have the same address, this one takes over the socket once it
	// serves; Over then keeps its connections and gets no new ones.
	Over *Server
	// Grace is how long requests in flight may go on after Serve's context has ended; 0 means the default.
	Grace time.Duration
	// Logger receives refusals (debug) and problems for the operator (warn); nil discards. Tokens are never
	// logged.
	Logger *slog.Logger
}

// Server is a listener with its checks. It is safe for concurrent use. The owner calls [Server.Serve] once,
// or [Server.Close] if it does not.
type Server struct {
	checks   *checks
	listener *port
	at       boundAddr
	url      string
	grace    time.Duration
	local    bool // only programs on this machine can connect
	log      *slog.Logger
	cert     *certificate // nil without TLS
	conns    conns

	stopping <-chan struct{}
	stop     context.CancelFunc // closes stopping

	mu       sync.Mutex
	server   *http.Server // nil until Serve
	abort    context.CancelFunc
	stopped  chan struct{}      // closed when the stop is complete; nil before it began
	endGrace context.CancelFunc // ends the grace time of the stop
	stopErr  error              // set before stopped is closed
}

// Open checks opts and listens; requests wait until [Server.Serve]. ctx is only for Open. The error is a
// [*tool.Error]: Invalid for invalid or unsafe options, Unavailable if the address cannot be used. If it is
// in use, the error names the process that uses it, if the system tells.
func Open(ctx context.Context, opts Options) (*Server, error) {
	opts = opts.withDefaults()
	at, err := resolve(ctx, opts.Addr)
	if err != nil {
		return nil, err
	}
	if err := opts.checkSafe(at); err != nil {
		return nil, err
	}
	s := &Server{grace: opts.Grace, log: opts.Logger, at: at, local: at.loopback}
	if opts.TLSCert != "" {
		if s.cert, err = openCertificate(opts.TLSCert, opts.TLSKey, opts.Logger); err != nil {
			return nil, err
		}
	}
	if s.checks, err = newChecks(opts, at); err != nil {
		return nil, err
	}
	if opts.Over != nil && opts.Over.listensOn(at) {
		s.listener = newPort(opts.Over.listener.TCPListener, opts.Over.listener)
	} else if s.listener, err = listen(ctx, at, opts.Addr); err != nil {
		return nil, err
	}
	draining, stop := context.WithCancel(context.Background())
	s.stop, s.stopping = stop, draining.Done()
	s.checks.afterStop = func(f func()) func() bool { return context.AfterFunc(draining, f) }
	s.checks.hosts.port = strconv.Itoa(s.port())
	s.url = s.reachableURL(at)
	s.warnWithoutTLS(at)
	return s, nil
}

func (s *Server) warnWithoutTLS(at boundAddr) {
	if !at.loopback && s.cert == nil {
		s.log.Warn("listening beyond this machine without TLS: tokens and notes travel in clear text; "+
			"use --tls-cert and --tls-key, or listen on 127.0.0.1", "addr", s.listener.Addr().String())
	}
}

func (o Options) withDefaults() Options {
	if o.Addr == "" {
		o.Addr = defaultAddr
	}
	if o.MaxBody == 0 {
		o.MaxBody = defaultMaxBody
	}
	if o.Grace == 0 {
		o.Grace = defaultGrace
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	return o
}

// checkSafe refuses combinations of options that would let everybody in.
func (o Options) checkSafe(at boundAddr) error {
	switch {
	case o.NoAuth && !at.loopback:
		return invalid(o.Addr, "--no-auth is for loopback only, and other machines can reach this address",
			"leave out --no-auth, or listen on 127.0.0.1")
	case !o.NoAuth && len(o.Keys) == 0:
		return invalid(o.Addr, "there is no token to ask for", "set a token, or use --no-auth on loopback")
	case (o.TLSCert == "") != (o.TLSKey == ""):
		return invalid(o.Addr, "TLS needs a certificate and its key, and only one of them is given",
			"give both --tls-cert and --tls-key, or neither")
	case o.MaxBody < 0:
		return invalid(o.Addr, fmt.Sprintf("the limit of a request body is %d bytes", o.MaxBody), "use a positive number")
	}
	return nil
}

// listensOn reports whether the server's socket has an address.
func (s *Server) listensOn(at boundAddr) bool {
	return s.at.ip == at.ip && strconv.Itoa(s.port()) == at.port
}

// Everywhere reports whether the server listens on all addresses of the machine.
func (s *Server) Everywhere() bool { return s.at.ip.IsUnspecified() || !s.at.ip.IsValid() }

// Local reports whether only programs on this machine can connect.
func (s *Server) Local() bool { return s.local }

// SetTokens replaces the named tokens whose requests are accepted. Requests of tokens that are missing or
// changed in list end. It returns the holders of those tokens (see [Key.Holder]), so that the caller can end
// whatever else belongs to them. Calls must not overlap.
func (s *Server) SetTokens(list []tokens.Token) (ended []string) { return s.checks.setNamed(list) }

// Addr returns the address the server listens on, with the actual port.
func (s *Server) Addr() net.Addr { return s.listener.Addr() }

// URL returns the URL for programs on this machine, without a trailing slash. If the server listens on all
// addresses, it names a loopback one.
func (s *Server) URL() string { return s.url }

// Stopping returns a channel that is closed when the server begins to stop. A handler that answers a POST with an endless stream has
// to end then. For a GET of an event stream, the request's context ends instead.
func (s *Server) Stopping() <-chan struct{} { return s.stopping }

func (s *Server) port() int {
	if a, ok := s.listener.Addr().(*net.TCPAddr); ok {
		return a.Port
	}
	return 0
}

func (s *Server) reachableURL(at boundAddr) string {
	host := at.name
	switch {
	case at.ip.IsUnspecified() && at.ip.Is6() && host != "":
		host = netip.IPv6Loopback().String()
	case at.ip.IsUnspecified() || !at.ip.IsValid():
		host = "127.0.0.1"
	}
	scheme := "http://"
	if s.cert != nil {
		scheme = "https://"
	}
	return scheme + net.JoinHostPort(host, strconv.Itoa(s.port()))
}

func invalid(subject, message, hint string) *tool.Error {
	return &tool.Error{Op: "listen on", Kind: tool.Invalid, Subject: subject, Message: message, Hint: hint}
}
