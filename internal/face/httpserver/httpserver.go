// Package httpserver is the HTTP listener that all faces share. Whatever stands behind it, an MCP
// endpoint, an API or pages, is reached only by requests that have passed these checks, in
// this order:
//
//	path known?      404   before anything else, so that probes for OAuth documents end here
//	Host             403   against DNS rebinding
//	Origin           403   a missing one passes: only browsers send it
//	CORS preflight   204   for listed origins; needs no token
//	health pages     200   /healthz and /readyz; need no token
//	bearer token     401   429 for an address that keeps guessing
//	body size        413
//
// Every refusal is JSON: {"error":{"type":…,"message":…,"hint":…}}. The server knows no
// routes and no sessions: those are the handler's. It also keeps the TLS certificate
// fresh, makes the token file, and stops without cutting off what is in flight.
//
// The entry point is [Open], then [Server.Serve]. Handlers learn who is calling from
// [KeyFrom].
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

// Options says where a [Server] listens and whom it lets in. The zero value is refused for
// want of a key. Open copies what it needs.
type Options struct {
	// Addr is HOST:PORT; empty means defaultAddr, port 0 any free port. An address that
	// other machines can reach needs Keys.
	Addr string
	// Keys are the tokens that let a request in. At least one is needed unless NoAuth is set.
	Keys []Key
	// NoAuth lets everybody in, as [anonymous]. It is refused off loopback. A request
	// that presents one of Keys is still known by that key.
	NoAuth bool
	// AllowedHosts are values of Host that are accepted besides localhost, 127.0.0.1,
	// [::1] and the host in Addr: "name" with our own port or none, or "name:port". Off
	// loopback the Host is checked only if this list is not empty.
	AllowedHosts []string
	// AllowedOrigins are browser origins that may call us from another site, and the only
	// ones that get CORS headers: "name" for any port over http and https, or a whole
	// origin such as "https://app.example". The origins of localhost, 127.0.0.1, [::1],
	// the host in Addr, and ourselves pass too, without CORS headers.
	AllowedOrigins []string
	// TLSCert and TLSKey are PEM files, both or neither. They are read again when they
	// change.
	TLSCert, TLSKey string
	// MaxBody bounds a request body in bytes; zero means defaultMaxBody.
	MaxBody int64
	// Routes are the paths that exist; one that ends in "/" stands for all below it. Empty
	// means that every path goes on to the handler. The health pages always exist.
	Routes []string
	// Version is shown by /healthz.
	Version string
	// Ready backs /readyz; nil means always ready. detail is shown to anybody who asks,
	// so it holds no secrets; nil is left out. It is called concurrently.
	Ready func() (ok bool, detail any)
	// Grace is how long Serve lets requests in flight finish once its context has ended;
	// zero means defaultGrace.
	Grace time.Duration
	// Logger receives refusals (debug) and what an operator must know (warn); nil
	// discards. No token is ever logged.
	Logger *slog.Logger
}

// Server is a listener with its checks. It is safe for concurrent use. Its owner calls
// [Server.Serve] once, and [Server.Close] if it never serves.
type Server struct {
	checks   *admission
	listener net.Listener
	url      string
	grace    time.Duration
	local    bool // nobody but programs of this machine can come in
	log      *slog.Logger
	cert     *certificate // nil without TLS
	conns    conns

	stopping <-chan struct{}
	stop     context.CancelFunc // closes stopping

	mu       sync.Mutex
	server   *http.Server // nil until Serve
	abort    context.CancelFunc
	stopped  chan struct{}      // closed when the one stop is over; nil before it began
	endGrace context.CancelFunc // ends the grace time of that stop
	stopErr  error              // written before stopped is closed
}

// Open checks opts and listens; requests wait until [Server.Serve]. ctx bounds Open alone.
// Errors are [*tool.Error]: Invalid for options that do not fit or are not safe,
// Unavailable if the address cannot be had. One in use names its owner where the system
// tells, and the owner is left alone.
func Open(ctx context.Context, opts Options) (*Server, error) {
	opts = opts.withDefaults()
	at, err := resolve(ctx, opts.Addr)
	if err != nil {
		return nil, err
	}
	if err := opts.safe(at); err != nil {
		return nil, err
	}
	d := &Server{grace: opts.Grace, log: opts.Logger, local: at.loopback}
	if opts.TLSCert != "" {
		if d.cert, err = openCertificate(opts.TLSCert, opts.TLSKey, opts.Logger); err != nil {
			return nil, err
		}
	}
	if d.checks, err = newAdmission(opts, at); err != nil {
		return nil, err
	}
	if d.listener, err = listen(ctx, at, opts.Addr); err != nil {
		return nil, err
	}
	draining, stop := context.WithCancel(context.Background())
	d.stop, d.stopping = stop, draining.Done()
	d.checks.afterStop = func(f func()) func() bool { return context.AfterFunc(draining, f) }
	d.checks.hosts.port = strconv.Itoa(d.port())
	d.url = d.reachableURL(at)
	d.warnIfBare(at)
	return d, nil
}

func (d *Server) warnIfBare(at bind) {
	if !at.loopback && d.cert == nil {
		d.log.Warn("listening beyond this machine without TLS: tokens and notes travel in clear text; "+
			"use --tls-cert and --tls-key, or listen on 127.0.0.1", "addr", d.listener.Addr().String())
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

// safe refuses combinations that would let everybody in.
func (o Options) safe(at bind) error {
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

// SetTokens has the named tokens of list let requests in too, in place of those of before. Requests of tokens that are not in list any
// more, or not as they were, end; their holders, as [Key.Holder] has it, are returned, for the caller to end what else is theirs. It
// is not to be called twice at once.
func (d *Server) SetTokens(list []tokens.Token) (ended []string) { return d.checks.setNamed(list) }

// Addr is the address the server listens on, with the port it was given.
func (d *Server) Addr() net.Addr { return d.listener.Addr() }

// URL is where a program on this machine reaches the server, without a slash at the end. A
// server that listens on all addresses is named by a loopback one.
func (d *Server) URL() string { return d.url }

// Stopping is closed when the server begins to stop. Handlers that stream without end in
// answer to a POST end then; a GET of an event stream is told by its own context.
func (d *Server) Stopping() <-chan struct{} { return d.stopping }

func (d *Server) port() int {
	if a, ok := d.listener.Addr().(*net.TCPAddr); ok {
		return a.Port
	}
	return 0
}

func (d *Server) reachableURL(at bind) string {
	host := at.name
	switch {
	case at.ip.IsUnspecified() && at.ip.Is6() && host != "":
		host = netip.IPv6Loopback().String()
	case at.ip.IsUnspecified() || !at.ip.IsValid():
		host = "127.0.0.1"
	}
	scheme := "http://"
	if d.cert != nil {
		scheme = "https://"
	}
	return scheme + net.JoinHostPort(host, strconv.Itoa(d.port()))
}

func invalid(subject, message, hint string) *tool.Error {
	return &tool.Error{Op: "listen on", Kind: tool.Invalid, Subject: subject, Message: message, Hint: hint}
}
