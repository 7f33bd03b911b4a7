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

// admission is the checks in front of a handler. They allocate nothing for a request that
// they let in; handing on the key and the request costs two allocations.
type admission struct {
	routes    routes
	hosts     hosts
	origins   origins
	keys      keyring
	named     atomic.Pointer[keyring] // of named tokens; replaced as a whole
	anonymous *identity               // nil unless NoAuth
	guesses   *guesses
	health    health
	maxBody   int64
	afterStop func(func()) func() bool // runs the function when the server stops
	log       *slog.Logger
	next      http.Handler
}

func newAdmission(opts Options, at bind) (*admission, error) {
	a := &admission{
		routes: slices.Clone(opts.Routes), guesses: new(guesses), maxBody: opts.MaxBody,
		health: health{version: opts.Version, ready: opts.Ready}, log: opts.Logger,
	}
	var errs [3]error
	a.keys, errs[0] = newKeyring(opts.Keys)
	a.hosts, errs[1] = newHosts(opts, at)
	a.origins, errs[2] = newOrigins(opts, at, a.hosts.checked)
	if bad, ok := errors.AsType[*badEntry](errors.Join(errs[:]...)); ok {
		return nil, &tool.Error{Op: "open", Kind: tool.Invalid, Subject: "http", Message: bad.Error(), Hint: bad.hint}
	}
	if opts.NoAuth {
		id := newIdentity(Key{Name: anonymous})
		a.anonymous = &id
	}
	return a, nil
}

// ServeHTTP is the order of checks that the package comment lists.
func (a *admission) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	defer a.contain(r)
	page := a.health.page(r.URL.Path)
	if page == nil && !a.routes.have(r.URL.Path) {
		a.refuse(w, r, a.refusePath(r.URL.Path))
		return
	}
	if !a.hosts.allow(r.Host) {
		a.refuse(w, r, refuseHost(r.Host))
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
	id, local, f := a.identify(r)
	if f != nil {
		a.refuse(w, r, f)
		return
	}
	if r.ContentLength > a.maxBody {
		a.refuse(w, r, refuseSize(a.maxBody))
		return
	}
	a.hand(w, r, id, id.key(local))
}

// meetOrigin checks the Origin and answers a preflight; done says that it did.
func (a *admission) meetOrigin(w http.ResponseWriter, r *http.Request) (f *refusal, done bool) {
	values := r.Header["Origin"]
	if len(values) == 0 {
		return nil, false
	}
	w.Header().Add("Vary", "Origin")
	s := foreign
	if len(values) == 1 {
		s = a.origins.judge(values[0], r.Host)
	}
	ask := isPreflight(r)
	if s == foreign || ask && s != listed {
		return refuseOrigin(strings.Join(values, ", ")), false
	}
	if s == listed {
		shareWith(w.Header(), values[0])
	}
	if ask {
		answerPreflight(w, r)
	}
	return nil, ask
}

// hand passes the request on with its key. What a named token has asked for ends with the token.
func (a *admission) hand(w http.ResponseWriter, r *http.Request, id *identity, key *Key) {
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
	if r.ContentLength < 0 { // a known length is held by the server itself
		r.Body = http.MaxBytesReader(w, r.Body, a.maxBody)
	}
	a.next.ServeHTTP(w, r)
}

// isStream reports whether r asks for events without end, as MCP's GET does. Such a
// request never finishes by itself, so a stop ends it at once.
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

// refuse answers and notes it. The path is noted without its query, which may hold what
// somebody took for a good place for a token.
func (a *admission) refuse(w http.ResponseWriter, r *http.Request, f *refusal) {
	a.log.Debug("request refused", "status", f.Status, "type", f.Type, "remote", r.RemoteAddr,
		"method", r.Method, "path", shorten(r.URL.Path))
	f.write(w, r)
}

// contain ends the connection of a handler that panicked, and nothing else. What was sent
// of the answer is cut, so that nobody takes it for a whole one.
func (a *admission) contain(r *http.Request) {
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

// routes are the paths that exist; none means all.
type routes []string

func (rs routes) have(path string) bool {
	for _, route := range rs {
		if path == route || strings.HasSuffix(route, "/") && strings.HasPrefix(path, route) {
			return true
		}
	}
	return len(rs) == 0
}
