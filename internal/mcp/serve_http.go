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

// HTTPServerOptions are the optional parts of an [HTTPServer].
type HTTPServerOptions struct {
	Logger *slog.Logger // nil discards
	// Identify says who sent a request: owner names the principal, to which sessions and
	// parked requests are bound, and key becomes Peer.Key. Nil: everybody is the same.
	Identify func(*http.Request) (owner string, key any)
	// Headers checks what a modern request's other headers say against its body, such as
	// Mcp-Param-*. An error becomes a header mismatch. Nil checks nothing.
	Headers func(in *Incoming) error
	// MaxBody bounds a request's body in bytes; default 16 MiB.
	MaxBody int64
	// MaxSessions bounds the legacy sessions open at once; default 1,024. One owner has three
	// quarters of them at most. Where one more would be too many, an idle one gives way.
	MaxSessions int
	// Idle ends a legacy session that nobody has used for so long; default 30 min.
	Idle time.Duration
	// Kept bounds, in bytes, what all sessions together keep of streams for clients that lose
	// their connection and come back; default 64 MiB. What is being read counts, and is not
	// dropped. Less than 0 keeps nothing that is not being read.
	Kept int64
	// Stall is how long a client may leave unread what is written to it, before its connection
	// is closed; default 1 min.
	Stall time.Duration
}

// HTTPServer answers MCP clients of both eras at one URL (Streamable HTTP). Who may come
// in is decided before it: it checks neither Host nor Origin nor tokens. Close ends all
// sessions.
type HTTPServer struct {
	svc  Service
	opts HTTPServerOptions
	log  *slog.Logger
	lot  lot
	slow slowly
	kept *keeper
	stop chan struct{}
	wg   sync.WaitGroup

	mu       sync.Mutex
	sessions map[string]*session
	closed   bool
}

// NewHTTPServer returns a handler for svc's URL.
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
	h.kept = newKeeper(max(h.opts.Kept, 0))
	if h.opts.Identify == nil {
		h.opts.Identify = func(*http.Request) (string, any) { return "", nil }
	}
	h.wg.Add(1)
	go h.sweep()
	return h
}

// ServeHTTP answers POST in both eras, and GET and DELETE in the legacy one.
func (h *HTTPServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch r.Method {
	case http.MethodPost:
		h.post(w, r)
	case http.MethodGet:
		h.get(w, r)
	case http.MethodDelete:
		h.delete(w, r)
	default:
		w.Header().Set("Allow", "GET, POST, DELETE")
		refuse(w, http.StatusMethodNotAllowed, "", &Error{Code: CodeInvalidRequest, Message: "method not allowed: use POST"})
	}
}

// refuse answers with an HTTP error status and a JSON-RPC error.
func refuse(w http.ResponseWriter, status int, id ID, err error) {
	writeJSON(w, status, AppendError(nil, id, errorObject(err)))
}

// netCounts is up to which size net/http counts an answer itself, which spares its header a value: what fits its buffer
// before the handler returns gets a Content-Length. A larger one would be sent in chunks.
const netCounts = 2 << 10

// writeJSON is the whole of an answer: its handler returns behind it.
func writeJSON(w http.ResponseWriter, status int, raw []byte) {
	head := w.Header()
	head["Content-Type"] = jsonType
	if len(raw) > netCounts {
		head["Content-Length"] = []string{strconv.Itoa(len(raw))}
	}
	w.WriteHeader(status)
	_, _ = w.Write(raw) // a client that has gone needs no answer
}

var jsonType = []string{"application/json"}

func (h *HTTPServer) post(w http.ResponseWriter, r *http.Request) {
	if ct := r.Header.Get("Content-Type"); ct != "application/json" {
		if media, _, err := mime.ParseMediaType(ct); err != nil || media != "application/json" {
			refuse(w, http.StatusUnsupportedMediaType, "", &Error{Code: CodeInvalidRequest, Message: fmt.Sprintf("Content-Type is %q, expected application/json", ct)})
			return
		}
	}
	body, err := readBody(r, h.opts.MaxBody)
	if err != nil {
		status := http.StatusBadRequest
		if errors.Is(err, errTooLarge) {
			status = http.StatusRequestEntityTooLarge
		}
		refuse(w, status, "", &Error{Code: CodeInvalidRequest, Message: err.Error()})
		return
	}
	body = tidy(body)
	if i := space(body, 0); i < len(body) && body[i] == '[' {
		h.batch(w, r, body)
		return
	}
	m, err := Parse(body)
	if err != nil {
		e, id := frameAnswer(&FrameError{Err: err})
		refuse(w, http.StatusBadRequest, id, e)
		return
	}
	owner, key := h.opts.Identify(r)
	if h.isModern(r, &m) {
		h.modern(w, r, m, owner, key)
		return
	}
	h.legacy(w, r, m, owner, key)
}

var errTooLarge = errors.New("the body is too large")

// readBody reads a body of known length into a buffer of just that size.
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

func first(h http.Header, key string) string {
	if v := h[key]; len(v) > 0 {
		return v[0]
	}
	return ""
}

func (h *HTTPServer) isModern(r *http.Request, m *Message) bool {
	if m.Method == "initialize" && !isModernRequest(m) && first(r.Header, headerVersion) < version20260728 {
		return false
	}
	return IsModern(first(r.Header, headerVersion)) || isModernRequest(m) || m.Method == "server/discover"
}

// modern answers one request of 2026-07-28, which needs nothing but itself.
func (h *HTTPServer) modern(w http.ResponseWriter, r *http.Request, m Message, owner string, key any) {
	if !m.IsRequest() {
		if m.IsNotification() {
			if m.Method != "notifications/cancelled" { // a request is taken back by closing its stream
				h.svc.Notified(&Peer{Era: Modern, Version: ModernVersions[0], Capabilities: json.RawMessage("{}"), Key: key}, m)
			}
			w.WriteHeader(http.StatusAccepted)
			return
		}
		refuse(w, http.StatusBadRequest, m.ID, &Error{Code: CodeInvalidRequest, Message: "responses are not sent in protocol version " + ModernVersions[0]})
		return
	}
	if err := checkVersionHeader(r.Header, &m); err != nil {
		refuse(w, http.StatusBadRequest, m.ID, err)
		return
	}
	peer, err := checkModern(&m)
	if err != nil {
		refuse(w, http.StatusBadRequest, m.ID, err)
		return
	}
	peer.Key = key
	in := &Incoming{Message: m, Peer: peer, Header: r.Header}
	if err := h.checkHeaders(in); err != nil {
		refuse(w, http.StatusBadRequest, m.ID, err)
		return
	}
	ex := &exchange{h: h, w: w, r: r}
	result, err := answerModern(r.Context(), &h.lot, h.svc, in, owner, func(raw []byte, k kind) { ex.send(raw, k) })
	ex.finish(modernStatus(err), answerTo(m.ID, result, err))
}

// modernStatus maps an error to the HTTP status that 2026-07-28 asks for.
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

func mismatch(format string, args ...any) error {
	return &Error{Code: codeHeaderMismatch, Message: "header mismatch: " + fmt.Sprintf(format, args...)}
}

// checkVersionHeader holds the version header against the body.
func checkVersionHeader(head http.Header, m *Message) error {
	version := GetString(m.Params, "_meta", MetaVersion)
	switch got := first(head, headerVersion); {
	case version == "":
		return nil // checkModern says what is missing
	case got == "":
		return mismatch("MCP-Protocol-Version is missing, the body says %q", version)
	case got != version:
		return mismatch("MCP-Protocol-Version is %q, the body says %q", got, version)
	}
	return nil
}

// checkHeaders holds the mirrored headers against the body (2026-07-28, Server Validation).
func (h *HTTPServer) checkHeaders(in *Incoming) error {
	if got := first(in.Header, headerMethod); got != in.Method {
		if got == "" {
			return mismatch("Mcp-Method is missing, the body says %q", in.Method)
		}
		return mismatch("Mcp-Method is %q, the body says %q", got, in.Method)
	}
	if name, ok := namedBy(&in.Message); ok {
		values := in.Header[headerName]
		if len(values) != 1 {
			return mismatch("Mcp-Name is missing, the body says %q", name)
		}
		got, err := decodeHeaderValue(values[0])
		if err != nil {
			return mismatch("Mcp-Name: %v", err)
		}
		if got != name {
			return mismatch("Mcp-Name is %q, the body says %q", got, name)
		}
	}
	if h.opts.Headers == nil {
		return nil
	}
	if err := h.opts.Headers(in); err != nil {
		return mismatch("%v", err)
	}
	return nil
}

// namedBy returns what a request is about, for the methods that mirror it in Mcp-Name.
func namedBy(m *Message) (string, bool) {
	switch m.Method {
	case "tools/call", "prompts/get":
		return GetString(m.Params, "name"), true
	case "resources/read":
		return GetString(m.Params, "uri"), true
	}
	return "", false
}

// exchange is the answer to one POST: a JSON object, or, once something has to go before
// the response, an SSE stream.
type exchange struct {
	h    *HTTPServer
	w    http.ResponseWriter
	r    *http.Request
	s    *session // of the legacy era; nil in the modern one
	task task     // of a request in s

	mu       sync.Mutex
	stream   *events       // set with started
	started  chan struct{} // closed when the writer of the stream has ended; nil before it begins
	answered bool          // the response is under way as JSON
	unwatch  func() bool   // stops to look for the end of the connection; nil where nobody does
}

// begin makes the answer a stream and reports whether it is one. Clients that do not accept
// one get no stream.
func (e *exchange) begin() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.started != nil {
		return true
	}
	if e.answered || !acceptsStream(e.r.Header) {
		return false
	}
	e.started, e.stream = make(chan struct{}), e.h.newEvents("")
	e.stream.reader = coming
	if e.s != nil {
		e.keep()
	}
	go func() { // ends with the stream or the connection
		defer close(e.started)
		e.stream.serve(e.r.Context(), e.w, 0)
	}()
	return true
}

// over reports whether the response is under way.
func (e *exchange) over() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.answered
}

// send puts a notification before the response and reports whether it did not come too late.
func (e *exchange) send(raw []byte, k kind) bool {
	return e.begin() && e.stream.addSlowly(outgoing{head: raw}, k)
}

// ask puts a question before the response.
func (e *exchange) ask(raw []byte) bool { return e.begin() && e.stream.ask(raw) }

func (h *HTTPServer) newEvents(id string) *events {
	s := newEvents(id)
	s.stall, s.log = h.opts.Stall, h.log
	return s
}

// heard reports whether the client still reads the answer: over the connection it asked on,
// or over the one it came back on.
func (e *exchange) heard() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.r != nil && e.r.Context().Err() == nil { // it is nil after the answer, when a caller may still be held
		return true
	}
	return e.stream != nil && e.stream.read()
}

// acceptsStream reports whether a client takes an SSE stream for an answer.
func acceptsStream(head http.Header) bool {
	for _, v := range head["Accept"] {
		if strings.Contains(v, "text/event-stream") || strings.Contains(v, "*/*") || strings.Contains(v, "text/*") {
			return true
		}
	}
	return false
}

// finish sends the response and returns when it is on its way; an empty one ends the exchange
// without a response.
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
			e.stream.add(m, must)
		}
		e.stream.end()
		<-started
	case m.head == nil:
		e.w.WriteHeader(status)
	case m.body == nil:
		writeJSON(e.w, status, m.head)
	default:
		e.large(status, m)
	}
	e.mu.Lock()
	e.w, e.r, e.s, e.task = nil, nil, nil, task{} // who still holds e finds answered set, and keeps nothing else alive
	e.mu.Unlock()
}

// large sends a response that may be more than a client takes at once.
func (e *exchange) large(status int, m outgoing) {
	head := e.w.Header()
	head["Content-Type"] = jsonType
	head["Content-Length"] = []string{strconv.Itoa(m.size())}
	e.w.WriteHeader(status)
	out := newSlowWriter(e.w, e.h.opts.Stall)
	defer out.done()
	if err := m.pieces(piece, out.write); errors.Is(err, os.ErrDeadlineExceeded) {
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
	h.slow.close()
	for _, s := range sessions {
		h.end(s)
	}
	h.lot.close(ErrSessionClosed)
	h.wg.Wait()
	return nil
}

// EndOf ends the sessions and the parked requests of an owner, as Identify names it. It waits for none of them.
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
		h.end(s)
	}
	h.lot.drop(owner, ErrSessionClosed)
}

// end closes a session that is no longer in the table.
func (h *HTTPServer) end(s *session) {
	s.peer.leave(h.svc)
	s.close(ErrSessionClosed)
}

// Sessions returns how many legacy sessions are open.
func (h *HTTPServer) Sessions() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.sessions)
}

// sweep ends sessions that nobody uses and drops streams that nobody came back for.
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
		h.end(s)
	}
}
