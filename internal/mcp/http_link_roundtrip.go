package mcp

import (
	"context"
	"maps"
	"net/http"
	"strconv"
	"strings"
	"sync/atomic"
)

// roundTrip is one message on its way to the server and what comes back for it.
type roundTrip struct {
	link   *httpLink
	caller context.Context
	req    *Request
	id     uint64
	body   []byte
	sent   atomic.Bool
	state  *httpState // under which it was sent last

	// ctx is that of the HTTP requests. It is not a child of the caller's, which ends as
	// soon as Call returns: the rest of an event stream is read after that, so that its
	// connection can serve again. It ends with the caller's until detach.
	ctx      context.Context
	cancel   context.CancelCauseFunc
	stop     func() bool
	detached bool
}

// end releases the exchange, unless it was detached.
func (x *roundTrip) end() {
	if x.stop != nil {
		x.stop()
	}
	if !x.detached {
		x.cancel(nil)
	}
}

// failed is the error for an exchange that err ended.
func (x *roundTrip) failed(err error) error {
	if x.caller.Err() != nil {
		x.sendCancel()
		return context.Cause(x.caller)
	}
	if x.ctx.Err() != nil {
		err = context.Cause(x.ctx)
	}
	return &LinkError{Sent: x.sent.Load(), Err: err}
}

// call sends a request, again where the server asks for it, and returns its response.
func (x *roundTrip) call() (Response, error) {
	for try := 1; ; try++ {
		resp, err := x.post()
		if err != nil {
			return Response{}, x.failed(err)
		}
		if resp.StatusCode/100 == 2 {
			return x.answer(resp)
		}
		r, refusal := x.refused(resp)
		if refusal == nil || try == maxTries {
			return r, asError(refusal)
		}
		again, err := x.again(refusal)
		if err != nil {
			return Response{}, x.failed(err)
		}
		if !again {
			return r, refusal
		}
	}
}

// asError keeps a nil *LinkError from becoming an error that is not nil.
func asError(e *LinkError) error {
	if e == nil {
		return nil
	}
	return e
}

// tell sends a notification.
func (x *roundTrip) tell() error {
	resp, err := x.post()
	if err != nil {
		return x.failed(err)
	}
	if resp.StatusCode/100 != 2 {
		_, refusal := x.refused(resp)
		return asError(refusal)
	}
	if mediaType(resp) == mediaEvents {
		_ = resp.Body.Close() // it might never end
		return nil
	}
	discard(resp.Body)
	return nil
}

func (x *roundTrip) post() (*http.Response, error) {
	x.sent.Store(false)
	x.state = x.link.state.Load()
	if x.req.Method == "initialize" {
		x.state = newHTTPState("", "")
	}
	return x.link.wire.do(x.ctx, &httpSend{
		method: http.MethodPost, header: postHeader(x.state, x.req), body: x.body, sent: &x.sent,
	})
}

// postHeader returns the header fields for req; the wire may not change them.
func postHeader(st *httpState, req *Request) http.Header {
	version := st.version
	if version == "" && req.Method != "initialize" {
		version = GetString(req.Params, "_meta", MetaVersion)
	}
	h := maps.Clone(st.header)
	if version == "" {
		if req.Method == "initialize" { // the server may turn out to be modern, where every POST has it
			h[headerMethod] = []string{req.Method}
		}
		return h
	}
	h[headerVersion] = []string{version}
	if !IsModern(version) {
		return h
	}
	delete(h, headerSession)
	h[headerMethod] = []string{req.Method}
	if req.Name != "" {
		h[headerName] = []string{EncodeHeaderValue(req.Name)}
	}
	for i := 0; i+1 < len(req.Header); i += 2 {
		h[http.CanonicalHeaderKey(req.Header[i])] = []string{req.Header[i+1]}
	}
	return h
}

// sendCancel tells a legacy server that nobody waits any more; a modern one sees the
// stream close.
func (x *roundTrip) sendCancel() {
	if x.req.NoCancel || !x.sent.Load() || IsModern(x.version()) {
		return
	}
	params := cancelParams(strconv.AppendUint(nil, x.id, 10), context.Cause(x.caller))
	l := x.link
	l.spawn(func() {
		ctx, cancel := context.WithTimeout(context.Background(), closeTimeout)
		defer cancel()
		if err := l.postMessage(ctx, AppendNotification(nil, "notifications/cancelled", params)); err != nil {
			l.opts.Logger.Debug("cancel not sent", "error", err)
		}
	})
}

// version is the one that the request was sent with.
func (x *roundTrip) version() string {
	if x.state != nil && x.state.version != "" {
		return x.state.version
	}
	return GetString(x.req.Params, "_meta", MetaVersion)
}

// postMessage sends a message of our own that is not a request, in the legacy way.
func (l *httpLink) postMessage(ctx context.Context, raw []byte) error {
	resp, err := l.wire.do(ctx, &httpSend{
		method: http.MethodPost, header: maps.Clone(l.state.Load().header), body: raw,
	})
	if err != nil {
		return err
	}
	if mediaType(resp) == mediaEvents {
		_ = resp.Body.Close() // it might never end
	} else {
		discard(resp.Body)
	}
	if resp.StatusCode/100 != 2 {
		return &LinkError{Sent: true, Status: resp.StatusCode}
	}
	return nil
}

// The media types of an answer.
const (
	mediaJSON   = "application/json"
	mediaEvents = "text/event-stream"
)

// mediaType returns the media type of resp without its parameters.
func mediaType(resp *http.Response) string {
	t, _, _ := strings.Cut(resp.Header.Get("Content-Type"), ";")
	return strings.ToLower(strings.TrimSpace(t))
}
