package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"sync"
	"time"

	"collie/internal/sorting"
)

// This file serves clients with sessions over HTTP (protocol versions up to 2025-11-25).

// becomesStream is how long a request runs before its answer becomes a stream. From then on the client has an
// event id, with which it can come back for the response if it loses the connection (2025-11-25, SEP-1699).
const becomesStream = 50 * time.Millisecond

const (
	// keepStream is how long the stream of an answered request is kept for a client that lost it.
	keepStream = time.Minute
	// maxKept bounds the number of such streams in a session; the oldest are dropped first. See [replayBudget] for
	// the bytes of all sessions.
	maxKept = 64
)

// cancelGrace is how long a request goes on after its connection was closed. Clients that cancel a request send
// a message with their reason, which arrives a moment later. During the first becomesStream of a request
// nobody watches the connection, because nearly all requests are over by then.
const cancelGrace = 50 * time.Millisecond

// serveLegacy handles a POST of a session; initialize opens one.
func (h *HTTPServer) serveLegacy(w http.ResponseWriter, r *http.Request, m Message, owner string, key any) {
	if m.Method == "initialize" && m.IsRequest() {
		h.openSession(w, r, m, owner, key)
		return
	}
	s := h.findSession(w, r, m.ID, owner)
	if s == nil {
		return
	}
	switch {
	case m.IsResponse():
		s.answered(m)
		w.WriteHeader(http.StatusAccepted)
	case m.IsNotification():
		h.handleNotification(s, m)
		w.WriteHeader(http.StatusAccepted)
	default:
		h.serveRequest(w, r, s, m)
	}
}

func (h *HTTPServer) handleNotification(s *session, m Message) {
	s.touch()
	switch m.Method {
	case "notifications/initialized":
		s.peer.open(h.svc)
	case "notifications/cancelled":
		s.cancelled(&m)
	default:
		h.svc.Notified(s.peer, m)
	}
}

// openSession answers initialize with a new session.
func (h *HTTPServer) openSession(w http.ResponseWriter, r *http.Request, m Message, owner string, key any) {
	s := newSession(owner)
	if err := s.storeInitialize(m.Params); err != nil {
		refuseHTTP(w, http.StatusBadRequest, m.ID, err)
		return
	}
	s.peer.Key = key
	s.peer.Session = newSessionID()
	events := h.newEvents("s")
	events.ofSession = true
	s.streams["s"] = events
	s.peer.notify = func(raw []byte, k kind) { events.add(outgoing{head: raw}, k) }
	s.peer.ask = func(ctx context.Context, method string, params json.RawMessage) (json.RawMessage, error) {
		if !events.awaitReader(ctx) {
			return nil, errNoAsking
		}
		return s.ask(ctx, events.ask, method, params)
	}
	h.mu.Lock()
	removed, full := h.makeRoom(owner)
	if !full {
		h.sessions[s.peer.Session] = s
	}
	h.mu.Unlock()
	if removed != nil {
		h.endSession(removed)
	}
	if full {
		w.Header().Set("Retry-After", "30")
		refuseHTTP(w, http.StatusServiceUnavailable, m.ID, &Error{Code: CodeInternal, Message: "too many sessions are open: close one with DELETE, or try again later"})
		return
	}
	w.Header().Set(headerSession, s.peer.Session)
	writeJSON(w, http.StatusOK, AppendResult(nil, m.ID, initializeResult(s.peer.Version, h.svc.Hello(r.Context(), s.peer))))
}

// makeRoom removes an idle session if another one of owner would exceed a limit. full reports that there is no room
// for another session: none could be removed, or h is closed. One owner has at most three quarters of all sessions,
// so that nobody can lock out all others. Sessions without an open stream go first, of these the ones that were never
// used since they were opened, then the ones idle the longest: clients that never end their sessions must not lock
// others out, and a client whose session is gone opens a new one. A session with a request in flight is never
// removed. The caller holds h.mu.
func (h *HTTPServer) makeRoom(owner string) (removed *session, full bool) {
	owned := 0
	for _, s := range h.sessions {
		if s.owner == owner {
			owned++
		}
	}
	mine := owned >= max(h.opts.MaxSessions*3/4, 1)
	if !mine && len(h.sessions) < h.opts.MaxSessions {
		return nil, h.closed
	}
	var best evictionRank
	for _, s := range h.sessions {
		if mine && s.owner != owner {
			continue
		}
		if at := s.evictionRank(); at.idle && (removed == nil || at.before(best)) {
			removed, best = s, at
		}
	}
	if removed == nil {
		return nil, true
	}
	delete(h.sessions, removed.peer.Session)
	return removed, h.closed
}

// evictionRank is what decides which session is removed first.
type evictionRank struct {
	idle bool // no request is in flight
	read bool // its client has a stream open
	new  bool // nothing came after initialize
	used time.Time
}

func (a evictionRank) before(b evictionRank) bool {
	switch {
	case a.read != b.read:
		return b.read
	case a.new != b.new:
		return a.new
	}
	return a.used.Before(b.used)
}

func (s *session) evictionRank() evictionRank {
	s.mu.Lock()
	defer s.mu.Unlock()
	return evictionRank{idle: len(s.running) == 0, read: s.busy > 0, new: s.used.Equal(s.createdAt), used: s.used}
}

// findSession returns the session that a request belongs to. It refuses the request if there is none.
func (h *HTTPServer) findSession(w http.ResponseWriter, r *http.Request, id ID, owner string) *session {
	name := firstValue(r.Header, headerSession)
	if name == "" {
		refuseHTTP(w, http.StatusBadRequest, id, &Error{Code: CodeInvalidRequest, Message: "no Mcp-Session-Id: send initialize first, or a request of protocol version " + ModernVersions[0]})
		return nil
	}
	h.mu.Lock()
	s := h.sessions[name]
	h.mu.Unlock()
	if s == nil || s.owner != owner {
		refuseHTTP(w, http.StatusNotFound, id, &Error{Code: codeSessionNotFound, Message: "Session not found: send initialize again"})
		return nil
	}
	if v := firstValue(r.Header, headerVersion); v != "" && !slices.Contains(legacyVersions, v) {
		refuseHTTP(w, http.StatusBadRequest, id, &Error{Code: CodeInvalidRequest, Message: "MCP-Protocol-Version is " + v + ", the session agreed on " + s.peer.Version})
		return nil
	}
	return s
}

func (h *HTTPServer) serveRequest(w http.ResponseWriter, r *http.Request, s *session, m Message) {
	// If a legacy client can come back for the answer, losing the connection does not cancel its request. It
	// can once it has received an event id.
	t, err := s.begin(context.WithoutCancel(r.Context()), m.ID)
	if err != nil {
		refuseHTTP(w, http.StatusBadRequest, m.ID, err)
		return
	}
	ex := &exchange{h: h, w: w, r: r, s: s, task: t}
	h.slowExchanges.add(ex)
	result, err := h.answerLegacy(&t, r, s, ex, m)
	if !t.done() { // before the response, because the client may reuse the id after that
		ex.finish(http.StatusAccepted, outgoing{})
		return
	}
	ex.finish(http.StatusOK, answerTo(m.ID, result, err))
}

func (s *session) isResumable() bool { return s.peer.Version >= version20251125 }

// makeResumable lets the client of a legacy session come back for the stream that has just begun. The caller holds
// e.mu.
func (e *exchange) makeResumable() {
	switch {
	case e.unwatch != nil:
		e.unwatch() // from now on a lost connection cancels nothing
	case e.r.Context().Err() != nil:
		e.watch()
	}
	e.stream.id, e.stream.primed = newStreamID(), e.s.isResumable()
	e.stream.keeper, e.stream.session = e.h.replays, e.s
	e.s.keepStream(e.stream)
}

// becomeStream is called once for a request of a legacy session that is not answered within becomesStream. If the
// client cannot come back for the answer, or disconnected before it could learn how, the request now ends
// with its connection.
func (e *exchange) becomeStream() {
	e.mu.Lock()
	ended := e.answered || e.started != nil
	stays := !ended && e.s.isResumable() && e.r.Context().Err() == nil
	e.mu.Unlock()
	if ended || stays && e.beginStream() {
		return
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if !e.answered && e.started == nil {
		e.watch()
	}
}

// watch ends the request shortly after its connection ends. The caller holds e.mu.
func (e *exchange) watch() {
	t, connected := e.task, e.r.Context()
	e.unwatch = context.AfterFunc(connected, func() {
		pause := time.NewTimer(cancelGrace)
		defer pause.Stop()
		select {
		case <-t.ctx.Done():
		case <-pause.C:
			t.cancel(context.Cause(connected))
		}
	})
}

func (h *HTTPServer) answerLegacy(t *runningRequest, r *http.Request, s *session, ex *exchange, m Message) (json.RawMessage, error) {
	if m.Method == "ping" {
		return json.RawMessage("{}"), nil
	}
	s.peer.open(h.svc)
	return h.svc.Handle(t.ctx, &Incoming{Message: m, Peer: s.peer, Header: r.Header, Cancel: t.cancel, out: &httpOutlet{s, ex}})
}

// httpOutlet sends messages to the client of a legacy request over HTTP.
type httpOutlet struct {
	s  *session
	ex *exchange
}

// send sends a notification before the response. After the response it goes to the session's own stream,
// except for progress, which is meaningless then.
func (o *httpOutlet) send(raw []byte, k kind) {
	if !o.ex.send(raw, k) && k != progressKind {
		o.s.peer.notify(raw, k)
	}
}

func (o *httpOutlet) isConnected() bool { return o.ex.isConnected() }

func (o *httpOutlet) ask(ctx context.Context, method string, params json.RawMessage) (json.RawMessage, error) {
	return o.s.ask(ctx, o.ex.ask, method, params)
}

// newStreamID returns an unguessable id, because whoever knows it may read the stream again within its
// session.
func newStreamID() string { return newSessionID() }

// get opens a session's own stream, or continues a stream from the event after which it was lost.
func (h *HTTPServer) get(w http.ResponseWriter, r *http.Request) {
	if IsModern(firstValue(r.Header, headerVersion)) || firstValue(r.Header, headerSession) == "" {
		w.Header().Set("Allow", "POST")
		refuseHTTP(w, http.StatusMethodNotAllowed, "", &Error{Code: CodeInvalidRequest, Message: "GET needs the Mcp-Session-Id of a session; protocol version " + ModernVersions[0] + " uses POST only"})
		return
	}
	if !acceptsStream(r.Header) {
		refuseHTTP(w, http.StatusNotAcceptable, "", &Error{Code: CodeInvalidRequest, Message: "Accept must include text/event-stream"})
		return
	}
	owner, _ := h.opts.Identify(r)
	s := h.findSession(w, r, "", owner)
	if s == nil {
		return
	}
	name, from := "s", fromUnread
	if last := firstValue(r.Header, headerLastEvent); last != "" {
		var ok bool
		if name, from, ok = splitEventID(last); !ok {
			refuseHTTP(w, http.StatusBadRequest, "", &Error{Code: CodeInvalidRequest, Message: "Last-Event-ID is none of ours"})
			return
		}
	}
	stream := s.stream(name)
	if stream == nil {
		refuseHTTP(w, http.StatusNotFound, "", &Error{Code: CodeInvalidRequest, Message: "this stream has ended, or is not kept any more (http.resumeBytes)"})
		return
	}
	defer s.release()
	if !stream.ofSession && from != fromUnread && !stream.holdsAfter(from) {
		refuseHTTP(w, http.StatusNotFound, "", &Error{Code: CodeInvalidRequest, Message: "what came after this event is not kept any more (http.resumeBytes)"})
		return
	}
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	defer context.AfterFunc(s.ctx, cancel)()
	stream.serve(ctx, w, from)
}

func (h *HTTPServer) delete(w http.ResponseWriter, r *http.Request) {
	owner, _ := h.opts.Identify(r)
	if firstValue(r.Header, headerSession) == "" {
		w.Header().Set("Allow", "POST")
		refuseHTTP(w, http.StatusMethodNotAllowed, "", &Error{Code: CodeInvalidRequest, Message: "DELETE needs the Mcp-Session-Id of a session"})
		return
	}
	s := h.findSession(w, r, "", owner)
	if s == nil {
		return
	}
	h.mu.Lock()
	_, ok := h.sessions[s.peer.Session]
	delete(h.sessions, s.peer.Session)
	h.mu.Unlock()
	if ok {
		h.endSession(s)
	}
	w.WriteHeader(http.StatusNoContent)
}

// batch answers an array of messages, which versions up to 2025-03-26 allow.
func (h *HTTPServer) batch(w http.ResponseWriter, r *http.Request, body []byte) {
	msgs, bad, err := parseBatch(body)
	if err == nil && len(msgs) == 0 {
		err = &invalidError{Message: "expected messages in a batch"}
	}
	if err != nil {
		e, _ := frameAnswer(&FrameError{Err: err})
		refuseHTTP(w, http.StatusBadRequest, "", e)
		return
	}
	owner, _ := h.opts.Identify(r)
	s := h.findSession(w, r, "", owner)
	if s == nil {
		return
	}
	if s.peer.Version > version20250326 {
		refuseHTTP(w, http.StatusBadRequest, "", &Error{
			Code:    CodeInvalidRequest,
			Message: "expected one message, got an array; batches ended with protocol version " + version20250326,
		})
		return
	}
	answers := h.batchAnswers(r, s, msgs)
	for range bad {
		answers = append(answers, AppendError(nil, "", (&Error{Code: CodeInvalidRequest, Message: "not a JSON-RPC message"}).Object()))
	}
	if len(answers) == 0 {
		w.WriteHeader(http.StatusAccepted)
		return
	}
	writeJSON(w, http.StatusOK, slices.Concat([]byte("["), bytes.Join(answers, []byte(",")), []byte("]")))
}

// batchAnswers runs the requests of a batch in parallel and returns the responses in the order of the
// requests.
func (h *HTTPServer) batchAnswers(r *http.Request, s *session, msgs []Message) [][]byte {
	answers := make([][]byte, len(msgs))
	var wg sync.WaitGroup
	for n, m := range msgs {
		switch {
		case m.IsResponse():
			s.answered(m)
		case m.IsNotification():
			h.handleNotification(s, m)
		default:
			t, err := s.begin(r.Context(), m.ID) // before a cancellation in the same batch is handled
			wg.Go(func() { answers[n] = h.batchAnswer(r, s, m, t, err) })
		}
	}
	wg.Wait()
	return slices.DeleteFunc(answers, func(a []byte) bool { return a == nil })
}

// batchAnswer returns the response to the request of t, nil if it was cancelled. err says why the request
// could not begin.
func (h *HTTPServer) batchAnswer(r *http.Request, s *session, m Message, t runningRequest, err error) []byte {
	var result json.RawMessage
	if err == nil {
		result, err = h.answerBatched(r, s, m, t)
		if !t.done() {
			return nil
		}
	}
	return responseBytes(m.ID, result, err)
}

func (h *HTTPServer) answerBatched(r *http.Request, s *session, m Message, t runningRequest) (json.RawMessage, error) {
	if m.Method == "ping" {
		return json.RawMessage("{}"), nil
	}
	s.peer.open(h.svc)
	sessionStream := s.stream("s")
	if sessionStream == nil {
		return nil, ErrSessionClosed
	}
	defer s.release()
	return h.svc.Handle(t.ctx, &Incoming{Message: m, Peer: s.peer, Header: r.Header, Cancel: t.cancel, out: batchOutlet{s, sessionStream}})
}

// batchOutlet sends messages of a request in a batch over the session's own stream.
type batchOutlet struct {
	s   *session
	own *eventStream
}

func (o batchOutlet) send(raw []byte, k kind) { o.own.addSlowly(outgoing{head: raw}, k) }

func (o batchOutlet) isConnected() bool { return o.own.isRead() }

func (o batchOutlet) ask(ctx context.Context, method string, params json.RawMessage) (json.RawMessage, error) {
	return o.s.ask(ctx, o.own.ask, method, params)
}

func (s *session) touch() {
	s.mu.Lock()
	s.used = time.Now()
	s.mu.Unlock()
}

func (s *session) idleSince(t time.Time) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.busy == 0 && s.used.Before(t)
}

// keepStream keeps a request's stream for a client that may lose it.
func (s *session) keepStream(st *eventStream) {
	s.prune(time.Now())
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.finished {
		s.streams[st.id] = st
	}
}

// forgetStream forgets a stream that is no longer kept.
func (s *session) forgetStream(st *eventStream) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.streams, st.id)
}

// prune drops the streams of answered requests that no client resumed.
func (s *session) prune(now time.Time) {
	type kept struct {
		stream *eventStream
		at     time.Time
	}
	var list []kept
	s.mu.Lock()
	for _, e := range s.streams {
		if at, ok := e.unreadSince(); ok && !e.ofSession {
			list = append(list, kept{e, at})
		}
	}
	sorting.By(list, func(a, b kept) int { return b.at.Compare(a.at) })
	n := 0
	for n < len(list) && n < maxKept && now.Sub(list[n].at) <= keepStream {
		n++
	}
	for _, k := range list[n:] {
		delete(s.streams, k.stream.id)
	}
	s.mu.Unlock()
	for _, k := range list[n:] {
		k.stream.keeper.forget(k.stream)
	}
}

// stream returns the stream with this name for a reader, who must call release.
func (s *session) stream(name string) *eventStream {
	s.mu.Lock()
	defer s.mu.Unlock()
	st := s.streams[name]
	if st != nil {
		s.busy++
	}
	return st
}

func (s *session) release() {
	s.mu.Lock()
	s.busy--
	s.used = time.Now()
	s.mu.Unlock()
}
