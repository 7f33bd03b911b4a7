package tool

import "encoding/json"

// Message is what a client says beside its calls: a notification, or, to find out whose it is,
// a request that MCP does not name.
type Message struct {
	Method string
	// Params are the parameters as they came; nil if there are none.
	Params json.RawMessage
	// Request says that an answer is wanted.
	Request bool
	// Principal, Session and Profile are those of the client, as in a [Request].
	Principal, Session, Profile string
}

// Session is a client that stays connected between its calls.
type Session struct {
	ID, Profile string
	// Caller asks and tells the client outside of its calls. It is valid until the session ends.
	Caller Caller
	// ListsOnly is a client that is told of changed lists, and of nothing else; it has no Caller.
	ListsOnly bool
}
