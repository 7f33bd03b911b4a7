package mcptest

import (
	"bytes"
	"net/http"
	"strconv"
	"sync"
)

// This file answers one HTTP request, as JSON or as an event stream.

// Header values, created once, because the benchmarks measure against this server.
var (
	jsonType   = []string{"application/json"}
	streamType = []string{"text/event-stream"}
	noCache    = []string{"no-cache"}
	noBuffer   = []string{"no"}
)

// exchange is the outlet of one HTTP request. It answers with plain JSON if there is only the response, else
// with an event stream.
type exchange struct {
	w      http.ResponseWriter
	modern bool
	stream bool // use an event stream even for a response alone

	mu        sync.Mutex
	admitting bool // the request's form is being checked: errors concern that
	opened    bool // the event stream was opened
	ended     bool // nothing more may be written
	replied   bool
}

func (e *exchange) sendResponse(code int, parts ...[]byte) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.ended {
		return
	}
	e.ended, e.replied = true, true
	status := e.statusOf(code)
	switch {
	case e.opened, e.stream && status == http.StatusOK && len(parts) > 0:
		e.openLocked()
		e.eventLocked(parts)
	case len(parts) == 0:
		e.w.WriteHeader(http.StatusBadRequest)
	default:
		e.writeJSON(status, parts)
	}
}

// statusOf returns the HTTP status for a JSON-RPC error code (2026-07-28, Streamable HTTP).
func (e *exchange) statusOf(code int) int {
	switch {
	case !e.modern || code == 0:
		return http.StatusOK
	case code == codeMethodNotFound && e.admitting:
		return http.StatusNotFound
	case e.admitting, code == codeMissingCapability:
		return http.StatusBadRequest
	default:
		return http.StatusOK
	}
}

// writeJSON answers with a JSON body and no stream.
func (e *exchange) writeJSON(status int, parts [][]byte) {
	n := 0
	for _, part := range parts {
		n += len(part)
	}
	h := e.w.Header()
	h["Content-Type"] = jsonType
	if n > 2048 { // below that net/http sets the Content-Length itself
		h["Content-Length"] = []string{strconv.Itoa(n)}
	}
	if status != http.StatusOK {
		e.w.WriteHeader(status)
	}
	for _, part := range parts {
		_, _ = e.w.Write(part)
	}
}

func (e *exchange) sendEvent(parts ...[]byte) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if !e.ended {
		e.openLocked()
		e.eventLocked(parts)
	}
}

func (e *exchange) sendRaw(b []byte) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if !e.ended {
		e.openLocked()
		_, _ = e.w.Write(b)
		e.flush()
	}
}

// open starts the event stream.
func (e *exchange) open() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.openLocked()
}

func (e *exchange) openLocked() {
	if e.opened {
		return
	}
	e.opened = true
	h := e.w.Header()
	h["Content-Type"] = streamType
	h["Cache-Control"] = noCache
	h["X-Accel-Buffering"] = noBuffer
	e.w.WriteHeader(http.StatusOK)
	e.flush()
}

// eventLocked writes one event. Each line of the message becomes a data line; the client joins them with line
// feeds.
func (e *exchange) eventLocked(parts [][]byte) {
	_, _ = e.w.Write([]byte("event: message\ndata: "))
	for _, part := range parts {
		if bytes.ContainsAny(part, "\r\n") {
			part = bytes.ReplaceAll(part, []byte("\r"), nil)
			part = bytes.ReplaceAll(part, []byte("\n"), []byte("\ndata: "))
		}
		_, _ = e.w.Write(part)
	}
	_, _ = e.w.Write([]byte("\n\n"))
	e.flush()
}

func (e *exchange) flush() {
	if f, ok := e.w.(http.Flusher); ok {
		f.Flush()
	}
}

// endAdmission says that the request's form is right: errors from now on are those of its handler.
func (e *exchange) endAdmission() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.admitting = false
}

func (e *exchange) hasReplied() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.replied
}

// finish ends the exchange; its ResponseWriter is not valid after that. If there was no response, the client
// sees a stream that ended without one.
func (e *exchange) finish() {
	e.mu.Lock()
	defer e.mu.Unlock()
	if !e.ended {
		e.openLocked()
	}
	e.ended = true
}

// refusePost refuses a message before an exchange exists.
func refusePost(w http.ResponseWriter, status, code int, text string) {
	w.Header()["Content-Type"] = jsonType
	w.WriteHeader(status)
	_, _ = w.Write([]byte(`{"jsonrpc":"2.0","id":null,"error":{"code":` + strconv.Itoa(code) + `,"message":` + quote(text) + `}}`))
}
