package mcp

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"net/http"
	"time"
)

// This file follows the event stream that answers a request, and reopens it when it breaks.

const (
	maxResumes  = 5
	resumeWait  = 200 * time.Millisecond // before the first attempt, doubled for each further one
	leastResume = 10 * time.Millisecond
	drainTime   = time.Second // how long a stream may go on after its response
)

var (
	errSilent      = errors.New("nothing came on the stream for too long")
	errStreamEnded = errors.New("the stream ended before the response")
)

// streamPosition is the position in a stream of events, across its connections.
type streamPosition struct {
	lastID string
	retry  time.Duration // as the server asked; negative if it did not
	fails  int           // consecutive connections that brought nothing
}

func (c *streamPosition) advance(r *sseReader) {
	c.lastID = r.lastID
	if r.retry >= 0 {
		c.retry = r.retry
	}
	if r.alive {
		c.fails = 0
	}
}

// followStream reads the event stream that answers a request until the response arrives. If a legacy stream ends
// before that and its events had ids, follow reconnects and continues (Resumability; 2025-11-25 allows
// servers to close a stream on purpose).
func (x *roundTrip) followStream(resp *http.Response) (Response, error) {
	at := streamPosition{retry: -1}
	for {
		r := newSSEReader(x.endIfSilent(resp.Body), x.link.opts.MaxEvent, at.lastID)
		out, err := x.readToResponse(r)
		if err == nil {
			x.detachStream(resp.Body)
			return out, nil
		}
		_ = resp.Body.Close()
		if frame, ok := errors.AsType[*FrameError](err); ok {
			return Response{}, &LinkError{Sent: true, TooLarge: frame.TooLong, Err: frame.unreadableAnswer()}
		}
		at.advance(r)
		if x.ctx.Err() != nil || at.lastID == "" || IsModern(x.version()) {
			return Response{}, x.failureError(fmt.Errorf("%w: %w", errStreamEnded, err))
		}
		if resp, err = x.resume(&at); err != nil {
			return Response{}, x.failureError(fmt.Errorf("%w: %w", errStreamEnded, err))
		}
	}
}

// readToResponse reads until the response arrives.
func (x *roundTrip) readToResponse(r *sseReader) (Response, error) {
	for {
		ev, err := r.next()
		var msgs []Message
		if err == nil {
			msgs, err = x.link.decodeEvent(ev)
		}
		if frame, ok := errors.AsType[*FrameError](err); ok && !x.isAnswer(frame.marks) {
			x.link.opts.Logger.Warn("event of the server dropped: it is too large, or not a message", "error", err)
			continue // the stream goes on
		}
		if err != nil {
			return Response{}, err
		}
		if out, ok := x.pickResponse(msgs); ok {
			return out, nil
		}
	}
}

// isAnswer reports whether an unreadable event was meant to answer this request.
func (x *roundTrip) isAnswer(m marks) bool {
	n, ok := parseID(m.id)
	return m.answer && (ok && n == x.id || m.id == "" || m.id == "null")
}

// decodeEvent returns the messages of an event; none if the event is not a message. The error is a [*FrameError].
func (l *httpLink) decodeEvent(ev sseEvent) ([]Message, error) {
	data := tidy(ev.data)
	if ev.name != "" && ev.name != "message" || len(data) == 0 {
		return nil, nil
	}
	msgs, _, err := parseBatch(data)
	if err != nil {
		return nil, badFrameError(data, err)
	}
	return msgs, nil
}

// resume opens the stream again at its last event. If the server refuses that, the error has no Status,
// because the refusal is not about the request itself, which was executed.
func (x *roundTrip) resume(at *streamPosition) (*http.Response, error) {
	var last error
	for at.fails < maxResumes {
		wait := resumeWait << at.fails
		if at.retry >= 0 {
			wait = max(at.retry, leastResume)
		}
		at.fails++
		if err := pause(x.ctx, wait); err != nil {
			return nil, err
		}
		resp, err := x.link.get(x.ctx, at.lastID)
		if err != nil {
			last = err
			continue
		}
		if resp.StatusCode == http.StatusOK && mediaType(resp) == mediaEvents {
			return resp, nil
		}
		discardBody(resp.Body)
		last = fmt.Errorf("resume answered with http status %d", resp.StatusCode)
		if !isPassing(resp.StatusCode) {
			return nil, last
		}
	}
	if last == nil {
		last = fmt.Errorf("resumed %d times in vain", maxResumes)
	}
	return nil, last
}

// isPassing reports whether a status is likely to be temporary.
func isPassing(status int) bool {
	return status >= 500 || status == http.StatusTooManyRequests || status == http.StatusRequestTimeout ||
		status == http.StatusConflict // the server has not yet noticed that the old connection is gone
}

// get opens an event stream with GET.
func (l *httpLink) get(ctx context.Context, lastID string) (*http.Response, error) {
	h := maps.Clone(l.state.Load().header)
	delete(h, "Content-Type")
	h["Accept"] = []string{mediaEvents}
	if lastID != "" {
		h[headerLastEvent] = []string{lastID}
	}
	return l.wire.sendFollowing(ctx, &httpSend{method: http.MethodGet, header: h})
}

// endIfSilent ends the round trip if body stays silent for too long, but only if the caller set a deadline. A
// request without one, such as subscriptions/listen, may be silent for days.
func (x *roundTrip) endIfSilent(body io.Reader) io.Reader {
	if _, ok := x.caller.Deadline(); !ok || x.link.opts.IdleTimeout < 0 {
		return body
	}
	return newIdleReader(x.ctx, body, x.link.opts.IdleTimeout, x.cancel)
}

// detachStream lets a stream end after its response was delivered, without the caller waiting for it, so that the
// connection can be reused.
func (x *roundTrip) detachStream(body io.ReadCloser) {
	if x.stop != nil {
		x.stop()
	}
	x.detached = x.link.spawn(func() {
		timer := time.AfterFunc(drainTime, func() { x.cancel(nil) })
		discardBody(body)
		timer.Stop()
		x.cancel(nil)
	})
	if !x.detached {
		_ = body.Close()
	}
}

// idleReader calls cancel if no Read returns data within limit. Its timer ends with ctx.
type idleReader struct {
	r     io.Reader
	timer *time.Timer
	limit time.Duration
}

func newIdleReader(ctx context.Context, r io.Reader, limit time.Duration, cancel context.CancelCauseFunc) *idleReader {
	timer := time.AfterFunc(limit, func() { cancel(errSilent) })
	context.AfterFunc(ctx, func() { timer.Stop() })
	return &idleReader{r: r, timer: timer, limit: limit}
}

// Read reads and restarts the timer.
func (r *idleReader) Read(p []byte) (int, error) {
	n, err := r.r.Read(p)
	if err != nil {
		r.timer.Stop()
	} else {
		r.timer.Reset(r.limit)
	}
	return n, err
}

// pause waits for d, or until ctx ends.
func pause(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// jitter returns a random duration between half of d and d.
func jitter(d time.Duration) time.Duration {
	return d/2 + rand.N(d/2+1)
}
