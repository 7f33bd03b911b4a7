package httpserver

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"runtime/debug"
	"slices"
	"strings"
	"sync/atomic"

	"collie/internal/tool"
)

// This file checks each request before a handler sees it, in the order of the package comment.

// checks is the [http.Handler] that makes the checks and passes a request on to next. The checks allocate nothing for
// a request that passes; passing on the key with the request costs two allocations.
type checks struct {
	routes      routes
	hosts       hosts
	origins     origins
	proxies     proxies
	keys        keyring
	named       atomic.Pointer[keyring] // the named tokens; replaced as a whole
	anonymous   *identity               // nil unless NoAuth is set
	public      routes                  // paths that need no token; none if empty
	framed      routes                  // those of public that a page with the origin null may read
	browser     func(*http.Request) (context.Context, bool)
	wrongTokens *wrongTokens
	health      health
	maxBody     int64
	afterStop   func(func()) func() bool // runs the function when the server stops
	log         *slog.Logger
	next        http.Handler
}

func newChecks(opts Options, at boundAddr) (*checks, error) {
	a := &checks{
		routes: slices.Clone(opts.Routes), wrongTokens: new(wrongTokens), maxBody: opts.MaxBody,
		public: slices.Clone(opts.Public), framed: slices.Clone(opts.Framed), browser: opts.Browser,
		health: health{version: opts.Version, ready: opts.Ready}, log: opts.Logger,
	}
	var errs [4]error
	a.keys, errs[0] = newKeyring(opts.Keys)
	a.hosts, errs[1] = newHosts(opts, at)
	a.origins, errs[2] = newOrigins(opts, at, a.hosts.checked)
	a.proxies, errs[3] = newProxies(opts)
	if bad, ok := errors.AsType[*badEntry](errors.Join(errs[:]...)); ok {
		return nil, &tool.Error{Op: "open", Kind: tool.Invalid, Subject: "http", Message: bad.Error(), Hint: bad.hint}
	}
	if opts.NoAuth {
		id := newIdentity(Key{Name: anonymous})
		a.anonymous = &id
	}
	return a, nil
}

// ServeHTTP makes the checks in the order that the package comment lists.
func (a *checks) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	defer a.recoverPanic(r)
	r = a.proxies.asSent(r)
	page := a.health.page(r.URL.Path)
	if page == nil && !a.routes.contains(r.URL.Path) {
		a.refuse(w, r, a.refusePath(r.URL.Path))
		return
	}
	if !a.hosts.allow(r.Host) {
		a.refuse(w, r, refuseHost(r.Host))
		return
	}
	if a.readsFramed(r) {
		a.next.ServeHTTP(w, r)
		return
	}
	if f, done := a.meetOrigin(w, r); f != nil {
		a.refuse(w, r, f)
		return
	} else if done {
		return
	}
	if page != nil {
		if r.Method != http.MethodGet && r.Method != http.MethodHead {
			w.Header().Set("Allow", "GET, HEAD")
			a.refuse(w, r, refuseMethod())
			return
		}
		page(w)
		return
	}
	if len(a.public) > 0 && a.public.contains(r.URL.Path) {
		a.next.ServeHTTP(w, r) // pages bound the few bodies that they take
		return
	}
	id, local, f := a.identify(r)
	if f != nil {
		a.refuse(w, r, f)
		return
	}
	if r.ContentLength > a.maxBody {
		a.refuse(w, r, refuseSize(a.maxBody))
		return
	}
	a.serveKey(w, r, id, id.key(local))
}

// readsFramed reports whether a page without an origin reads a file that such pages may read.
func (a *checks) readsFramed(r *http.Request) bool {
	values := r.Header["Origin"]
	return len(a.framed) > 0 && a.framed.contains(r.URL.Path) && r.Method == http.MethodGet && len(values) == 1 && values[0] == "null"
}

// meetOrigin checks the Origin and answers preflights; done reports that the request was answered.
func (a *checks) meetOrigin(w http.ResponseWriter, r *http.Request) (f *refusal, done bool) {
	values := r.Header["Origin"]
	if len(values) == 0 {
		return nil, false
	}
	w.Header().Add("Vary", "Origin")
	s := foreignOrigin
	if len(values) == 1 {
		s = a.origins.status(values[0], r.Host, r.TLS != nil)
	}
	ask := isPreflight(r)
	if s == foreignOrigin || ask && s != listedOrigin {
		return refuseOrigin(strings.Join(values, ", ")), false
	}
	if s == listedOrigin {
		shareWith(w.Header(), values[0])
	}
	if ask {
		answerPreflight(w, r)
	}
	return nil, ask
}

// serveKey passes the request on with its key. When a named token is revoked, its running requests end.
func (a *checks) serveKey(w http.ResponseWriter, r *http.Request, id *identity, key *Key) {
	ctx := context.WithValue(r.Context(), keyOf{}, key)
	if stream := isStream(r); stream || id.afterEnd != nil {
		var cancel context.CancelFunc
		ctx, cancel = context.WithCancel(ctx)
		defer cancel()
		if stream {
			defer a.afterStop(cancel)()
		}
		if id.afterEnd != nil {
			defer id.afterEnd(cancel)()
		}
	}
	r = r.WithContext(ctx)
	if r.ContentLength < 0 { // the server enforces a known length itself
		r.Body = http.MaxBytesReader(w, r.Body, a.maxBody)
	}
	a.next.ServeHTTP(w, r)
}

// isStream reports whether r asks for an endless stream of events, as MCP's GET does. Since such a request
// never ends by itself, stopping the server ends it at once.
func isStream(r *http.Request) bool {
	if r.Method != http.MethodGet {
		return false
	}
	for _, accept := range r.Header["Accept"] {
		if strings.Contains(accept, "text/event-stream") {
			return true
		}
	}
	return false
}

// refuse answers with f and logs it. It logs the path without the query, in case somebody has put a token
// there.
func (a *checks) refuse(w http.ResponseWriter, r *http.Request, f *refusal) {
	a.log.Debug("request refused", "status", f.Status, "type", f.Type, "remote", r.RemoteAddr,
		"method", r.Method, "path", shorten(r.URL.Path))
	f.write(w, r)
}

// recoverPanic handles a panic of a handler: it ends that connection and nothing else. A partly sent answer is cut
// off, so that clients do not take it for a complete one.
func (a *checks) recoverPanic(r *http.Request) {
	cause := recover()
	if cause == nil {
		return
	}
	if err, ok := cause.(error); !ok || !errors.Is(err, http.ErrAbortHandler) {
		a.log.Error("handler panicked", "cause", cause, "method", r.Method, "path", shorten(r.URL.Path),
			"stack", string(debug.Stack()))
	}
	panic(http.ErrAbortHandler)
}

// routes are the known paths; empty means that every path is known.
type routes []string

func (rs routes) contains(path string) bool {
	for _, route := range rs {
		if path == route || strings.HasSuffix(route, "/") && strings.HasPrefix(path, route) {
			return true
		}
	}
	return len(rs) == 0
}
