package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"sync"
	"time"
)

// StreamOptions are the optional parts of [ServeStream].
type StreamOptions struct {
	Logger *slog.Logger  // nil discards
	Key    any           // becomes Peer.Key
	Drain  time.Duration // how long requests may finish after the end of input; default 10 s
}

// ServeStream answers one client over s, in both eras, until its input ends or ctx does.
// It closes s and waits for its requests. The end of input is no error.
func ServeStream(ctx context.Context, s Stream, svc Service, opts *StreamOptions) error {
	if opts == nil {
		opts = &StreamOptions{}
	}
	v := &streamServer{stream: s, svc: svc, log: opts.Logger, session: newSession("stream")}
	if v.log == nil {
		v.log = slog.New(slog.DiscardHandler)
	}
	v.session.peer.Key = opts.Key
	v.session.peer.Session = newSessionID()
	v.session.peer.notify = v.send
	v.session.peer.ask = func(ctx context.Context, method string, params json.RawMessage) (json.RawMessage, error) {
		return v.session.ask(ctx, func(raw []byte) bool { v.send(raw); return true }, method, params)
	}
	stop := context.AfterFunc(ctx, func() {
		v.session.end(context.Cause(ctx))
		_ = s.Close() // makes Read return; its error comes from there
	})
	defer stop()
	listening, deaf := context.WithCancelCause(v.session.ctx)
	v.input = listening
	err := v.read()
	deaf(ErrSessionClosed)
	v.drain(ctx, opts.Drain)
	v.session.close(ErrSessionClosed)
	v.lot.close(ErrSessionClosed)
	if cerr := s.Close(); err == nil {
		err = cerr
	}
	if errors.Is(err, io.EOF) || ctx.Err() != nil {
		return nil
	}
	return err
}

type streamServer struct {
	stream  Stream
	svc     Service
	log     *slog.Logger
	session *session
	lot     lot
	wg      sync.WaitGroup
	input   context.Context // ends with the input, and with it what only listens
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
			v.notified(m)
		case m.Method == "initialize":
			v.request(m) // before what a client sends without waiting for the answer
		default:
			v.wg.Add(1)
			go func() {
				defer v.wg.Done()
				v.request(m)
			}()
		}
	}
}

// refuse answers a frame that is no request.
func (v *streamServer) refuse(f *FrameError) {
	e, id := frameAnswer(f)
	v.send(AppendError(nil, id, e.Object()))
}

// frameAnswer is the JSON-RPC error for a frame that is no message.
func frameAnswer(f *FrameError) (*Error, ID) {
	if invalid, ok := errors.AsType[*InvalidError](f.Err); ok {
		return &Error{Code: CodeInvalidRequest, Message: invalid.Error()}, invalid.ID
	}
	if f.TooLong {
		return &Error{Code: CodeInvalidRequest, Message: f.Err.Error()}, f.marks.id
	}
	return &Error{Code: CodeParse, Message: f.Err.Error()}, ""
}

func (v *streamServer) send(raw []byte) {
	if err := v.stream.Write(raw); err != nil {
		v.log.Debug("message not sent", "error", err)
	}
}

func (v *streamServer) notified(m Message) {
	switch m.Method {
	case "notifications/initialized":
		v.session.peer.open(v.svc)
	case "notifications/cancelled":
		v.session.cancelled(&m)
	default:
		v.svc.Notified(v.session.peer, m)
	}
}

// open tells the service of a session, once.
func (p *Peer) open(svc Service) { p.opened.Do(func() { svc.Opened(p) }) }

// leave tells the service of a session's end; it is not told of the session afterwards.
func (p *Peer) leave(svc Service) {
	p.opened.Do(func() {})
	svc.Closed(p)
}

func (v *streamServer) request(m Message) {
	parent := v.session.ctx
	if m.Method == "subscriptions/listen" {
		parent = v.input
	}
	t, err := v.session.begin(parent, m.ID)
	if err != nil {
		v.send(AppendError(nil, m.ID, errorObject(err)))
		return
	}
	result, err := v.answer(t.ctx, m)
	taken := isTakenBack(t.ctx)
	t.done() // before the response, after which the client may use the id again
	if taken {
		return // 2025-11-25 Cancellation: no response to a request taken back
	}
	v.send(appendAnswer(nil, m.ID, result, err))
}

func (v *streamServer) answer(ctx context.Context, m Message) (json.RawMessage, error) {
	if m.Method != "initialize" && (isModernRequest(&m) || m.Method == "server/discover") {
		return v.modern(ctx, m)
	}
	s := v.session
	switch {
	case m.Method == "initialize":
		if err := s.greet(m.Params); err != nil {
			return nil, err
		}
		return initializeResult(s.peer.Version, v.svc.Hello(ctx, s.peer)), nil
	case m.Method == "ping":
		return json.RawMessage("{}"), nil
	case s.peer.Version == "":
		return nil, &Error{Code: CodeInvalidRequest, Message: "send initialize first, or a request of protocol version " + ModernVersions[0]}
	}
	s.peer.open(v.svc)
	return v.svc.Handle(ctx, &Incoming{Message: m, Peer: s.peer, out: streamOutlet{v, ctx}})
}

// streamOutlet is the way back of a legacy request on a stream.
type streamOutlet struct {
	v    *streamServer
	task context.Context //nolint:containedctx // the request's own, to end with it
}

func (o streamOutlet) send(raw []byte) { o.v.send(raw) }

func (streamOutlet) heard() bool { return true }

func (o streamOutlet) ask(ctx context.Context, method string, params json.RawMessage) (json.RawMessage, error) {
	if o.task.Err() != nil {
		return nil, ErrNoAsking // it has been answered, or taken back
	}
	return o.v.session.ask(ctx, func(raw []byte) bool { o.v.send(raw); return true }, method, params)
}

func (v *streamServer) modern(ctx context.Context, m Message) (json.RawMessage, error) {
	peer, err := checkModern(&m)
	if err != nil {
		return nil, err
	}
	peer.Key, peer.Session = v.session.peer.Key, v.session.peer.Session
	return answerModern(ctx, &v.lot, v.svc, &Incoming{Message: m, Peer: peer}, "stream", v.send)
}

// answerModern answers one request of the modern era, whatever the transport.
func answerModern(ctx context.Context, l *lot, svc Service, in *Incoming, owner string, notify func([]byte)) (json.RawMessage, error) {
	switch in.Method {
	case "server/discover":
		return discoverResult(svc.Hello(ctx, in.Peer)), nil
	case "initialize", "ping", "logging/setLevel", "resources/subscribe", "resources/unsubscribe":
		return nil, &Error{Code: CodeMethodNotFound, Message: in.Method + " does not exist in protocol version " + in.Peer.Version}
	}
	if state, ok := isParked(&in.Message); ok {
		r, err := l.resume(state, owner, &in.Message, notify)
		if err != nil {
			return nil, err
		}
		return l.attach(ctx, r)
	}
	if mayBeAsked(in.Peer) {
		return l.attach(ctx, l.start(ctx, in, owner, notify, svc.Handle))
	}
	in.out = oneWay(notify)
	return svc.Handle(ctx, in)
}

// mayBeAsked reports whether a client declared anything that a server could ask it for.
func mayBeAsked(p *Peer) bool {
	return p.Can("sampling") || p.Can("elicitation") || p.Can("roots")
}

// oneWay is the way back to a client that declared nothing it could be asked for.
type oneWay func(raw []byte)

func (o oneWay) send(raw []byte) { o(raw) }

func (oneWay) heard() bool { return true }

func (oneWay) ask(context.Context, string, json.RawMessage) (json.RawMessage, error) {
	return nil, ErrNoAsking
}

// drain lets requests finish after the end of input; long-lived ones are ended at once.
func (v *streamServer) drain(ctx context.Context, limit time.Duration) {
	if limit <= 0 {
		limit = 10 * time.Second
	}
	finished := make(chan struct{})
	go func() { // ends when the requests do, which the session's end makes sure of
		v.wg.Wait()
		close(finished)
	}()
	v.session.peer.leave(v.svc)
	timer := time.NewTimer(limit)
	defer timer.Stop()
	select {
	case <-finished:
	case <-timer.C:
	case <-ctx.Done():
	}
	v.session.end(ErrSessionClosed)
	<-finished
}
