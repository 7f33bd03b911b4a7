package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync/atomic"
)

// A Link carries requests to one MCP server and brings their responses back. It knows
// JSON-RPC and its transport, and nothing of handshakes, eras or sessions: that is
// [Client]'s work. Implementations are safe for concurrent use.
type Link interface {
	// Call sends req and waits for its response. When ctx ends first, Call cancels the
	// request at the server in the way of the transport and returns ctx's cause; a late
	// response is dropped. An error other than the context's is a [*LinkError]; a
	// JSON-RPC error from the server is not an error here but the response's Error.
	Call(ctx context.Context, req *Request) (Response, error)
	// Notify sends a notification; params may be nil.
	Notify(ctx context.Context, method string, params json.RawMessage) error
	// Agreed tells the link what the handshake found, before the first request after it.
	Agreed(version string)
	// Done is closed when the link can carry nothing more; Err then says why.
	Done() <-chan struct{}
	Err() error
	// Close ends the link, fails what is in flight with a LinkError and waits for the
	// link's goroutines. It may be called twice.
	Close() error
}

// Request is one JSON-RPC request on its way to a server.
type Request struct {
	Method string
	// Params is the whole params object, or nil.
	Params json.RawMessage
	// Name is the tool, prompt or URI the request is about, for the Mcp-Name header of
	// 2026-07-28; empty for other methods.
	Name string
	// Header holds further header fields in pairs, name then value, for transports that
	// have headers (Mcp-Param-* of 2026-07-28). Values are already encoded.
	Header []string
	// ID is set to the request's id on this link before it is sent; nil tells nobody.
	ID *atomic.Uint64
	// Owner is handed to the [Handler] with whatever arrives for this request alone.
	Owner any
	// NoCancel keeps the link from sending notifications/cancelled for this request, as
	// the protocol asks for initialize.
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

// Handler receives what a server sends of its own accord. A link calls Notification
// serially and in the order of arrival, before it delivers a response that came later;
// implementations must not block. Request is called on a goroutine of its own.
type Handler interface {
	// Notification: owner is the Owner of the request it came for, nil where the
	// transport gives no such link.
	Notification(m Message, owner any)
	// Request returns the result, or an error that becomes the JSON-RPC error: a
	// [*Error] as it is, anything else as an internal error. ctx ends when the server
	// cancels the request or the link closes.
	Request(ctx context.Context, m Message, owner any) (json.RawMessage, error)
}

// LinkError says that a link failed to carry a request.
type LinkError struct {
	// Sent reports whether any byte of the request may have reached the server.
	Sent bool
	// Status is the HTTP status that refused the request, 0 if none did.
	Status int
	// Header holds WWW-Authenticate and Retry-After of that answer, where present.
	Header map[string]string
	// Body is the beginning of that answer's body, for people.
	Body string
	// TooLarge says that a limit of size was passed: the request's or the response's.
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

// TakenBack is why a request ended that its sender cancelled. It is the cause of the context
// of such a request, and what a [Link] says to a server, or a session to its client, of a
// request that ends for it.
type TakenBack struct {
	// Params are those of the notifications/cancelled, as they came.
	Params json.RawMessage
}

// Error is the sender's reason, if there is one.
func (e *TakenBack) Error() string {
	if reason := GetString(e.Params, "reason"); reason != "" {
		return "the request was cancelled: " + reason
	}
	return "the request was cancelled"
}

// Unwrap makes it a [context.Canceled].
func (e *TakenBack) Unwrap() error { return context.Canceled }

// cancelParams are the parameters of the notifications/cancelled for a request of ours that
// ends for cause: those of the side that cancelled it, with our id, or cause as the reason.
func cancelParams(id []byte, cause error) json.RawMessage {
	if e, ok := errors.AsType[*TakenBack](cause); ok {
		return Edit(e.Params, Field{"requestId", id})
	}
	return Edit(nil, Field{"requestId", id}, Field{"reason", Quote(cause.Error())})
}
