package bridge

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"sync"
	"sync/atomic"

	"collie/internal/mcp"
)

// This file carries the messages between a client and whichever gateway it is attached to.

// relay carries the messages of one client.
type relay struct {
	opts       Options
	log        *slog.Logger
	out        output
	clientGone context.Context // ends when nothing can be written to the client any more
	life       context.Context
	end        context.CancelCauseFunc
	inFlight   sync.WaitGroup // requests of the client in flight
	wg         sync.WaitGroup // all goroutines
	outbox     *outbox
	sent       chan struct{} // closed when the outbox is empty and closed
	slots      chan struct{} // one value for each request in flight
	session    session
	stream     string // identifies the client's pipe to every gateway
	asks       pendingQuestions
	route      route

	modern atomic.Bool // the client has sent a request that needs no session

	mu       sync.Mutex
	requests map[mcp.ID]*request
}

// maxUnanswered bounds the client's unanswered requests. It is above the number that a gateway runs at once, so
// that a client that reads never hits it.
const maxUnanswered = 1024

func newRelay(out io.Writer, opts Options) *relay {
	r := &relay{
		opts: opts, log: opts.Logger, outbox: newOutbox(), sent: make(chan struct{}), slots: make(chan struct{}, maxUnanswered),
		stream: rand.Text(), requests: map[mcp.ID]*request{}, asks: pendingQuestions{open: map[mcp.ID]int{}}, route: route{changed: make(chan struct{})},
	}
	r.life, r.end = context.WithCancelCause(context.Background())
	clientGone, endClient := context.WithCancelCause(context.Background())
	r.clientGone = clientGone
	r.out = output{mcp.NewOutput(out, opts.Stall, func(err error) {
		r.log.Warn("the client's session has ended: nothing can be written to it", "error", err)
		endClient(err)
		r.end(err)
	}), opts.Logger}
	return r
}

// start attaches the client to the gateway that was found, and starts to deliver what the outbox gets.
func (r *relay) start(g Gateway) {
	r.route.setAttachment(newAttachment(r.life, newHTTPLink(g, r.stream), 1))
	r.wg.Go(r.sendQueued)
}

// request handles a request of the client on its own goroutine.
func (r *relay) request(m mcp.Message) {
	f := newRequest(r.life, m)
	if f.modern {
		r.modern.Store(true)
	}
	if m.Method == "ping" && !f.modern && !r.session.hasBegun() { // a ping is allowed before there is a session
		f.cancel(nil)
		r.out.line(mcp.AppendResult(nil, m.ID, json.RawMessage("{}")))
		return
	}
	if refusal := r.admit(f); refusal != nil {
		f.cancel(nil)
		r.out.line(mcp.AppendError(nil, m.ID, refusal.Object()))
		return
	}
	select {
	case r.slots <- struct{}{}:
	case <-r.life.Done():
		f.cancel(nil)
		return
	}
	r.inFlight.Add(1)
	r.wg.Go(func() {
		defer r.inFlight.Done()
		r.execute(f)
		<-r.slots
	})
}

// admit registers a request, or returns why it is refused. A legacy request then waits for the session; see [session.admit].
func (r *relay) admit(f *request) *mcp.Error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.requests[f.m.ID] != nil {
		return &mcp.Error{Code: mcp.CodeInvalidRequest, Message: "a request with this id is still running"}
	}
	if !f.modern {
		if refusal := r.session.admit(f); refusal != nil {
			return refusal
		}
	} else if mcp.EncodeHeaderValue(f.m.Method) != f.m.Method {
		return &mcp.Error{Code: mcp.CodeMethodNotFound, Message: "method not found: " + f.m.Method}
	}
	r.requests[f.m.ID] = f
	return nil
}

// execute handles a request until its response.
func (r *relay) execute(f *request) {
	defer f.cancel(nil)
	f.reply = func(raw []byte) { r.finish(f, raw) }
	f.heard = r.forwardMessage
	if f.isSubscription() {
		f.heard = f.subscriptionHandler(r)
	}
	var err error
	if f.m.Method != "ping" {
		err = r.out.Room(f.ctx) // wait while too many answers are waiting for a slow client
	}
	if err == nil {
		err = r.forward(f)
	}
	if f.isInitialize() {
		r.session.finishInitialize()
	}
	if err != nil && context.Cause(f.ctx) != errTakenBack { //nolint:errorlint // it is never wrapped
		r.finish(f, mcp.AppendError(nil, f.m.ID, errorObject(err)))
	}
}

// finish gives the client the response to a request, unless the client has cancelled it.
func (r *relay) finish(f *request, raw []byte) {
	r.mu.Lock()
	waits := r.requests[f.m.ID] == f
	if waits {
		delete(r.requests, f.m.ID) // before the response, because the client may reuse the id after that
	}
	r.mu.Unlock()
	if !waits {
		return
	}
	r.session.storeSetup(f, raw)
	r.out.line(raw)
}

// errorObject returns err as a JSON-RPC error object.
func errorObject(err error) json.RawMessage {
	if e, ok := errors.AsType[mcp.RawError](err); ok {
		return e.Object()
	}
	return (&mcp.Error{Code: mcp.CodeInternal, Message: err.Error()}).Object()
}

// forwardMessage passes on a gateway's message outside of requests.
func (r *relay) forwardMessage(generation int, raw []byte) {
	m, err := mcp.Parse(raw)
	switch {
	case err != nil:
		r.log.Debug("not a message of the gateway", "error", err)
	case m.IsRequest():
		r.out.line(r.asks.add(generation, &m))
	case m.Method == "notifications/cancelled":
		r.out.line(r.asks.cancel(generation, &m))
	case m.IsNotification():
		r.out.line(raw)
	default:
		r.log.Debug("response dropped: nobody waits for its id", "id", string(m.ID))
	}
}

// forwardAnswer passes on the client's answer to a question of a gateway.
func (r *relay) forwardAnswer(m mcp.Message) {
	if raw, generation, ok := r.asks.answer(&m); ok {
		r.outbox.put(r.life, message{raw: raw, generation: generation})
	}
}

// handleNotification handles a notification of the client.
func (r *relay) handleNotification(m mcp.Message) {
	switch m.Method {
	case "notifications/cancelled":
		r.cancel(m)
		return
	case "notifications/initialized":
		r.session.storeReady(m.Raw)
	}
	if r.session.hasBegun() || r.modern.Load() {
		r.outbox.put(r.life, message{raw: m.Raw})
	}
}

// cancel ends a request that the client cancels. Over HTTP a modern request is cancelled by closing its
// exchange, a legacy one by a notification.
func (r *relay) cancel(m mcp.Message) {
	id := mcp.ID(mcp.Get(m.Params, "requestId"))
	r.mu.Lock()
	f := r.requests[id]
	if f == nil || f.isInitialize() { // initialize cannot be cancelled
		r.mu.Unlock()
		return
	}
	delete(r.requests, id)
	r.mu.Unlock()
	r.outbox.put(r.life, message{raw: m.Raw, about: f})
}

// stopListening ends all subscriptions.
func (r *relay) stopListening() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for id, f := range r.requests {
		if f.isSubscription() {
			delete(r.requests, id)
			f.cancel(errTakenBack)
		}
	}
}
