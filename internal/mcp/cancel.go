package mcp

import (
	"context"
	"encoding/json"
	"errors"
)

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
