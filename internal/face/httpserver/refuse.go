package httpserver

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
)

// This file writes the error answers of the listener: what was wrong, and what to try.

// refusal is an error answer of the server.
type refusal struct {
	Status  int    `json:"-"`
	Type    string `json:"type"`
	Message string `json:"message"`
	Hint    string `json:"hint,omitempty"`
	// challenge is the value of WWW-Authenticate. wait is the value of Retry-After.
	challenge string
	wait      time.Duration
}

// drainTimeout is how long to wait for the rest of a refused request's body.
const drainTimeout = 5 * time.Second

func (f *refusal) write(w http.ResponseWriter, r *http.Request) {
	if r.ContentLength != 0 {
		// The server reads the rest of the body to keep the connection; a stranger must not block it by
		// sending nothing. An error means that deadlines are not supported; then there is no bound.
		_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(drainTimeout))
	}
	h := w.Header()
	if f.challenge != "" {
		h.Set("WWW-Authenticate", f.challenge)
	}
	if f.wait > 0 {
		h.Set("Retry-After", strconv.FormatInt(int64((f.wait+time.Second-1)/time.Second), 10))
	}
	writeJSON(w, f.Status, map[string]*refusal{"error": f})
}

// writeJSON writes v as JSON. Encoding fails only for a value of a caller.
func writeJSON(w http.ResponseWriter, status int, v any) {
	body, err := json.Marshal(v)
	if err != nil {
		status, body = http.StatusInternalServerError, []byte(`{"error":{"type":"internal_error","message":"the answer does not encode"}}`)
	}
	h := w.Header()
	h.Set("Content-Type", "application/json")
	h.Set("Cache-Control", "no-store")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(status)
	_, _ = w.Write(body) // an error means that the caller has disconnected
}

func (a *checks) refusePath(path string) *refusal {
	return &refusal{
		Status: http.StatusNotFound, Type: "not_found",
		Message: fmt.Sprintf("there is nothing at %q", shorten(path)),
		Hint:    "what there is: " + strings.Join(append(slices.Clone(a.routes), "/healthz", "/readyz"), ", "),
	}
}

func refuseHost(host string) *refusal {
	return &refusal{
		Status: http.StatusForbidden, Type: "forbidden_host",
		Message: fmt.Sprintf("the Host header %q is not one of this gateway's names", shorten(host)),
		Hint:    "call it as 127.0.0.1 or localhost with its own port, or add the name to the allowed hosts in the configuration",
	}
}

func refuseOrigin(value string) *refusal {
	return &refusal{
		Status: http.StatusForbidden, Type: "forbidden_origin",
		Message: fmt.Sprintf("pages of origin %q may not call this gateway", shorten(value)),
		Hint:    "add the origin to the allowed origins in the configuration if you trust it",
	}
}

func refuseGuessing(wait time.Duration) *refusal {
	return &refusal{
		Status: http.StatusTooManyRequests, Type: "rate_limited",
		Message: "too many wrong tokens from this address",
		Hint:    "wait for as long as Retry-After says, then send the right token",
		wait:    wait,
	}
}

func refuseSize(limit int64) *refusal {
	return &refusal{
		Status: http.StatusRequestEntityTooLarge, Type: "request_too_large",
		Message: fmt.Sprintf("the request body is over the limit of %d bytes", limit),
		Hint:    "send less, or raise the limit in the configuration",
	}
}

func refuseMethod() *refusal {
	return &refusal{
		Status: http.StatusMethodNotAllowed, Type: "method_not_allowed",
		Message: "this page is only read", Hint: "use GET",
	}
}

const challenge = `Bearer realm="collie"`

// refuseMissing refuses a request without an Authorization header.
func (a *checks) refuseMissing(r *http.Request, local bool) *refusal {
	f := &refusal{
		Status: http.StatusUnauthorized, Type: "unauthorized", challenge: challenge,
		Message: "a token is needed", Hint: a.tokenHint(local),
	}
	if q := r.URL.Query(); q.Has("token") || q.Has("access_token") {
		f.Message = "a token is needed, and one in the URL does not count: URLs are logged"
	}
	return f
}

// refuseWrong refuses a request with an invalid token (RFC 6750, section 3.1).
func (a *checks) refuseWrong(local bool) *refusal {
	return &refusal{
		Status: http.StatusUnauthorized, Type: "unauthorized", challenge: challenge + `, error="invalid_token"`,
		Message: "the token is not valid", Hint: a.tokenHint(local),
	}
}

func (a *checks) tokenHint(local bool) string {
	const send = `send the header "Authorization: Bearer TOKEN"`
	if local { // only local callers are told where the token is
		return send + "; the token is in the file token of the state folder, which collie config path --all shows"
	}
	return send
}

// shorten cuts a stranger's text so that it does not fill the answer.
func shorten(s string) string {
	const limit = 200
	if runes := []rune(s); len(runes) > limit {
		return string(runes[:limit]) + "…"
	}
	return s
}

// badEntry is an invalid entry in [Options].
type badEntry struct{ list, entry, hint string }

func (e *badEntry) Error() string { return fmt.Sprintf("%q in the %s does not fit", e.entry, e.list) }
