package mcp

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"time"
)

// This file keeps open the stream on which a legacy server sends messages by itself.

const (
	listenWait    = time.Second // before the listening stream is opened again, doubled each time
	maxListenWait = 30 * time.Second
	// questionWait bounds how long a call waits for the listening stream, because some servers and proxies
	// send the head of a stream only with its first event. For a server that answers quickly the bound is a
	// few times the duration of initialize, at least leastQuestionWait.
	questionWait      = time.Second
	leastQuestionWait = 200 * time.Millisecond
)

// Listen opens the legacy era's stream for messages of the server outside of requests. It runs in the
// background until Close, or until the server says that it has no such stream (405). It belongs to the
// present session; call Listen again after a new initialize. In the modern era it does nothing.
//
// Until the server has answered, for at most one second, the methods in whose course a server may ask
// something (tools/call, prompts/get, resources/read) wait. The server may send its questions on this stream
// (2025-11-25, Transports, Listening for Messages from the Server), and many servers drop what they cannot
// send. After one wait in vain there are no more; see [HTTPOptions.Withheld].
func (l *httpLink) Listen() {
	if IsModern(l.state.Load().version) {
		return
	}
	ctx, cancel := context.WithCancel(l.ctx)
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.unlisten != nil {
		l.unlisten()
	}
	l.unlisten = cancel
	if l.closed {
		cancel()
		return
	}
	h := &listenAttempt{begun: time.Now(), wait: l.questionWait(), decided: make(chan struct{}), open: make(chan struct{}), ended: make(chan struct{})}
	l.firstListen = h
	if l.opts.Withheld.Load() {
		l.awaitingStream.Store(nil)
	} else {
		l.awaitingStream.Store(h)
	}
	l.wg.Go(func() {
		defer cancel()
		defer close(h.ended)
		defer h.decide(false)
		l.listen(ctx, h)
	})
}

// listenAttempt is the state of one call of Listen: how its first request for the stream ended, and whether any request has
// opened the stream.
type listenAttempt struct {
	begun   time.Time
	wait    time.Duration // how long calls wait, measured from the request
	once    sync.Once
	decided chan struct{} // closed when the first request has succeeded or failed
	isOpen  bool          // the first request opened the stream; set before decided is closed

	opened bool
	open   chan struct{} // closed when a request, the first or a later one, has opened the stream
	ended  chan struct{} // closed when no more requests are made
}

// questionWait returns how long calls wait for the stream.
func (l *httpLink) questionWait() time.Duration {
	if took := time.Duration(l.initializeTime.Load()); took > 0 {
		return min(max(4*took, leastQuestionWait), questionWait)
	}
	return questionWait
}

func (h *listenAttempt) decide(stands bool) {
	h.once.Do(func() {
		h.isOpen = stands
		close(h.decided)
	})
}

// awaitQuestions waits for the listening stream if it is being opened and the server may ask something in the
// course of method.
func (l *httpLink) awaitQuestions(ctx context.Context, method string) {
	h := l.awaitingStream.Load()
	if h == nil {
		return
	}
	switch method {
	case "tools/call", "prompts/get", "resources/read":
	default:
		return
	}
	select {
	case <-h.decided: // also if that was long ago, when the timer below would have ended too
		l.awaitingStream.CompareAndSwap(h, nil)
		return
	default:
	}
	late := time.NewTimer(time.Until(h.begun.Add(h.wait)))
	defer late.Stop()
	select {
	case <-h.decided:
	case <-late.C:
		l.opts.Withheld.Store(true)
	case <-ctx.Done():
		return
	}
	l.awaitingStream.CompareAndSwap(h, nil)
}

// AwaitStream waits until the server has answered Listen's request. It returns true if the stream is open, so
// that later messages of the server will arrive.
func (l *httpLink) AwaitStream(ctx context.Context) bool {
	l.mu.Lock()
	h := l.firstListen
	l.mu.Unlock()
	if h == nil {
		return false
	}
	select {
	case <-h.decided:
		return h.isOpen
	case <-ctx.Done():
		return false
	}
}

// AwaitOpen waits until the stream is open, however many requests that takes. It returns false if ctx ends first, or
// if no more requests are made.
func (l *httpLink) AwaitOpen(ctx context.Context) bool {
	l.mu.Lock()
	h := l.firstListen
	l.mu.Unlock()
	if h == nil {
		return false
	}
	select {
	case <-h.open:
		return true
	case <-h.ended:
	case <-ctx.Done():
	}
	return false
}

// listen keeps the stream open. It reports the result of the first request to h.
func (l *httpLink) listen(ctx context.Context, h *listenAttempt) {
	at := streamPosition{retry: -1}
	for {
		at.fails++ // reset by anything the stream brings
		resp, err := l.get(ctx, at.lastID)
		switch {
		case err != nil:
			h.decide(false)
			l.opts.Logger.Debug("listening stream not opened", "error", err)
		case resp.StatusCode == http.StatusOK && mediaType(resp) == mediaEvents:
			if time.Since(h.begun) < questionWait {
				l.opts.Withheld.Store(false)
			}
			h.decide(true)
			if !h.opened {
				h.opened = true
				close(h.open)
			}
			l.readListenStream(ctx, resp, &at)
		default:
			h.decide(false)
			discardBody(resp.Body)
			if !isPassing(resp.StatusCode) {
				l.opts.Logger.Debug("no listening stream", "status", resp.StatusCode)
				return
			}
		}
		wait := jitter(min(listenWait<<min(max(at.fails-1, 0), 10), maxListenWait))
		if at.retry >= 0 && at.fails == 0 {
			wait = max(at.retry, leastResume)
		}
		if pause(ctx, wait) != nil {
			return
		}
	}
}

// readListenStream reads one connection of the listening stream to its end.
func (l *httpLink) readListenStream(ctx context.Context, resp *http.Response, at *streamPosition) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	stop := context.AfterFunc(ctx, func() { _ = resp.Body.Close() })
	defer stop()
	defer resp.Body.Close()
	body := newIdleReader(ctx, resp.Body, l.listenLimit(), cancel)
	r := newSSEReader(body, l.opts.MaxEvent, at.lastID)
	for {
		ev, err := r.next()
		if frame, ok := errors.AsType[*FrameError](err); ok {
			l.opts.Logger.Warn("message of the server dropped", "error", frame)
			continue
		}
		at.advance(r)
		if err != nil {
			if errors.Is(context.Cause(ctx), errSilent) {
				at.fails = 0
			}
			return
		}
		msgs, err := l.decodeEvent(ev)
		if err != nil {
			l.opts.Logger.Warn("event of the server dropped: it is not a message", "error", err)
			continue
		}
		for i := range msgs {
			l.receive(&msgs[i], nil)
		}
	}
}

// listenLimit returns the idle timeout; if there is none, a duration that no connection reaches.
func (l *httpLink) listenLimit() time.Duration {
	if l.opts.IdleTimeout < 0 {
		return 1 << 62
	}
	return l.opts.IdleTimeout
}
