package mcp

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
)

// This file carries requests over a stream and finds the request that each answer belongs to.

// ConnOptions are the optional parts of [NewConn].
type ConnOptions struct {
	// Logger; nil discards.
	Logger *slog.Logger
	// Noise receives input that is not a message, one frame at a time; nil drops it.
	Noise func(frame []byte, err error)
}

// conn is a [Link] over a [Stream]: the pipes of a child process, or the two halves of the legacy SSE
// transport. One goroutine reads; it ends when the Stream ends.
type conn struct {
	stream  Stream
	handler Handler
	log     *slog.Logger
	noise   func([]byte, error)
	lastID  atomic.Uint64
	dropped atomic.Uint64
	waiters sync.Pool // for reuse
	done    chan struct{}
	closing sync.Once
	wg      sync.WaitGroup // the reader, and requests of the server that are being answered
	ctx     context.Context
	cancel  context.CancelCauseFunc

	mu      sync.Mutex
	waiting map[uint64]*waiter
	serving map[ID]context.CancelCauseFunc
	err     error
	warned  bool
}

// waiter is a request that waits for its response.
type waiter struct {
	ch           chan Response // receives one Response, which is empty if err is set
	owner        any           // [Request.Owner]
	subscription bool          // a subscription, which the server may end
	err          error         // why the request failed; set before the send on ch
	tooLarge     bool          // err is about an answer over the size limit
}

// NewConn returns a link over s and starts to read. h receives the requests and notifications of the server.
// Close closes s.
func NewConn(s Stream, h Handler, opts *ConnOptions) Link {
	if opts == nil {
		opts = &ConnOptions{}
	}
	c := &conn{
		stream: s, handler: h, log: cmp.Or(opts.Logger, slog.New(slog.DiscardHandler)), noise: opts.Noise, done: make(chan struct{}),
		waiting: map[uint64]*waiter{}, serving: map[ID]context.CancelCauseFunc{},
	}
	c.waiters.New = func() any { return &waiter{ch: make(chan Response, 1)} }
	c.ctx, c.cancel = context.WithCancelCause(context.Background())
	c.wg.Add(1)
	go c.read()
	return c
}

// Call sends req; see [Link].
func (c *conn) Call(ctx context.Context, req *Request) (Response, error) {
	id := c.lastID.Add(1)
	req.tellID(id)
	w := c.waiters.Get().(*waiter)
	w.owner, w.subscription = req.Owner, req.Method == "subscriptions/listen"
	c.mu.Lock()
	if c.err != nil {
		err := c.err
		c.mu.Unlock()
		return Response{}, &LinkError{Err: err}
	}
	c.waiting[id] = w
	c.mu.Unlock()

	var posted *posting
	buf := frames.Get().(*[]byte)
	*buf = appendRequest((*buf)[:0], ID(strconv.AppendUint(make([]byte, 0, 20), id, 10)), req.Method, req.Params)
	if p, ok := c.stream.(poster); ok {
		posted = c.post(p, id, bytes.Clone(*buf))
		defer posted.end()
	} else if err := c.stream.Write(*buf); err != nil {
		putFrame(buf)
		c.forget(id)
		return Response{}, asLinkError(err)
	}
	putFrame(buf)
	select {
	case resp := <-w.ch:
		return c.releaseWaiter(w, resp)
	case <-ctx.Done():
	}
	if c.forget(id) {
		if !req.NoCancel && posted.begun() {
			c.sendCancel(id, context.Cause(ctx))
		}
		return Response{}, context.Cause(ctx)
	}
	return c.releaseWaiter(w, <-w.ch) // an answer was already being delivered
}

func (c *conn) releaseWaiter(w *waiter, resp Response) (Response, error) {
	err, large := w.err, w.tooLarge
	*w = waiter{ch: w.ch}
	c.waiters.Put(w)
	if e, ok := errors.AsType[*LinkError](err); ok {
		return Response{}, e
	}
	if err != nil {
		return Response{}, &LinkError{Sent: true, TooLarge: large, Err: err}
	}
	return resp, nil
}

// frames holds buffers for messages to write.
var frames = sync.Pool{New: func() any { b := make([]byte, 0, 1024); return &b }}

func putFrame(b *[]byte) {
	if cap(*b) <= maxSpare {
		frames.Put(b)
	}
}

// forget removes a request from c.waiting and reports whether it was there.
func (c *conn) forget(id uint64) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	_, ok := c.waiting[id]
	delete(c.waiting, id)
	return ok
}

func (c *conn) sendCancel(id uint64, cause error) {
	raw := AppendNotification(nil, "notifications/cancelled", cancelParams(strconv.AppendUint(nil, id, 10), cause))
	send := func() {
		if err := c.stream.Write(raw); err != nil {
			c.log.Debug("cancel not sent", "error", err)
		}
	}
	if _, ok := c.stream.(poster); ok {
		c.spawn(send) // the caller does not wait for the server's answer
		return
	}
	send()
}

// spawn runs f on a goroutine that Close waits for, unless the connection has ended.
func (c *conn) spawn(f func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.err == nil {
		c.wg.Go(f)
	}
}

// Notify sends a notification; see [Link].
func (c *conn) Notify(_ context.Context, method string, params json.RawMessage) error {
	if err := c.stream.Write(AppendNotification(nil, method, params)); err != nil {
		return asLinkError(err)
	}
	return nil
}

// asLinkError wraps err, and keeps it as it is if it already is a [*LinkError], as from a stream over HTTP.
func asLinkError(err error) error {
	if e, ok := errors.AsType[*LinkError](err); ok {
		return e
	}
	return &LinkError{Sent: !wasNotWritten(err), Err: err}
}

// wasNotWritten reports whether a write failed without the other side getting a whole line: it had stopped
// reading, or its end was closed.
func wasNotWritten(err error) bool {
	return errors.Is(err, ErrNotReading) || errors.Is(err, syscall.EPIPE) || errors.Is(err, os.ErrClosed)
}

// Agreed does nothing: messages on a stream look the same in every version.
func (c *conn) Agreed(string) {}

// Done returns a channel that is closed when the stream has ended.
func (c *conn) Done() <-chan struct{} { return c.done }

// Err says why the stream ended; nil before that.
func (c *conn) Err() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.err
}

// Dropped counts responses to no waiting request: their ids were unknown, repeated or late.
func (c *conn) Dropped() uint64 { return c.dropped.Load() }

// Close ends the stream and waits for the goroutines that the conn started.
func (c *conn) Close() error {
	c.fail(errClosed)
	err := c.stream.Close()
	c.wg.Wait()
	return err
}

var errClosed = errors.New("connection closed")

// fail ends the connection and fails everyone who waits for an answer.
func (c *conn) fail(err error) {
	c.mu.Lock()
	if c.err == nil {
		c.err = err
	}
	err = c.err
	waiting := c.waiting
	c.waiting = map[uint64]*waiter{}
	c.mu.Unlock()
	for _, w := range waiting {
		w.err = err
		w.ch <- Response{}
	}
	c.cancel(err)
	c.closing.Do(func() { close(c.done) })
}

func (c *conn) read() {
	defer c.wg.Done()
	for {
		m, err := c.stream.Read()
		if err == nil {
			c.receive(m)
			continue
		}
		if frame, ok := errors.AsType[*FrameError](err); ok {
			c.handleBadFrame(frame)
			continue
		}
		c.fail(err)
		return
	}
}

// handleBadFrame handles a frame that is not a message. If it was meant as an answer, its request fails; otherwise
// it goes to Noise.
func (c *conn) handleBadFrame(f *FrameError) {
	if w := c.claimUnreadable(f.marks); w != nil {
		c.log.Warn("the server's answer cannot be read", "error", f.Err)
		w.err, w.tooLarge = f.unreadableAnswer(), f.TooLong
		w.ch <- Response{}
		return
	}
	if c.noise != nil {
		c.noise(f.Head, f.Err)
	}
}

// claimUnreadable is like claim for an answer that could not be parsed. It uses the answer's id or, if that cannot be read either,
// takes the only waiting request. A frame that looks like a request is not considered, because the server's ids may
// equal ours.
func (c *conn) claimUnreadable(m marks) *waiter {
	if !m.answer {
		return nil
	}
	if id, ok := parseID(m.id); ok {
		return c.claimWaiter(id)
	}
	if m.id == "" || m.id == "null" {
		return c.claimOnly()
	}
	return nil
}

// claimOnly removes and returns the only request that waits for an answer; nil if there is none or more than
// one. Subscriptions do not count.
func (c *conn) claimOnly() *waiter {
	c.mu.Lock()
	defer c.mu.Unlock()
	var only uint64
	for id, w := range c.waiting {
		switch {
		case w.subscription:
		case only != 0:
			return nil
		default:
			only = id
		}
	}
	w := c.waiting[only] // ids begin at 1, so only is 0 if there was none
	delete(c.waiting, only)
	return w
}

func (c *conn) receive(m Message) {
	switch {
	case m.IsResponse():
		c.deliverResponse(m)
	case m.IsRequest():
		c.serveRequest(m)
	case m.Method == "notifications/cancelled":
		c.handleCancelled(m)
	default:
		c.handler.Notification(m, c.subscriber(m))
	}
}

// subscriber returns the Owner of the subscriptions/listen request that a notification belongs to (MCP
// 2026-07-28, Subscriptions); nil if it names none.
func (c *conn) subscriber(m Message) any {
	id, ok := parseID(ID(Get(m.Params, "_meta", MetaSubscription)))
	if !ok {
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if w := c.waiting[id]; w != nil {
		return w.owner
	}
	return nil
}

func (c *conn) deliverResponse(m Message) {
	id, ok := parseID(m.ID)
	if ok && m.ID[0] == '"' {
		c.warnTextID(m.ID)
	}
	var w *waiter
	switch {
	case ok:
		w = c.claimWaiter(id)
	case m.Error != nil && (m.ID == "" || m.ID == "null"):
		w = c.claimOnly() // JSON-RPC 2.0, section 5: a server that could not read the id answers with null
	}
	if w == nil {
		c.dropped.Add(1)
		c.log.Debug("response dropped: nobody waits for its id", "id", string(m.ID))
		return
	}
	w.ch <- Response{Result: m.Result, Error: m.Error, IsError: m.IsError, ResultType: m.ResultType}
}

func (c *conn) warnTextID(id ID) {
	c.mu.Lock()
	first := !c.warned
	c.warned = true
	c.mu.Unlock()
	if first {
		c.log.Warn("the server returns request ids as text", "id", string(id))
	}
}

func (c *conn) claimWaiter(id uint64) *waiter {
	c.mu.Lock()
	defer c.mu.Unlock()
	w := c.waiting[id]
	delete(c.waiting, id)
	return w
}

// parseID parses one of our own ids, also if the server has turned it into a string.
func parseID(id ID) (uint64, bool) {
	s := string(id)
	if len(s) > 2 && s[0] == '"' {
		s = s[1 : len(s)-1]
	}
	s = strings.TrimSuffix(s, ".0") // some servers write every number as a float
	n, err := strconv.ParseUint(s, 10, 64)
	return n, err == nil
}

func (c *conn) serveRequest(m Message) {
	ctx, cancel := context.WithCancelCause(c.ctx)
	c.mu.Lock()
	if c.err != nil || c.serving[m.ID] != nil {
		c.mu.Unlock()
		cancel(nil)
		return
	}
	c.serving[m.ID] = cancel
	c.wg.Add(1)
	c.mu.Unlock()
	go func() {
		defer c.wg.Done()
		result, err := c.handler.Request(ctx, m, nil)
		c.mu.Lock()
		delete(c.serving, m.ID)
		c.mu.Unlock()
		if ctx.Err() == nil {
			err := c.stream.Write(responseBytes(m.ID, result, err))
			if errors.Is(err, ErrNotReading) { // without an answer the server would wait for ever
				c.fail(err)
			}
			if err != nil {
				c.log.Debug("answer not sent", "method", m.Method, "error", err)
			}
		}
		cancel(nil)
	}()
}

// responseBytes returns the response to a request: result, or err as an error object.
func responseBytes(id ID, result json.RawMessage, err error) []byte {
	if err == nil {
		return AppendResult(nil, id, result)
	}
	return AppendError(nil, id, errorObject(err))
}

// RawError is an error that already has the form of a JSON-RPC error object and is sent unchanged.
type RawError interface {
	error
	Object() json.RawMessage
}

func errorObject(err error) json.RawMessage {
	if e, ok := errors.AsType[RawError](err); ok {
		return e.Object()
	}
	return (&Error{Code: CodeInternal, Message: err.Error()}).Object()
}

// handleCancelled handles notifications/cancelled. It ends the request of the server with that id. If there is
// none, it may end a subscriptions/listen request of ours, as MCP 2026-07-28 allows. Any other request of
// ours with that id goes on: the server means one of its own that has been answered already.
func (c *conn) handleCancelled(m Message) {
	id := ID(bytes.TrimSpace(Get(m.Params, "requestId")))
	c.mu.Lock()
	cancel := c.serving[id]
	c.mu.Unlock()
	if cancel != nil {
		cancel(&TakenBack{Params: m.Params})
		return
	}
	if w := c.claimSubscription(id); w != nil {
		w.err = errors.New("the server ended the request")
		w.ch <- Response{}
		return
	}
	c.handler.Notification(m, nil)
}

// claimSubscription is like claim for a subscription, the only request that the server may end.
func (c *conn) claimSubscription(id ID) *waiter {
	n, ok := parseID(id)
	if !ok {
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	w := c.waiting[n]
	if w == nil || !w.subscription {
		return nil
	}
	delete(c.waiting, n)
	return w
}
