package mcp

import (
	"context"
	"time"
)

const (
	maxServing    = 256 // maximum number of concurrent requests of one server
	answerTimeout = 30 * time.Second
)

// receive handles a message that is not a response to a waiting request. owner is that of the request on
// whose stream it came; nil for the listening stream.
func (l *httpLink) receive(m *Message, owner any) {
	switch {
	case m.IsRequest():
		l.serve(m, owner)
	case m.Method == "notifications/cancelled" && l.handledCancelled(m):
	case m.IsNotification():
		l.notify.Lock()
		defer l.notify.Unlock()
		l.handler.Notification(*m, owner)
	default:
		l.dropped.Add(1)
		l.opts.Logger.Debug("response dropped: nobody waits for its id", "id", string(m.ID))
	}
}

// serve answers a request of a legacy server. In the modern era servers may not send requests and clients may
// not answer them.
func (l *httpLink) serve(m *Message, owner any) {
	if IsModern(l.state.Load().version) {
		l.dropped.Add(1)
		l.opts.Logger.Debug("request dropped: a modern server sent it", "method", m.Method)
		return
	}
	ctx, cancel := context.WithCancelCause(l.ctx)
	l.mu.Lock()
	if l.closed || l.serving[m.ID] != nil || len(l.serving) >= maxServing {
		l.mu.Unlock()
		cancel(nil)
		l.dropped.Add(1)
		l.opts.Logger.Debug("request dropped: too many, or its id is in use", "method", m.Method)
		return
	}
	l.serving[m.ID] = cancel
	req := *m
	l.wg.Go(func() {
		defer cancel(nil)
		l.respond(ctx, req, owner)
	})
	l.mu.Unlock()
}

func (l *httpLink) respond(ctx context.Context, m Message, owner any) {
	result, err := l.handler.Request(ctx, m, owner)
	l.mu.Lock()
	delete(l.serving, m.ID)
	l.mu.Unlock()
	if ctx.Err() != nil {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, answerTimeout)
	defer cancel()
	if err := l.postMessage(ctx, responseBytes(m.ID, result, err)); err != nil {
		l.opts.Logger.Debug("answer not sent", "method", m.Method, "error", err)
	}
}

// handledCancelled ends a request that the server cancels, and reports whether m was such a notification.
func (l *httpLink) handledCancelled(m *Message) bool {
	id := ID(Get(m.Params, "requestId"))
	l.mu.Lock()
	cancel := l.serving[id]
	l.mu.Unlock()
	if cancel == nil {
		return false
	}
	cancel(&TakenBack{Params: m.Params})
	return true
}
