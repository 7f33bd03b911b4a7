package mcp

import (
	"context"
	"maps"
	"net/http"
	"strconv"
	"strings"
	"sync/atomic"
)

// This file makes one round trip: a message to the server and the answer to it.

// roundTrip is one message to the server and the answer to it.
type roundTrip struct {
	link   *httpLink
	caller context.Context
	req    *Request
	id     uint64
	body   []byte
	sent   atomic.Bool
	state  *httpState // the state it was last sent with

	// ctx is the context of the HTTP requests. It is not derived from the caller's context, which ends when
	// Call returns: the rest of an event stream is read after that, so that its connection can be reused.
	// Until detach it ends with the caller's context.
	ctx      context.Context
	cancel   context.CancelCauseFunc
	stop     func() bool
	detached bool
}

// end releases the resources of the round trip, unless it was detached.
func (x *roundTrip) end() {
	if x.stop != nil {
		x.stop()
	}
	if !x.detached {
		x.cancel(nil)
	}
}

// failureError returns the error for a round trip that failed with err.
func (x *roundTrip) failureError(err error) error {
	if x.caller.Err() != nil {
		x.sendCancel()
		return context.Cause(x.caller)
	}
	if x.ctx.Err() != nil {
		err = context.Cause(x.ctx)
	}
	return &LinkError{Sent: x.sent.Load(), Err: err}
}

// call sends a request, repeats it if the server asks for that, and returns the response.
func (x *roundTrip) call() (Response, error) {
	for try := 1; ; try++ {
		resp, err := x.post()
		if err != nil {
			return Response{}, x.failureError(err)
		}
		if resp.StatusCode/100 == 2 {
			return x.readAnswerTo(resp)
		}
		r, refusal := x.readRefusal(resp)
		if refusal == nil || try == maxTries {
			return r, asError(refusal)
		}
		again, err := x.shouldRetry(refusal)
		if err != nil {
			return Response{}, x.failureError(err)
		}
		if !again {
			return r, refusal
		}
	}
}

// asError converts e so that a nil *LinkError becomes a nil error.
func asError(e *LinkError) error {
	if e == nil {
		return nil
	}
	return e
}

// notify sends a notification.
func (x *roundTrip) notify() error {
	resp, err := x.post()
	if err != nil {
		return x.failureError(err)
	}
	if resp.StatusCode/100 != 2 {
		_, refusal := x.readRefusal(resp)
		return asError(refusal)
	}
	if mediaType(resp) == mediaEvents {
		_ = resp.Body.Close() // not drained, since it might never end
		return nil
	}
	discardBody(resp.Body)
	return nil
}

func (x *roundTrip) post() (*http.Response, error) {
	x.sent.Store(false)
	x.state = x.link.state.Load()
	if x.req.Method == "initialize" {
		x.state = newHTTPState("", "")
	}
	return x.link.wire.sendFollowing(x.ctx, &httpSend{
		method: http.MethodPost, header: postHeader(x.state, x.req), body: x.body, sent: &x.sent,
	})
}

// postHeader returns the header fields for req. Fields may be added to the result, but its values are shared with st.
func postHeader(st *httpState, req *Request) http.Header {
	version := st.version
	if version == "" && req.Method != "initialize" {
		version = GetString(req.Params, "_meta", MetaVersion)
	}
	h := maps.Clone(st.header)
	if version == "" {
		if req.Method == "initialize" { // a modern server requires it on every POST, and the server may turn out to be modern
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

// sendCancel tells a legacy server that the request is cancelled. A modern server notices that the stream is
// closed.
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

// version returns the version that the request was sent with.
func (x *roundTrip) version() string {
	if x.state != nil && x.state.version != "" {
		return x.state.version
	}
	return GetString(x.req.Params, "_meta", MetaVersion)
}

// postMessage sends a message that is not a request, as the legacy era requires.
func (l *httpLink) postMessage(ctx context.Context, raw []byte) error {
	resp, err := l.wire.sendFollowing(ctx, &httpSend{
		method: http.MethodPost, header: maps.Clone(l.state.Load().header), body: raw,
	})
	if err != nil {
		return err
	}
	if mediaType(resp) == mediaEvents {
		_ = resp.Body.Close() // not drained, since it might never end
	} else {
		discardBody(resp.Body)
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
