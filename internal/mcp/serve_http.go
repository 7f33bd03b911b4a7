package mcp

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"mime"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"
)

// This file serves clients of both eras over HTTP. Requests of 2026-07-28 are answered here, those of sessions in
// serve_legacy.go.

// HTTPServerOptions are the optional parts of an [HTTPServer].
type HTTPServerOptions struct {
	Logger *slog.Logger // nil discards
	// Identify says who sent a request. owner is the principal that sessions and parked requests are bound
	// to; key becomes Peer.Key. If Identify is nil, all clients are the same principal.
	Identify func(*http.Request) (owner string, key any)
	// Headers compares the other headers of a modern request, such as Mcp-Param-*, with its body. Its error
	// is reported as a header mismatch. Nil checks nothing.
	Headers func(in *Incoming) error
	// MaxBody bounds the body of a request in bytes; default 16 MiB.
	MaxBody int64
	// MaxSessions bounds the legacy sessions open at once; default 1,024. One owner has at most three
	// quarters of them. If the limit is reached, an idle session is closed.
	MaxSessions int
	// Idle is how long a legacy session may be unused before it is closed; default 30 min.
	Idle time.Duration
	// Kept bounds the bytes that all sessions together keep of streams, for clients that lose their
	// connection and come back; default 64 MiB. Streams that are being read count but are not dropped. A
	// negative value keeps only streams that are being read.
	Kept int64
	// Stall is how long a client may read nothing of what is being sent before its connection is closed;
	// default 1 min.
	Stall time.Duration
}

// HTTPServer answers MCP clients of both eras at one URL (Streamable HTTP). It checks neither Host nor Origin
// nor tokens; that has to happen before. The caller calls Close, which ends all sessions.
type HTTPServer struct {
	svc           Service
	opts          HTTPServerOptions
	log           *slog.Logger
	lot           parkingLot
	slowExchanges slowExchanges
	replays       *replayBudget
	stop          chan struct{}
	wg            sync.WaitGroup

	mu       sync.Mutex
	sessions map[string]*session
	closed   bool
}

// NewHTTPServer returns a handler that serves svc.
func NewHTTPServer(svc Service, opts *HTTPServerOptions) *HTTPServer {
	h := &HTTPServer{svc: svc, sessions: map[string]*session{}, stop: make(chan struct{})}
	if opts != nil {
		h.opts = *opts
	}
	h.log = cmp.Or(h.opts.Logger, slog.New(slog.DiscardHandler))
	h.opts.MaxBody = cmp.Or(max(h.opts.MaxBody, 0), 16<<20)
	h.opts.MaxSessions = cmp.Or(max(h.opts.MaxSessions, 0), 1024)
	h.opts.Idle = cmp.Or(max(h.opts.Idle, 0), 30*time.Minute)
	h.opts.Kept = cmp.Or(h.opts.Kept, defaultKept)
	h.opts.Stall = cmp.Or(max(h.opts.Stall, 0), defaultStall)
	h.replays = newReplayBudget(max(h.opts.Kept, 0))
	if h.opts.Identify == nil {
		h.opts.Identify = func(*http.Request) (string, any) { return "", nil }
	}
	h.wg.Add(1)
	go h.sweep()
	return h
}

// ServeHTTP handles POST in both eras, and GET and DELETE in the legacy era.
func (h *HTTPServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch r.Method {
	case http.MethodPost:
		h.servePost(w, r)
	case http.MethodGet:
		h.get(w, r)
	case http.MethodDelete:
		h.delete(w, r)
	default:
		w.Header().Set("Allow", "GET, POST, DELETE")
		refuseHTTP(w, http.StatusMethodNotAllowed, "", &Error{Code: CodeInvalidRequest, Message: "method not allowed: use POST"})
	}
}

// refuseHTTP answers with an HTTP error status and a JSON-RPC error.
func refuseHTTP(w http.ResponseWriter, status int, id ID, err error) {
	writeJSON(w, status, AppendError(nil, id, errorObject(err)))
}

// autoLengthLimit is the size in bytes up to which net/http sets the Content-Length itself, which saves a header
// value. A larger answer without the header would be sent in chunks.
const autoLengthLimit = 2 << 10

// writeJSON writes a whole answer; the handler returns right after it.
func writeJSON(w http.ResponseWriter, status int, raw []byte) {
	head := w.Header()
	head["Content-Type"] = jsonType
	if len(raw) > autoLengthLimit {
		head["Content-Length"] = []string{strconv.Itoa(len(raw))}
	}
	w.WriteHeader(status)
	_, _ = w.Write(raw) // an error means that the client has gone
}

var jsonType = []string{"application/json"}

func (h *HTTPServer) servePost(w http.ResponseWriter, r *http.Request) {
	if ct := r.Header.Get("Content-Type"); ct != "application/json" {
		if media, _, err := mime.ParseMediaType(ct); err != nil || media != "application/json" {
			refuseHTTP(w, http.StatusUnsupportedMediaType, "", &Error{Code: CodeInvalidRequest, Message: fmt.Sprintf("Content-Type is %q, expected application/json", ct)})
			return
		}
	}
	body, err := readBody(r, h.opts.MaxBody)
	if err != nil {
		status := http.StatusBadRequest
		if errors.Is(err, errTooLarge) {
			status = http.StatusRequestEntityTooLarge
		}
		refuseHTTP(w, status, "", &Error{Code: CodeInvalidRequest, Message: err.Error()})
		return
	}
	body = tidy(body)
	if i := skipSpace(body, 0); i < len(body) && body[i] == '[' {
		h.batch(w, r, body)
		return
	}
	m, err := Parse(body)
	if err != nil {
		e, id := frameAnswer(&FrameError{Err: err})
		refuseHTTP(w, http.StatusBadRequest, id, e)
		return
	}
	owner, key := h.opts.Identify(r)
	if h.isModern(r, &m) {
		h.serveModern(w, r, m, owner, key)
		return
	}
	h.serveLegacy(w, r, m, owner, key)
}

var errTooLarge = errors.New("the body is too large")

// readBody reads a body. If its length is known, the buffer has exactly that size.
func readBody(r *http.Request, limit int64) ([]byte, error) {
	if r.ContentLength > limit {
		return nil, fmt.Errorf("%w: %d bytes, at most %d are allowed", errTooLarge, r.ContentLength, limit)
	}
	if r.ContentLength >= 0 {
		body := make([]byte, r.ContentLength)
		if _, err := io.ReadFull(r.Body, body); err != nil {
			return nil, fmt.Errorf("read the body: %w", err)
		}
		return body, nil
	}
	body, err := io.ReadAll(io.LimitReader(r.Body, limit+1))
	if err != nil {
		return nil, fmt.Errorf("read the body: %w", err)
	}
	if int64(len(body)) > limit {
		return nil, fmt.Errorf("%w: at most %d bytes are allowed", errTooLarge, limit)
	}
	return body, nil
}

func firstValue(h http.Header, key string) string {
	if v := h[key]; len(v) > 0 {
		return v[0]
	}
	return ""
}

func (h *HTTPServer) isModern(r *http.Request, m *Message) bool {
	if m.Method == "initialize" && !isModernRequest(m) && firstValue(r.Header, headerVersion) < version20260728 {
		return false
	}
	return IsModern(firstValue(r.Header, headerVersion)) || isModernRequest(m) || m.Method == "server/discover"
}

// serveModern answers one request of 2026-07-28, which needs no session.
func (h *HTTPServer) serveModern(w http.ResponseWriter, r *http.Request, m Message, owner string, key any) {
	if !m.IsRequest() {
		if m.IsNotification() {
			if m.Method != "notifications/cancelled" { // over HTTP a modern client cancels a request by closing its stream instead
				h.svc.Notified(&Peer{Era: Modern, Version: ModernVersions[0], Capabilities: json.RawMessage("{}"), Key: key}, m)
			}
			w.WriteHeader(http.StatusAccepted)
			return
		}
		refuseHTTP(w, http.StatusBadRequest, m.ID, &Error{Code: CodeInvalidRequest, Message: "responses are not sent in protocol version " + ModernVersions[0]})
		return
	}
	if err := checkVersionHeader(r.Header, &m); err != nil {
		refuseHTTP(w, http.StatusBadRequest, m.ID, err)
		return
	}
	peer, err := checkModern(&m)
	if err != nil {
		refuseHTTP(w, http.StatusBadRequest, m.ID, err)
		return
	}
	peer.Key = key
	in := &Incoming{Message: m, Peer: peer, Header: r.Header}
	if err := h.checkHeaders(in); err != nil {
		refuseHTTP(w, http.StatusBadRequest, m.ID, err)
		return
	}
	ex := &exchange{h: h, w: w, r: r}
	result, err := answerModern(r.Context(), &h.lot, h.svc, in, owner, func(raw []byte, k kind) { ex.send(raw, k) })
	ex.finish(modernStatus(err), answerTo(m.ID, result, err))
}

// modernStatus maps an error to the HTTP status that 2026-07-28 requires.
func modernStatus(err error) int {
	e, ok := errors.AsType[RawError](err)
	if !ok {
		return http.StatusOK
	}
	var v Error
	if json.Unmarshal(e.Object(), &v) != nil {
		return http.StatusOK
	}
	switch v.Code {
	case CodeMethodNotFound:
		return http.StatusNotFound
	case codeHeaderMismatch, codeMissingCapability, codeVersion:
		return http.StatusBadRequest
	}
	return http.StatusOK
}

func mismatchError(format string, args ...any) error {
	return &Error{Code: codeHeaderMismatch, Message: "header mismatch: " + fmt.Sprintf(format, args...)}
}

// checkVersionHeader compares the version header with the body.
func checkVersionHeader(head http.Header, m *Message) error {
	version := GetString(m.Params, "_meta", MetaVersion)
	switch got := firstValue(head, headerVersion); {
	case version == "":
		return nil // checkModern reports what is missing
	case got == "":
		return mismatchError("MCP-Protocol-Version is missing, the body says %q", version)
	case got != version:
		return mismatchError("MCP-Protocol-Version is %q, the body says %q", got, version)
	}
	return nil
}

// checkHeaders compares the headers that repeat parts of the body with the body (2026-07-28, Server
// Validation).
func (h *HTTPServer) checkHeaders(in *Incoming) error {
	if got := firstValue(in.Header, headerMethod); got != in.Method {
		if got == "" {
			return mismatchError("Mcp-Method is missing, the body says %q", in.Method)
		}
		return mismatchError("Mcp-Method is %q, the body says %q", got, in.Method)
	}
	if name, ok := subjectOf(&in.Message); ok {
		values := in.Header[headerName]
		if len(values) != 1 {
			return mismatchError("Mcp-Name is missing, the body says %q", name)
		}
		got, err := decodeHeaderValue(values[0])
		if err != nil {
			return mismatchError("Mcp-Name: %v", err)
		}
		if got != name {
			return mismatchError("Mcp-Name is %q, the body says %q", got, name)
		}
	}
	if h.opts.Headers == nil {
		return nil
	}
	if err := h.opts.Headers(in); err != nil {
		return mismatchError("%v", err)
	}
	return nil
}

// subjectOf returns the subject of a request whose method has the Mcp-Name header.
func subjectOf(m *Message) (string, bool) {
	switch m.Method {
	case "tools/call", "prompts/get":
		return GetString(m.Params, "name"), true
	case "resources/read":
		return GetString(m.Params, "uri"), true
	}
	return "", false
}

// exchange is the answer to one POST: a JSON object or, once something has to be sent before the response, an
// SSE stream.
type exchange struct {
	h    *HTTPServer
	w    http.ResponseWriter
	r    *http.Request
	s    *session       // legacy session; nil in the modern era
	task runningRequest // of the request in s

	mu       sync.Mutex
	stream   *eventStream  // set together with started
	started  chan struct{} // closed when the stream's writer has ended; nil before it begins
	answered bool          // the response is being sent as JSON
	unwatch  func() bool   // stops watching for the end of the connection; nil if nobody watches
}

// beginStream turns the answer into a stream and reports whether it is one. It is not if the client does not accept
// streams.
func (e *exchange) beginStream() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.started != nil {
		return true
	}
	if e.answered || !acceptsStream(e.r.Header) {
		return false
	}
	e.started, e.stream = make(chan struct{}), e.h.newEvents("")
	e.stream.reader = readerComing
	if e.s != nil {
		e.makeResumable()
	}
	go func() { // ends with the stream or the connection
		defer close(e.started)
		e.stream.serve(e.r.Context(), e.w, 0)
	}()
	return true
}

// isAnswered reports whether the response is being sent or was sent.
func (e *exchange) isAnswered() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.answered
}

// send sends a notification before the response. It returns false if the response is already on its way.
func (e *exchange) send(raw []byte, k kind) bool {
	return e.beginStream() && e.stream.addSlowly(outgoing{head: raw}, k)
}

// ask sends a request to the client before the response.
func (e *exchange) ask(raw []byte) bool { return e.beginStream() && e.stream.ask(raw) }

func (h *HTTPServer) newEvents(id string) *eventStream {
	s := newEvents(id)
	s.stall, s.log = h.opts.Stall, h.log
	return s
}

// isConnected reports whether the client still reads the answer, over the original connection or one with which it
// came back.
func (e *exchange) isConnected() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.r != nil && e.r.Context().Err() == nil { // r is nil after the answer, when code may still hold the caller
		return true
	}
	return e.stream != nil && e.stream.isRead()
}

// acceptsStream reports whether a client accepts an SSE stream as an answer.
func acceptsStream(head http.Header) bool {
	for _, v := range head["Accept"] {
		if strings.Contains(v, "text/event-stream") || strings.Contains(v, "*/*") || strings.Contains(v, "text/*") {
			return true
		}
	}
	return false
}

// finish sends the response and returns when it is on its way. An empty m ends the exchange without a
// response.
func (e *exchange) finish(status int, m outgoing) {
	e.mu.Lock()
	e.answered = true
	started := e.started
	if e.unwatch != nil {
		e.unwatch()
	}
	e.mu.Unlock()
	switch {
	case started != nil:
		if m.head != nil {
			e.stream.add(m, mustArrive)
		}
		e.stream.end()
		<-started
	case m.head == nil:
		e.w.WriteHeader(status)
	case m.body == nil:
		writeJSON(e.w, status, m.head)
	default:
		e.sendLarge(status, m)
	}
	e.mu.Lock()
	e.w, e.r, e.s, e.task = nil, nil, nil, runningRequest{} // code that still holds e sees answered, and e keeps nothing else in memory
	e.mu.Unlock()
}

// sendLarge sends a response that may be larger than a client takes at once.
func (e *exchange) sendLarge(status int, m outgoing) {
	head := e.w.Header()
	head["Content-Type"] = jsonType
	head["Content-Length"] = []string{strconv.Itoa(m.size())}
	e.w.WriteHeader(status)
	out := newSlowWriter(e.w, e.h.opts.Stall)
	defer out.done()
	if err := m.eachPiece(writeSize, out.write); errors.Is(err, os.ErrDeadlineExceeded) {
		e.h.log.Warn("a client does not read its answer: its connection was closed", "waited", e.h.opts.Stall)
	}
}

// Close ends all sessions and parked requests and waits for them.
func (h *HTTPServer) Close() error {
	h.mu.Lock()
	if h.closed {
		h.mu.Unlock()
		return nil
	}
	h.closed = true
	sessions := h.sessions
	h.sessions = map[string]*session{}
	h.mu.Unlock()
	close(h.stop)
	h.slowExchanges.close()
	for _, s := range sessions {
		h.endSession(s)
	}
	h.lot.close(ErrSessionClosed)
	h.wg.Wait()
	return nil
}

// EndOf ends all sessions and parked requests of an owner, as Identify names it. It does not wait for them.
func (h *HTTPServer) EndOf(owner string) {
	var theirs []*session
	h.mu.Lock()
	for id, s := range h.sessions {
		if s.owner == owner {
			theirs = append(theirs, s)
			delete(h.sessions, id)
		}
	}
	h.mu.Unlock()
	for _, s := range theirs {
		h.endSession(s)
	}
	h.lot.endAllOf(owner, ErrSessionClosed)
}

// endSession closes a session that was already removed from the table.
func (h *HTTPServer) endSession(s *session) {
	s.peer.leave(h.svc)
	s.close(ErrSessionClosed)
}

// Sessions returns the number of open legacy sessions.
func (h *HTTPServer) Sessions() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.sessions)
}

// sweep ends unused sessions and drops streams that no client resumed.
func (h *HTTPServer) sweep() {
	defer h.wg.Done()
	tick := time.NewTicker(min(time.Minute, h.opts.Idle))
	defer tick.Stop()
	for {
		select {
		case <-h.stop:
			return
		case now := <-tick.C:
			h.sweepAt(now)
		}
	}
}

func (h *HTTPServer) sweepAt(now time.Time) {
	var idle []*session
	h.mu.Lock()
	for id, s := range h.sessions {
		if s.idleSince(now.Add(-h.opts.Idle)) {
			idle = append(idle, s)
			delete(h.sessions, id)
			continue
		}
		s.prune(now)
	}
	h.mu.Unlock()
	for _, s := range idle {
		h.endSession(s)
	}
}
