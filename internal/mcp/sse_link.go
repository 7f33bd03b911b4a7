package mcp

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"sync/atomic"
	"time"
)

// This file connects to a server over the oldest HTTP transport, of 2024-11-05: an event stream and a URL to post to.

const (
	endpointTimeout = 10 * time.Second
	sseWriteTimeout = 10 * time.Second
)

// DialSSE opens a [Link] over HTTP with server-sent events, the transport of 2024-11-05: one GET stream from
// the server, and a POST for each message to it. It returns when the server has named the address for POSTs.
// The server has 10 seconds for that, and the address must have its own origin. A refusal is a [*LinkError].
// The link lives until Close or the end of the stream; ctx is only for opening it.
func DialSSE(ctx context.Context, url string, h Handler, opts *HTTPOptions) (Link, error) {
	s := &sseStream{opts: opts.withDefaults()}
	var err error
	if s.wire, err = newHTTPWire(url, &s.opts); err != nil {
		return nil, &LinkError{Err: err}
	}
	s.ctx, s.cancel = context.WithCancelCause(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() { s.cancel(context.Cause(ctx)) })
	timer := time.AfterFunc(endpointTimeout, func() { s.cancel(errNoEndpoint) })
	err = s.open()
	if !stop() && err == nil {
		err = context.Cause(ctx)
	}
	if !timer.Stop() && err == nil {
		err = errNoEndpoint
	}
	if err != nil {
		if s.ctx.Err() != nil {
			err = context.Cause(s.ctx)
		}
		_ = s.Close()
		if _, ok := errors.AsType[*LinkError](err); !ok && ctx.Err() == nil {
			err = &LinkError{Err: err}
		}
		return nil, err
	}
	return NewConn(s, h, &ConnOptions{Logger: s.opts.Logger}), nil
}

var errNoEndpoint = fmt.Errorf("no endpoint event within %s", endpointTimeout)

// sseStream is the [Stream] of the legacy HTTP+SSE transport.
type sseStream struct {
	wire   *httpWire
	opts   HTTPOptions
	ctx    context.Context // ends with Close
	cancel context.CancelCauseFunc
	body   io.Closer
	events *sseReader
	queue  []Message // messages of a batch that were not returned yet

	endpoint *url.URL // for POSTs
}

// open sends the GET and waits for the endpoint event.
func (s *sseStream) open() error {
	resp, err := s.wire.sendFollowing(s.ctx, &httpSend{method: http.MethodGet, header: http.Header{"Accept": {mediaEvents}}}) //nolint:bodyclose // the stream closes it
	if err != nil {
		return err
	}
	s.body = resp.Body
	if resp.StatusCode != http.StatusOK || mediaType(resp) != mediaEvents {
		raw, _ := io.ReadAll(io.LimitReader(resp.Body, maxExcerpt)) // ignore the error: part of the body is better than nothing
		return &LinkError{
			Sent: true, Status: resp.StatusCode, Header: refusalHeader(resp.Header), Body: excerpt(raw),
			Err: fmt.Errorf("answer of type %q: expected %s", mediaType(resp), mediaEvents),
		}
	}
	s.events = newSSEReader(resp.Body, s.opts.MaxEvent, "")
	for {
		ev, err := s.events.next()
		if err != nil {
			return fmt.Errorf("the stream ended before its endpoint event: %w", err)
		}
		if ev.name == "endpoint" {
			return s.setEndpoint(resp.Request.URL, string(ev.data))
		}
	}
}

func (s *sseStream) setEndpoint(from *url.URL, where string) error {
	u, err := from.Parse(where)
	if err != nil {
		return errors.New("the endpoint event's URL does not parse")
	}
	u.User = nil
	if !sameOrigin(from, u) {
		return fmt.Errorf("endpoint at %s://%s refused: expected the origin of the stream, %s://%s", u.Scheme, u.Host, from.Scheme, from.Host)
	}
	s.endpoint = u
	return nil
}

// Read returns the next message; see [Stream].
func (s *sseStream) Read() (Message, error) {
	for len(s.queue) == 0 {
		ev, err := s.events.next()
		if err != nil {
			return Message{}, s.ended(err)
		}
		data := tidy(ev.data)
		if ev.name != "" && ev.name != "message" || len(data) == 0 {
			continue
		}
		if s.queue, _, err = parseBatch(data); err != nil {
			return Message{}, badFrameError(data, err)
		}
	}
	m := s.queue[0]
	s.queue = s.queue[1:]
	return m, nil
}

// ended replaces err by the reason of Close, if Close ended the stream.
func (s *sseStream) ended(err error) error {
	if _, ok := errors.AsType[*FrameError](err); !ok && s.ctx.Err() != nil {
		return context.Cause(s.ctx)
	}
	return err
}

// Write posts one message and returns when the server has accepted it, at most 10 s later. Requests do not pass here: see
// [poster].
func (s *sseStream) Write(raw []byte) error {
	ctx, cancel := context.WithTimeout(s.ctx, sseWriteTimeout)
	defer cancel()
	return s.post(ctx, bytes.Clone(raw), nil) // net/http may still read the body after it has the answer
}

// post posts one message and returns when the server has answered; see [poster].
func (s *sseStream) post(ctx context.Context, raw []byte, sent *atomic.Bool) error {
	if len(raw) > s.opts.MaxRequest {
		return &LinkError{TooLarge: true, Err: fmt.Errorf("message of %d bytes is longer than %d", len(raw), s.opts.MaxRequest)}
	}
	resp, err := s.wire.sendFollowing(ctx, &httpSend{
		method: http.MethodPost, url: s.endpoint,
		header: http.Header{"Content-Type": {mediaJSON}, "Accept": {mediaJSON + ", " + mediaEvents}},
		body:   raw, sent: sent,
	})
	if err != nil {
		return &LinkError{Sent: true, Err: err}
	}
	if resp.StatusCode/100 == 2 {
		discardBody(resp.Body)
		return nil
	}
	text, _ := io.ReadAll(io.LimitReader(resp.Body, maxExcerpt)) // ignore the error: part of the body is better than nothing
	_ = resp.Body.Close()
	return &LinkError{Sent: true, Status: resp.StatusCode, Header: refusalHeader(resp.Header), Body: excerpt(text)}
}

// poster is a [Stream] over HTTP, whose server may answer the POST of a request only when the request is done.
type poster interface {
	// post posts one message and waits for the answer until ctx ends; sent is set when the message begins to be sent.
	post(ctx context.Context, raw []byte, sent *atomic.Bool) error
}

// posting is the POST of one request; nil on a stream that is not a poster.
type posting struct {
	ctx    context.Context
	cancel context.CancelFunc
	sent   atomic.Bool
}

// post posts a request on a goroutine of its own. A refusal fails the request.
func (c *conn) post(p poster, id uint64, raw []byte) *posting {
	x := &posting{}
	x.ctx, x.cancel = context.WithCancel(c.ctx)
	c.spawn(func() {
		defer x.cancel()
		err := p.post(x.ctx, raw, &x.sent)
		if err == nil {
			return
		}
		if w := c.claimWaiter(id); w != nil {
			w.err = asLinkError(err)
			w.ch <- Response{}
		}
	})
	return x
}

// begun reports whether any of the message may have reached the server.
func (x *posting) begun() bool { return x == nil || x.sent.Load() }

// end is called when the request is over. If the server has some of it, it gets a little time to answer, since the
// connection can be reused then.
func (x *posting) end() {
	switch {
	case !x.sent.Load():
		x.cancel()
	case x.ctx.Err() == nil:
		time.AfterFunc(sseWriteTimeout, x.cancel)
	}
}

// Close ends the stream; see [Stream].
func (s *sseStream) Close() error {
	s.cancel(errClosed)
	if s.body != nil {
		_ = s.body.Close()
	}
	s.wire.close()
	return nil
}
