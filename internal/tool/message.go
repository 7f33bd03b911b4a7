package tool

import "encoding/json"

// Message is what a client says beside its Calls: a notification, or, to find out whose it is,
// a request that MCP does not name.
type Message struct {
	Method string
	// Params are the parameters as they came; nil if there are none.
	Params json.RawMessage
	// Request says that an answer is wanted.
	Request bool
	// Principal, Session and Profile are those of the client, as in a [Call].
	Principal, Session, Profile string
}

// Session is a client that stays connected between its Calls.
type Session struct {
	ID, Profile string
	// Caller asks and tells the client outside of its Calls. It is valid until the session ends.
	Caller Caller
}

// Messenger is a Source that has the other side of a conversation: what clients say beside their
// Calls may be for it. Its methods are safe for concurrent use and do not block.
type Messenger interface {
	// Listens reports whether there is somebody to say anything to.
	Listens() bool
	// Owns reports whether m is about something that its sender has under way with the Source:
	// a Call, a question, a task.
	Owns(m *Message) bool
	// Tell takes a notification. It starts nothing; what cannot be delivered is dropped.
	Tell(m *Message)
	// Meet says which sessions there are that see the Source, whenever that changes. The list
	// belongs to the Source from then on.
	Meet(sessions []*Session)
}
