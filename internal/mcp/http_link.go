package mcp

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptrace"
	"strconv"
	"sync"
	"sync/atomic"
	"time"
)

// This file connects to a server over Streamable HTTP. The other files http_link_*.go have the parts of an exchange.

// HTTPOptions are the optional parts of [DialHTTP] and [DialSSE].
type HTTPOptions struct {
	// Transport sends the requests; nil means a new one from [NewHTTPTransport], which the link closes.
	// Redirects pass through it one by one, so a Transport that adds secrets must check the host itself. For
	// a unix URL it has to be an *http.Transport, which is cloned.
	Transport http.RoundTripper
	// Header returns the user's header fields. It is called concurrently, once per request, and its result is
	// not changed. Fields that belong to the protocol are ignored. After a redirect from http to https none
	// are sent. Nil adds none.
	Header func() http.Header
	// MaxRequest bounds the body of a request, MaxAnswer the body of a JSON answer after decompression,
	// MaxEvent one event of a stream; all in bytes. 0 means [DefaultMaxFrame].
	MaxRequest, MaxAnswer, MaxEvent int
	// IdleTimeout ends a response stream that has been silent for so long, without even a comment, if the
	// request has a deadline. It also ends a silent listening stream, which is then opened again. 0 means 5
	// minutes, negative never.
	IdleTimeout time.Duration
	// Withheld is shared by all links to one server. The links set it when the server did not answer the
	// request for its listening stream in time, so that calls over later links do not wait for that; see
	// [httpLink.Listen]. Nil means that each link keeps its own.
	Withheld *atomic.Bool
	// Logger; nil discards.
	Logger *slog.Logger
}

func (o *HTTPOptions) withDefaults() HTTPOptions {
	var opts HTTPOptions
	if o != nil {
		opts = *o
	}
	for _, limit := range []*int{&opts.MaxRequest, &opts.MaxAnswer, &opts.MaxEvent} {
		if *limit <= 0 {
			*limit = DefaultMaxFrame
		}
	}
	opts.IdleTimeout = cmp.Or(opts.IdleTimeout, 5*time.Minute)
	if opts.Withheld == nil {
		opts.Withheld = new(atomic.Bool)
	}
	opts.Logger = cmp.Or(opts.Logger, slog.New(slog.DiscardHandler))
	return opts
}

// errSessionGone is in the chain of the [*LinkError] when the server answers 404 because it no longer knows
// the session (legacy, Session Management). The request was not executed; a new initialize opens a new
// session.
var errSessionGone = errors.New("the server no longer knows the session")

// httpLink is a [Link] over Streamable HTTP, for the legacy versions from 2025-03-26 on and for 2026-07-28:
// every message is a POST, answered with JSON or a stream of events.
//
// Before Agreed is called, the _meta of a request says which version it has; initialize has neither version
// nor session.
//
// A refusal (a status other than 2xx) is a [*LinkError] with Status, Body and Header. There is one exception,
// since the modern era sends JSON-RPC errors with status 400 and 404: if the body is a JSON-RPC error for
// this very request, Call returns a Response with Error and no error. Such a body has the request's id; or it
// has no id, a code reserved by JSON-RPC or MCP, and a 4xx status. For 401, 403, 407, 408, 429 and a lost
// session Call returns both the LinkError and Response.Error.
//
// After a 429 the link waits as Retry-After says and sends the request again, if the context's deadline
// allows; after a 503 too, for requests that only read.
type httpLink struct {
	wire           *httpWire
	handler        Handler
	opts           HTTPOptions
	lastID         atomic.Uint64
	dropped        atomic.Uint64
	state          atomic.Pointer[httpState]     // written while mu is held
	awaitingStream atomic.Pointer[listenAttempt] // set while calls have to wait for the listening stream; see Listen
	initializeTime atomic.Int64                  // how long the last initialize took, in ns
	ctx            context.Context               // ends with the link
	cancel         context.CancelCauseFunc
	done           chan struct{}
	closing        sync.Once
	wg             sync.WaitGroup
	notify         sync.Mutex // held while the handler gets a notification, so that they come one at a time

	mu          sync.Mutex
	closed      bool
	err         error
	serving     map[ID]context.CancelCauseFunc // requests of the server that are being answered
	unlisten    context.CancelFunc             // ends the listening stream
	firstListen *listenAttempt                 // the first request for the listening stream; nil before Listen
	warned      bool
}

// httpState is the version and session that requests carry. It is immutable.
type httpState struct {
	version string // "" before Agreed
	session string
	header  http.Header // of POST requests
}

func newHTTPState(version, session string) *httpState {
	h := http.Header{
		"Accept":       {"application/json, text/event-stream"},
		"Content-Type": {"application/json"},
	}
	if version != "" {
		h[headerVersion] = []string{version}
	}
	if session != "" {
		h[headerSession] = []string{session}
	}
	return &httpState{version: version, session: session, header: h}
}

// DialHTTP returns a link to the server at url: http, https, or unix:///socket#/route. It sends nothing
// before the first Call. h receives the requests and notifications of the server. If the scheme of url is not
// supported, the link is Done from the start.
func DialHTTP(url string, h Handler, opts *HTTPOptions) Link {
	l := &httpLink{
		handler: h, opts: opts.withDefaults(), done: make(chan struct{}),
		serving: map[ID]context.CancelCauseFunc{},
	}
	l.state.Store(newHTTPState("", ""))
	l.ctx, l.cancel = context.WithCancelCause(context.Background())
	var err error
	if l.wire, err = newHTTPWire(url, &l.opts); err != nil {
		l.refuseFurther(err)
	}
	return l
}

// Call sends req; see [Link] and [httpLink]. The method initialize opens a new session if the server's answer
// names one.
func (l *httpLink) Call(ctx context.Context, req *Request) (Response, error) {
	l.awaitQuestions(ctx, req.Method)
	id := l.lastID.Add(1)
	req.tellID(id)
	body := make([]byte, 0, len(req.Method)+len(req.Params)+80)
	body = appendRequest(body, ID(strconv.FormatUint(id, 10)), req.Method, req.Params)
	x, err := l.newRoundTrip(ctx, body)
	if err != nil {
		return Response{}, err
	}
	defer x.end()
	x.req, x.id = req, id
	if req.Method == "initialize" {
		defer func(begun time.Time) { l.initializeTime.Store(int64(time.Since(begun))) }(time.Now())
	}
	return x.call()
}

// Notify sends a notification and returns when the server has accepted it; see [Link].
func (l *httpLink) Notify(ctx context.Context, method string, params json.RawMessage) error {
	x, err := l.newRoundTrip(ctx, AppendNotification(nil, method, params))
	if err != nil {
		return err
	}
	defer x.end()
	x.req = &Request{Method: method, Params: params, NoCancel: true}
	return x.notify()
}

// notifyBehind is like Notify, but returns as soon as the notification has been written. Later answered is called
// once with the result of Notify, on a goroutine that ends with ctx or the link; it is not called if
// notifyBehind returns an error.
func (l *httpLink) notifyBehind(ctx context.Context, method string, params json.RawMessage, answered func(error)) error {
	x, err := l.newRoundTrip(ctx, AppendNotification(nil, method, params))
	if err != nil {
		return err
	}
	x.req = &Request{Method: method, Params: params, NoCancel: true}
	written := make(chan struct{})
	leave := sync.OnceFunc(func() { close(written) })
	x.ctx = httptrace.WithClientTrace(x.ctx, &httptrace.ClientTrace{WroteRequest: func(httptrace.WroteRequestInfo) { leave() }})
	begun := l.spawn(func() {
		defer leave() // another kind of transport does not report when the request was written
		defer x.end()
		answered(x.notify())
	})
	if !begun {
		x.end()
		return &LinkError{Err: l.Err()}
	}
	<-written
	return nil
}

// Agreed sets the version that requests name from now on; "" unsets it.
func (l *httpLink) Agreed(version string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.state.Store(newHTTPState(version, l.state.Load().session))
}

// HasSession reports whether requests name a session.
func (l *httpLink) HasSession() bool { return l.state.Load().session != "" }

func (l *httpLink) setSession(id string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.state.Store(newHTTPState(l.state.Load().version, id))
}

// Dropped counts responses to no waiting request.
func (l *httpLink) Dropped() uint64 { return l.dropped.Load() }

// Done returns a channel that is closed by Close, or from the start if the URL is invalid. HTTP has no connection whose end could
// end the link.
func (l *httpLink) Done() <-chan struct{} { return l.done }

// Err says why the link has ended; nil before that.
func (l *httpLink) Err() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.err
}

const closeTimeout = 2 * time.Second

// Close ends all requests, tells the server that the session is over (waiting at most 2 s) and waits for the
// link's goroutines. A [Handler] must not call it.
func (l *httpLink) Close() error {
	l.refuseFurther(errClosed)
	l.closing.Do(func() {
		if l.wire != nil {
			l.endSession(l.state.Load())
		}
		l.wg.Wait()
		if l.wire != nil {
			l.wire.close()
		}
	})
	return nil
}

// refuseFurther makes the link refuse further messages.
func (l *httpLink) refuseFurther(err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return
	}
	l.closed, l.err = true, err
	l.cancel(err)
	close(l.done)
}

// endSession sends the DELETE of the legacy era. The server may refuse it.
func (l *httpLink) endSession(st *httpState) {
	if st.session == "" || IsModern(st.version) {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), closeTimeout)
	defer cancel()
	resp, err := l.wire.sendFollowing(ctx, &httpSend{method: http.MethodDelete, header: maps.Clone(st.header)}) //nolint:bodyclose // discard closes it
	if err != nil {
		l.opts.Logger.Debug("session not ended", "error", err)
		return
	}
	discardBody(resp.Body)
}

// spawn runs f on a goroutine that Close waits for. It returns false, without running f, once the link is
// closed.
func (l *httpLink) spawn(f func()) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.closed {
		l.wg.Go(f)
	}
	return !l.closed
}

// newRoundTrip prepares the round trip of one message.
func (l *httpLink) newRoundTrip(ctx context.Context, body []byte) (*roundTrip, error) {
	if err := l.Err(); err != nil {
		return nil, &LinkError{Err: err}
	}
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	if len(body) > l.opts.MaxRequest {
		err := fmt.Errorf("request of %d bytes is longer than %d", len(body), l.opts.MaxRequest)
		return nil, &LinkError{TooLarge: true, Err: err}
	}
	x := &roundTrip{link: l, caller: ctx, body: body}
	x.ctx, x.cancel = context.WithCancelCause(l.ctx)
	if ctx.Done() != nil {
		x.stop = context.AfterFunc(ctx, func() { x.cancel(context.Cause(ctx)) })
	}
	return x, nil
}
