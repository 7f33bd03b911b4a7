package mcp

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"sync"
	"time"
)

// This file serves one client over a stream, such as stdio, in both eras.

// StreamOptions are the optional parts of [ServeStream].
type StreamOptions struct {
	Logger *slog.Logger // nil discards
	Key    any          // becomes Peer.Key
	// Drain is how long requests may go on after the end of input; default 10 s. If answers wait for the
	// client to read, the time starts when they are read.
	Drain time.Duration
	// Stall is how long the client may read nothing of what is being written, if s is a [*Lines]; default 1
	// min.
	Stall time.Duration
}

// ServeStream answers one client over s, in both eras, until its input ends or ctx does. It closes s and
// waits for the client's requests. The end of input is not an error. If the client does not read for too
// long, the error has [ErrNotReading] in its chain.
//
// Answers and requests to the client wait until it reads. If too many wait, no further requests are begun,
// and finally none are read. Notifications are bounded, and the client is told how many were left out.
func ServeStream(ctx context.Context, s Stream, svc Service, opts *StreamOptions) error {
	if opts == nil {
		opts = &StreamOptions{}
	}
	v := &streamServer{stream: s, svc: svc, log: cmp.Or(opts.Logger, slog.New(slog.DiscardHandler)), session: newSession("stream"), slots: make(chan struct{}, maxTaken), clientGone: make(chan struct{})}
	v.session.peer.Key = opts.Key
	v.session.peer.Session = newSessionID()
	v.session.peer.ask = func(ctx context.Context, method string, params json.RawMessage) (json.RawMessage, error) {
		return v.session.ask(ctx, func(raw []byte) bool { return v.deliver(outgoing{head: raw}) }, method, params)
	}
	if lines, ok := s.(*Lines); ok {
		v.out = newLineQueue(lines.w.w, opts.Stall, v.endLost)
	} else {
		v.out = directSink{s, v.log}
	}
	v.session.peer.notify = v.out.post
	stop := context.AfterFunc(ctx, func() {
		v.session.end(context.Cause(ctx))
		_ = s.Close() // makes Read return, with its error
	})
	defer stop()
	listening, deaf := context.WithCancelCause(v.session.ctx)
	v.input = listening
	err := v.read()
	deaf(ErrSessionClosed)
	v.drain(ctx, opts.Drain)
	v.session.close(ErrSessionClosed)
	v.lot.close(ErrSessionClosed)
	v.out.finish()
	select {
	case <-v.clientGone:
		err = v.goneErr
	default:
	}
	if cerr := s.Close(); err == nil {
		err = cerr
	}
	if errors.Is(err, io.EOF) || ctx.Err() != nil || wasNotWritten(err) && !errors.Is(err, ErrNotReading) {
		return nil
	}
	return err
}

// maxTaken bounds the client's unanswered requests, including those whose answer waits to be written. It is
// above the number that may run at once, so that a client that reads never reaches it, with requests or
// with responses.
const maxTaken = 1024

// messageSink is where messages to the client are written.
type messageSink interface {
	// deliver sends a message that must arrive; it waits for a slow client.
	deliver(m outgoing) error
	// post sends a notification and does not wait.
	post(raw []byte, k kind)
	// awaitRoom waits until a further request may be begun.
	awaitRoom(ctx context.Context) error
	// hasUnread reports whether answers are waiting to be read.
	hasUnread() bool
	// finish waits until all is sent.
	finish()
}

// directSink is the sink for a stream that queues messages itself.
type directSink struct {
	s   Stream
	log *slog.Logger
}

func (d directSink) deliver(m outgoing) error      { return d.s.Write(m.appendLine(nil)) }
func (directSink) awaitRoom(context.Context) error { return nil }
func (directSink) hasUnread() bool                 { return false }
func (directSink) finish()                         {}

func (d directSink) post(raw []byte, _ kind) {
	if err := d.s.Write(raw); err != nil {
		d.log.Debug("message not sent", "error", err)
	}
}

type streamServer struct {
	out        messageSink
	slots      chan struct{} // holds a value for each unanswered request
	clientGone chan struct{} // closed when the client cannot be reached any more
	goneErr    error         // why; set before clientGone is closed
	stream     Stream
	svc        Service
	log        *slog.Logger
	session    *session
	lot        parkingLot
	wg         sync.WaitGroup
	input      context.Context // ends with the input; ends requests that only listen
}

func (v *streamServer) read() error {
	for {
		m, err := v.stream.Read()
		if frame, ok := errors.AsType[*FrameError](err); ok {
			v.refuse(frame)
			continue
		}
		if err != nil {
			return err
		}
		switch {
		case m.IsResponse():
			v.session.answered(m)
		case m.IsNotification():
			v.handleNotification(m)
		case m.Method == "initialize":
			t, err := v.begin(&m)
			v.request(t, m, err) // before reading on: a client may send the next message without waiting for the answer
		default:
			t, err := v.begin(&m) // before a cancellation of it is read
			if !v.spawn(func() { v.request(t, m, err) }) && err == nil {
				t.done()
			}
		}
	}
}

// begin registers a request.
func (v *streamServer) begin(m *Message) (runningRequest, error) {
	parent := v.session.ctx
	if m.Method == "subscriptions/listen" {
		parent = v.input
	}
	return v.session.begin(parent, m.ID)
}

// spawn runs f, which answers something, on its own goroutine. It waits while too many answers are due. It
// returns false, without running f, if the session ended first.
func (v *streamServer) spawn(f func()) bool {
	select {
	case v.slots <- struct{}{}:
	case <-v.session.ctx.Done():
		return false
	}
	v.wg.Go(func() {
		f()
		<-v.slots
	})
	return true
}

// endLost ends the session of a client that cannot be reached any more.
func (v *streamServer) endLost(err error) {
	v.goneErr = err
	close(v.clientGone)
	v.log.Warn("the client's session has ended: nothing can be written to it", "error", err)
	v.session.end(err)
	_ = v.stream.Close() // makes Read return
}

// refuse answers a frame that is not a message.
func (v *streamServer) refuse(f *FrameError) {
	e, id := frameAnswer(f)
	v.spawn(func() { v.deliver(outgoing{head: AppendError(nil, id, e.Object())}) })
}

// frameAnswer returns the JSON-RPC error for a frame that is not a message, and the id to answer.
func frameAnswer(f *FrameError) (*Error, ID) {
	if invalid, ok := errors.AsType[*invalidError](f.Err); ok {
		return &Error{Code: CodeInvalidRequest, Message: invalid.Error()}, invalid.ID
	}
	if f.TooLong {
		id := f.marks.id
		if c := id[:min(1, len(id))]; c == "{" || c == "[" || c == "t" || c == "f" { // the value has a type that ids cannot have
			id = ""
		}
		return &Error{Code: CodeInvalidRequest, Message: f.Err.Error()}, id
	}
	return &Error{Code: codeParse, Message: f.Err.Error()}, ""
}

// deliver sends a message that must arrive. A failure needs no further handling: it ends the session.
func (v *streamServer) deliver(m outgoing) bool {
	err := v.out.deliver(m)
	if err != nil {
		v.log.Debug("message not sent", "error", err)
	}
	return err == nil
}

func (v *streamServer) handleNotification(m Message) {
	switch m.Method {
	case "notifications/initialized":
		v.session.peer.open(v.svc)
	case "notifications/cancelled":
		v.session.cancelled(&m)
	default:
		v.svc.Notified(v.session.peer, m)
	}
}

// open tells the service, once, that the session has begun.
func (p *Peer) open(svc Service) { p.opened.Do(func() { svc.Opened(p) }) }

// leave tells the service that the session has ended; after that open does nothing.
func (p *Peer) leave(svc Service) {
	p.opened.Do(func() {})
	svc.Closed(p)
}

// request answers the request of t; err says why it could not begin.
func (v *streamServer) request(t runningRequest, m Message, err error) {
	if err != nil {
		v.deliver(answerTo(m.ID, nil, err))
		return
	}
	var result json.RawMessage
	if m.Method != "ping" {
		err = v.out.awaitRoom(t.ctx)
	}
	if err == nil {
		result, err = v.answer(&t, m)
	}
	if !t.done() { // before the response, because the client may reuse the id after that
		return // 2025-11-25 Cancellation: a cancelled request gets no response
	}
	v.deliver(answerTo(m.ID, result, err))
}

func (v *streamServer) answer(t *runningRequest, m Message) (json.RawMessage, error) {
	if m.Method != "initialize" && (isModernRequest(&m) || m.Method == "server/discover") {
		return v.modern(t, m)
	}
	s := v.session
	switch {
	case m.Method == "initialize":
		if err := s.storeInitialize(m.Params); err != nil {
			return nil, err
		}
		return initializeResult(s.peer.Version, v.svc.Hello(t.ctx, s.peer)), nil
	case m.Method == "ping":
		return json.RawMessage("{}"), nil
	case s.peer.Version == "":
		return nil, &Error{Code: CodeInvalidRequest, Message: "send initialize first, or a request of protocol version " + ModernVersions[0]}
	}
	s.peer.open(v.svc)
	return v.svc.Handle(t.ctx, &Incoming{Message: m, Peer: s.peer, Cancel: t.cancel, out: streamOutlet{v, t.ctx}})
}

// streamOutlet sends messages to the client of a legacy request on a stream.
type streamOutlet struct {
	v    *streamServer
	task context.Context //nolint:containedctx // the request's own context, which ends with it
}

func (o streamOutlet) send(raw []byte, k kind) { o.v.out.post(raw, k) }

func (streamOutlet) isConnected() bool { return true }

func (o streamOutlet) ask(ctx context.Context, method string, params json.RawMessage) (json.RawMessage, error) {
	if o.task.Err() != nil {
		return nil, errNoAsking // the request was answered or cancelled
	}
	return o.v.session.ask(ctx, func(raw []byte) bool { return o.v.deliver(outgoing{head: raw}) }, method, params)
}

func (v *streamServer) modern(t *runningRequest, m Message) (json.RawMessage, error) {
	peer, err := checkModern(&m)
	if err != nil {
		return nil, err
	}
	peer.Key, peer.Session = v.session.peer.Key, v.session.peer.Session
	return answerModern(t.ctx, &v.lot, v.svc, &Incoming{Message: m, Peer: peer, Cancel: t.cancel}, "stream", v.out.post)
}

// answerModern answers one request of the modern era, over any transport.
func answerModern(ctx context.Context, l *parkingLot, svc Service, in *Incoming, owner string, notify notifier) (json.RawMessage, error) {
	switch in.Method {
	case "server/discover":
		return discoverResult(svc.Hello(ctx, in.Peer)), nil
	case "initialize", "ping", "logging/setLevel", "resources/subscribe", "resources/unsubscribe":
		return nil, &Error{Code: CodeMethodNotFound, Message: in.Method + " does not exist in protocol version " + in.Peer.Version}
	}
	if state, ok := parkedState(&in.Message); ok {
		r, err := l.resume(state, owner, &in.Message, notify)
		if err != nil {
			return nil, err
		}
		return l.attach(ctx, r)
	}
	if canBeAsked(in.Peer) {
		return l.attach(ctx, l.start(ctx, in, owner, notify, svc.Handle))
	}
	in.out = oneWay(notify)
	if in.Cancel == nil {
		ctx, in.Cancel = context.WithCancelCause(ctx)
		defer in.Cancel(nil)
	}
	return svc.Handle(ctx, in)
}

// canBeAsked reports whether a client declared a capability for which a server could ask it something.
func canBeAsked(p *Peer) bool {
	return p.Can("sampling") || p.Can("elicitation") || p.Can("roots")
}

// oneWay sends messages to a client that declared nothing it could be asked for.
type oneWay notifier

func (o oneWay) send(raw []byte, k kind) { o(raw, k) }

func (oneWay) isConnected() bool { return true }

func (oneWay) ask(context.Context, string, json.RawMessage) (json.RawMessage, error) {
	return nil, errNoAsking
}

// drain waits for requests after the end of input, at most limit; long-lived ones are ended at once. Time
// that they spend waiting for the client to read does not count.
func (v *streamServer) drain(ctx context.Context, limit time.Duration) {
	limit = cmp.Or(max(limit, 0), 10*time.Second)
	finished := make(chan struct{})
	go func() { // ends with the requests, which the session's end makes sure of
		v.wg.Wait()
		close(finished)
	}()
	v.session.peer.leave(v.svc)
	timer := time.NewTimer(limit)
	defer timer.Stop()
	for waits := true; waits; {
		select {
		case <-finished:
			waits = false
		case <-timer.C:
			waits = v.out.hasUnread()
			timer.Reset(limit)
		case <-ctx.Done():
			waits = false
		}
	}
	v.session.end(ErrSessionClosed)
	select {
	case <-finished:
	case <-v.clientGone: // a request may be stuck in a write that nothing can end
		select {
		case <-finished:
		case <-time.After(lastWords):
		}
	}
}

// lastWords is how long requests may take to end when their outcome cannot be delivered any more.
const lastWords = time.Second
