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

// HTTPOptions are the optional parts of [DialHTTP] and [DialSSE].
type HTTPOptions struct {
	// Transport sends the requests; nil means one of the link's own, as
	// [NewHTTPTransport] makes it. Redirects pass through it one by one: a Transport that
	// adds secrets must look at the host itself. For a unix URL it has to be an
	// *http.Transport, which is cloned. The link closes only what is its own.
	Transport http.RoundTripper
	// Header returns the user's header fields. It is called once a request, concurrently,
	// and its result is not changed. Fields of the protocol are left out, and after a
	// redirect from http to https all are. Nil adds none.
	Header func() http.Header
	// MaxRequest, MaxAnswer and MaxEvent bound, in bytes, the body of a request, that of a
	// JSON answer after expansion, and one event of a stream. 0 means [DefaultMaxFrame].
	MaxRequest, MaxAnswer, MaxEvent int
	// IdleTimeout ends a response stream on which nothing came for so long, not even a
	// comment, where the request has a deadline of its own; and a listening stream, which
	// is then opened anew. 0 means 5 minutes, less than 0 never.
	IdleTimeout time.Duration
	// Withheld keeps, for all links to one server, that it did not answer the request for its listening
	// stream in time, so that calls over the next ones do not wait for that; see [httpLink.Listen].
	// The links read and write it. Nil means that each keeps it for itself.
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

// errSessionGone is in the chain of the [*LinkError] of a request that the server refused
// with 404 because it no longer knows the session (legacy, Session Management). The request
// was not carried out; a new initialize opens a new session.
var errSessionGone = errors.New("the server no longer knows the session")

// httpLink is a [Link] over Streamable HTTP, as the legacy eras from 2025-03-26 on and
// 2026-07-28 have it: every message is a POST of its own, answered with JSON or with a
// stream of events.
//
// Before Agreed a request says by its own _meta which version it is; initialize belongs to
// no version and no session.
//
// A refusal (a status other than 2xx) is a [*LinkError] with Status, Body and Header, with
// one exception: a JSON-RPC error in the body that answers this very request is a Response
// with Error and no error, as the modern era sends them with 400 and 404. That is an error
// with the request's id, or one without id, a code that JSON-RPC or MCP reserves and a
// status 4xx. For 401, 403, 407, 408, 429 and a lost session the LinkError stays, and
// Response.Error is set beside it.
//
// A 429 is waited out as its Retry-After says and sent again, where the context's deadline
// leaves time for it; a 503 too, for requests that only read.
type httpLink struct {
	wire    *httpWire
	handler Handler
	opts    HTTPOptions
	lastID  atomic.Uint64
	dropped atomic.Uint64
	state   atomic.Pointer[httpState] // written with mu held
	unheard atomic.Pointer[hearing]   // what became of the listening stream is not known to calls yet
	greeted atomic.Int64              // how long the last initialize took, in ns
	ctx     context.Context           // ends with the link
	cancel  context.CancelCauseFunc
	done    chan struct{}
	closing sync.Once
	wg      sync.WaitGroup
	notify  sync.Mutex // notifications reach the handler one by one

	mu       sync.Mutex
	closed   bool
	err      error
	serving  map[ID]context.CancelCauseFunc // requests of the server being answered
	unlisten context.CancelFunc             // ends the listening stream
	hearing  *hearing                       // the first request for it; nil before Listen
	warned   bool
}

// httpState is what requests carry. It does not change.
type httpState struct {
	version string // "" before Agreed
	session string
	header  http.Header // of a POST
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

// DialHTTP returns a link to the server at url: http, https, or unix:///socket#/route. It
// sends nothing before the first Call. h receives what the server sends of its own accord.
// A url of another kind gives a link that is Done from the start.
func DialHTTP(url string, h Handler, opts *HTTPOptions) Link {
	l := &httpLink{
		handler: h, opts: opts.withDefaults(), done: make(chan struct{}),
		serving: map[ID]context.CancelCauseFunc{},
	}
	l.state.Store(newHTTPState("", ""))
	l.ctx, l.cancel = context.WithCancelCause(context.Background())
	var err error
	if l.wire, err = newHTTPWire(url, &l.opts); err != nil {
		l.end(err)
	}
	return l
}

// Call sends req; see [Link] and [httpLink]. Method initialize opens a new session, when
// the server answers with one.
func (l *httpLink) Call(ctx context.Context, req *Request) (Response, error) {
	l.awaitQuestions(ctx, req.Method)
	id := l.lastID.Add(1)
	req.tellID(id)
	body := make([]byte, 0, len(req.Method)+len(req.Params)+80)
	body = appendRequest(body, ID(strconv.FormatUint(id, 10)), req.Method, req.Params)
	x, err := l.begin(ctx, body)
	if err != nil {
		return Response{}, err
	}
	defer x.end()
	x.req, x.id = req, id
	if req.Method == "initialize" {
		defer func(begun time.Time) { l.greeted.Store(int64(time.Since(begun))) }(time.Now())
	}
	return x.call()
}

// Notify sends a notification; see [Link]. It returns when the server has accepted it.
func (l *httpLink) Notify(ctx context.Context, method string, params json.RawMessage) error {
	x, err := l.begin(ctx, AppendNotification(nil, method, params))
	if err != nil {
		return err
	}
	defer x.end()
	x.req = &Request{Method: method, Params: params, NoCancel: true}
	return x.tell()
}

// notifyBehind is Notify that returns when the notification has been written. answered is called
// once, on a goroutine that ends with ctx or the link, with what Notify would have returned; not
// where notifyBehind returns an error.
func (l *httpLink) notifyBehind(ctx context.Context, method string, params json.RawMessage, answered func(error)) error {
	x, err := l.begin(ctx, AppendNotification(nil, method, params))
	if err != nil {
		return err
	}
	x.req = &Request{Method: method, Params: params, NoCancel: true}
	written := make(chan struct{})
	leave := sync.OnceFunc(func() { close(written) })
	x.ctx = httptrace.WithClientTrace(x.ctx, &httptrace.ClientTrace{WroteRequest: func(httptrace.WroteRequestInfo) { leave() }})
	begun := l.spawn(func() {
		defer leave() // a transport of another kind does not say when
		defer x.end()
		answered(x.tell())
	})
	if !begun {
		x.end()
		return &LinkError{Err: l.Err()}
	}
	<-written
	return nil
}

// Agreed sets the version that requests name from now on; "" takes it back.
func (l *httpLink) Agreed(version string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.state.Store(newHTTPState(version, l.state.Load().session))
}

// HasSession reports whether requests name a session of the server's.
func (l *httpLink) HasSession() bool { return l.state.Load().session != "" }

// ForgetSession makes requests name no session. It is not needed before a new initialize,
// which never names one and puts its own in the place of the old.
func (l *httpLink) ForgetSession() { l.setSession("") }

func (l *httpLink) setSession(id string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.state.Store(newHTTPState(l.state.Load().version, id))
}

// Dropped counts messages that nobody waited for.
func (l *httpLink) Dropped() uint64 { return l.dropped.Load() }

// Done is closed by Close, or from the start where the URL was wrong: HTTP has no
// connection that could end.
func (l *httpLink) Done() <-chan struct{} { return l.done }

// Err says why the link has ended; nil before that.
func (l *httpLink) Err() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.err
}

const closeTimeout = 2 * time.Second

// Close ends what is in flight, tells the server that its session is over (for 2 s at
// most) and waits for the link's goroutines. A [Handler] must not call it.
func (l *httpLink) Close() error {
	l.end(errClosed)
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

// end makes the link refuse what comes.
func (l *httpLink) end(err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return
	}
	l.closed, l.err = true, err
	l.cancel(err)
	close(l.done)
}

// endSession sends the DELETE of the legacy era. A server may refuse it.
func (l *httpLink) endSession(st *httpState) {
	if st.session == "" || IsModern(st.version) {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), closeTimeout)
	defer cancel()
	resp, err := l.wire.do(ctx, &httpSend{method: http.MethodDelete, header: maps.Clone(st.header)}) //nolint:bodyclose // discard closes it
	if err != nil {
		l.opts.Logger.Debug("session not ended", "error", err)
		return
	}
	discard(resp.Body)
}

// spawn runs f on a goroutine that Close waits for, and reports whether it does.
func (l *httpLink) spawn(f func()) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.closed {
		l.wg.Go(f)
	}
	return !l.closed
}

// begin prepares the exchange of one message.
func (l *httpLink) begin(ctx context.Context, body []byte) (*roundTrip, error) {
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
