package tool

import "encoding/json"

// Message is what a client sends outside of its calls: a notification or a request that MCP does not name.
// [Peer.Owns] decides which Source it is for.
type Message struct {
	Method string
	// Params are the parameters as received; nil if there are none.
	Params json.RawMessage
	// Request says that this is a request, which wants an answer.
	Request bool
	// Principal, Session and Profile describe the client, as in a [Request].
	Principal, Session, Profile string
}

// Session is a client that stays connected between its calls.
type Session struct {
	ID, Profile string
	// Caller reaches the client outside of its calls. It is valid until the session ends.
	Caller Caller
	// ListsOnly marks a client that hears of changed lists and nothing else; it has no Caller.
	ListsOnly bool
}
