package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync/atomic"
)

// This file defines a Link: requests to one server, whatever the transport, and how they fail.

// A Link carries requests to one MCP server and returns their responses. It knows JSON-RPC and its transport,
// but no handshakes, eras or sessions: those are the job of [Client]. Implementations are safe for concurrent
// use.
type Link interface {
	// Call sends req and waits for its response. A JSON-RPC error from the server is the response's Error,
	// not an error of Call. If ctx ends first, Call cancels the request at the server, as the transport does
	// that, and returns ctx's cause; a late response is dropped. Any other error is a [*LinkError].
	Call(ctx context.Context, req *Request) (Response, error)
	// Notify sends a notification; params may be nil.
	Notify(ctx context.Context, method string, params json.RawMessage) error
	// Agreed tells the link which version the handshake agreed on. Call it before the next request.
	Agreed(version string)
	// Done is closed when the link can carry nothing more. Err then says why.
	Done() <-chan struct{}
	Err() error
	// Close ends the link, fails all requests in flight with a LinkError and waits for the link's goroutines.
	// It may be called twice.
	Close() error
}

// Request is one JSON-RPC request to a server.
type Request struct {
	Method string
	// Params is the whole params object, or nil.
	Params json.RawMessage
	// Name is the tool, prompt or URI that the request is about, for the Mcp-Name header of 2026-07-28; empty
	// for methods without one.
	Name string
	// Header holds further header fields as alternating names and values, for transports that have headers
	// (Mcp-Param-* of 2026-07-28). The values are already encoded.
	Header []string
	// ID, if not nil, is set to the request's id on this link before it is sent.
	ID *atomic.Uint64
	// Owner is passed to the [Handler] with whatever belongs to this request alone.
	Owner any
	// NoCancel keeps the link from sending notifications/cancelled for this request, which the protocol
	// forbids for initialize.
	NoCancel bool
}

func (r *Request) tellID(id uint64) {
	if r.ID != nil {
		r.ID.Store(id)
	}
}

// Response is the answer to a Request: exactly one of Result and Error is set.
type Response struct {
	Result json.RawMessage
	// Error is the whole JSON-RPC error object.
	Error json.RawMessage
	// IsError and ResultType repeat these two fields of Result.
	IsError    bool
	ResultType string
}

// Handler receives the requests and notifications of a server. A link calls Notification one at a time, in
// the order of arrival, and before it delivers a later response; Notification must not block. Request is
// called on its own goroutine.
type Handler interface {
	// Notification handles m. owner is the Owner of the request it belongs to; nil if the transport cannot
	// tell.
	Notification(m Message, owner any)
	// Request returns the result or an error for the server. A [*Error] is sent unchanged, any other as an
	// internal error. ctx ends when the server cancels the request or the link closes.
	Request(ctx context.Context, m Message, owner any) (json.RawMessage, error)
}

// LinkError says that a link failed to carry a request.
type LinkError struct {
	// Sent reports whether any byte of the request may have reached the server. If so, it may have been
	// executed.
	Sent bool
	// Status is the HTTP status of a refusal, 0 if there was none.
	Status int
	// Header holds WWW-Authenticate and Retry-After of the refusal, if present.
	Header map[string]string
	// Body is the beginning of the refusal's body, for people to read.
	Body string
	// TooLarge says that the request or the response exceeds a size limit.
	TooLarge bool
	Err      error
}

// Error names the status and the cause.
func (e *LinkError) Error() string {
	switch {
	case e.Status != 0 && e.Body != "":
		return fmt.Sprintf("http status %d: %s", e.Status, e.Body)
	case e.Status != 0:
		return fmt.Sprintf("http status %d", e.Status)
	case e.Err != nil:
		return e.Err.Error()
	}
	return "link closed"
}

// Unwrap returns the cause.
func (e *LinkError) Unwrap() error { return e.Err }

// TakenBack says that a request ended because its sender cancelled it. It is the cause of the request's
// context. A [Link] or a session passes its Params on to the other side.
type TakenBack struct {
	// Params are the params of notifications/cancelled, unchanged.
	Params json.RawMessage
}

// Error returns the sender's reason, if there is one.
func (e *TakenBack) Error() string {
	if reason := GetString(e.Params, "reason"); reason != "" {
		return "the request was cancelled: " + reason
	}
	return "the request was cancelled"
}

// Unwrap makes a TakenBack match [context.Canceled].
func (e *TakenBack) Unwrap() error { return context.Canceled }

// cancelParams returns the params of notifications/cancelled for our request id. If cause is a [*TakenBack],
// they are its Params with our id; otherwise cause is the reason.
func cancelParams(id []byte, cause error) json.RawMessage {
	if e, ok := errors.AsType[*TakenBack](cause); ok {
		return Edit(e.Params, Field{"requestId", id})
	}
	return Edit(nil, Field{"requestId", id}, Field{"reason", Quote(cause.Error())})
}
