package mcp

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"strconv"
	"sync"
	"time"
)

// This file keeps legacy sessions and their running requests.

// ErrSessionClosed is the cause for requests of a session that was closed.
var ErrSessionClosed = errors.New("the session was closed")

// session is a legacy client. Over HTTP it lasts from initialize to DELETE, over a stream as long as the
// stream.
type session struct {
	peer  *Peer
	owner string
	ctx   context.Context // ends with the session
	end   context.CancelCauseFunc
	wg    sync.WaitGroup // requests being answered

	mu          sync.Mutex
	running     map[ID]cancelableRequest
	begun       uint64 // number of requests so far
	asked       map[uint64]chan Message
	lastAsk     uint64
	streams     map[string]*eventStream
	createdAt   time.Time
	used        time.Time
	busy        int // number of requests and readers at work
	initialized bool
	finished    bool
}

func newSession(owner string) *session {
	s := &session{
		peer: &Peer{Era: Legacy, Capabilities: json.RawMessage("{}")}, owner: owner,
		running: map[ID]cancelableRequest{}, asked: map[uint64]chan Message{}, streams: map[string]*eventStream{},
	}
	s.createdAt = time.Now()
	s.used = s.createdAt
	s.ctx, s.end = context.WithCancelCause(context.Background())
	return s
}

func newSessionID() string { return rand.Text() }

// storeInitialize copies what initialize says into the peer.
func (s *session) storeInitialize(params json.RawMessage) error {
	wanted := GetString(params, "protocolVersion")
	if wanted == "" {
		return &Error{Code: CodeInvalidParams, Message: `initialize needs params.protocolVersion, such as "` + legacyVersions[0] + `"`}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.initialized {
		return &Error{Code: CodeInvalidRequest, Message: "initialize was sent twice in one session"}
	}
	s.initialized = true
	s.peer.Version = negotiate(wanted)
	s.peer.Info = Get(params, "clientInfo")
	if caps := Get(params, "capabilities"); isObject(caps) {
		s.peer.Capabilities = caps
	}
	return nil
}

// runningRequest is one running request of a session. It ends when the session ends, when the client cancels it, or
// when it is done.
type runningRequest struct {
	ctx    context.Context
	cancel context.CancelCauseFunc
	s      *session
	id     ID
	n      uint64
}

// cancelableRequest is a request that the client can cancel. Its number distinguishes it from a later request with the
// same id, which may begin before a cancelled one has ended.
type cancelableRequest struct {
	cancel context.CancelCauseFunc
	n      uint64
}

// begin registers a request, so that the client can cancel it. The caller must call done.
func (s *session) begin(ctx context.Context, id ID) (runningRequest, error) {
	t := runningRequest{s: s, id: id}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.finished {
		return t, ErrSessionClosed
	}
	if _, ok := s.running[id]; ok {
		return t, &Error{Code: CodeInvalidRequest, Message: "a request with this id is still running"}
	}
	t.ctx, t.cancel = context.WithCancelCause(ctx)
	s.begun++
	t.n = s.begun
	s.running[id] = cancelableRequest{t.cancel, t.n}
	s.busy++
	s.wg.Add(1)
	return t, nil
}

// done ends a request. It reports false if the client has cancelled it.
func (t *runningRequest) done() (waited bool) {
	t.s.mu.Lock()
	if waited = t.s.running[t.id].n == t.n; waited {
		delete(t.s.running, t.id)
	}
	t.s.busy--
	t.s.used = time.Now()
	t.s.mu.Unlock()
	t.cancel(nil)
	t.s.wg.Done()
	return waited
}

// cancelled handles notifications/cancelled. The id is free at once, although the request may take a while to
// end: it will not be answered any more.
func (s *session) cancelled(m *Message) {
	id := ID(Get(m.Params, "requestId"))
	s.mu.Lock()
	r, ok := s.running[id]
	delete(s.running, id)
	s.mu.Unlock()
	if ok {
		r.cancel(&TakenBack{Params: m.Params})
	}
}

// ask sends a request to the client and waits for the answer. send transmits it and reports whether that was
// possible.
func (s *session) ask(ctx context.Context, send func(raw []byte) bool, method string, params json.RawMessage) (json.RawMessage, error) {
	ch := make(chan Message, 1)
	s.mu.Lock()
	s.lastAsk++
	n := s.lastAsk
	s.asked[n] = ch
	s.mu.Unlock()
	id := ID(strconv.FormatUint(n, 10))
	cause := errNoAsking
	if !send(appendRequest(nil, id, method, params)) {
		s.forgetAsk(n)
		return nil, cause
	}
	select {
	case m := <-ch:
		if m.Error != nil {
			return nil, &RPCError{Raw: m.Error}
		}
		return m.Result, nil
	case <-ctx.Done():
		cause = context.Cause(ctx)
	case <-s.ctx.Done():
		cause = context.Cause(s.ctx)
	}
	s.forgetAsk(n)
	send(AppendNotification(nil, "notifications/cancelled",
		cancelParams([]byte(id), cause)))
	return nil, cause
}

func (s *session) forgetAsk(n uint64) {
	s.mu.Lock()
	delete(s.asked, n)
	s.mu.Unlock()
}

// answered delivers a response of the client, or drops it if no request waits for it.
func (s *session) answered(m Message) {
	n, ok := parseID(m.ID)
	if !ok {
		return
	}
	s.mu.Lock()
	ch := s.asked[n]
	delete(s.asked, n)
	s.mu.Unlock()
	if ch != nil {
		ch <- m
	}
}

// close ends the session and waits for its requests.
func (s *session) close(cause error) {
	s.mu.Lock()
	s.finished = true
	streams := s.streams
	s.streams = map[string]*eventStream{}
	for _, r := range s.running {
		r.cancel(cause)
	}
	s.mu.Unlock()
	s.end(cause)
	for _, st := range streams {
		st.end()
		st.keeper.forget(st)
	}
	s.wg.Wait()
}
