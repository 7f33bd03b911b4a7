package chat

import (
	"time"

	"collie/internal/llm"
)

// This file has the types that all operations share: sessions, messages, turns, calls and their states.

// Role says who wrote a message. The root precedes the first message of a session and is never shown; it makes an
// edited first message a sibling like any other.
type Role string

// The roles. The values are stored in the database and in exports.
const (
	RoleRoot      Role = "root"
	RoleUser      Role = "user"
	RoleAssistant Role = "assistant"
)

// Status is the state of a message.
type Status string

// The statuses. The values are stored in the database and in exports.
const (
	StatusQueued      Status = "queued" // its turn has not begun
	StatusStreaming   Status = "streaming"
	StatusComplete    Status = "complete"
	StatusCancelled   Status = "cancelled"
	StatusError       Status = "error"
	StatusInterrupted Status = "interrupted" // the process ended
)

// TurnState is the state of a turn.
type TurnState string

// The states of a turn. The values are stored in the database.
const (
	TurnQueued      TurnState = "queued"
	TurnRunning     TurnState = "running"
	TurnAwaiting    TurnState = "awaiting_approval"
	TurnDone        TurnState = "done"
	TurnError       TurnState = "error"
	TurnCancelled   TurnState = "cancelled"
	TurnInterrupted TurnState = "interrupted" // the process ended
)

// Ended reports whether s is final.
func (s TurnState) Ended() bool {
	return s != TurnQueued && s != TurnRunning && s != TurnAwaiting
}

// partSteer is the kind of a part with what a person said while the answer was being written. Models get it as a user
// message.
const partSteer llm.PartKind = "steer"

// Session is a conversation.
type Session struct {
	ID       string `json:"id"`
	Title    string `json:"title"`
	Config   Config `json:"config"`
	Pinned   bool   `json:"pinned,omitempty"`
	Archived bool   `json:"archived,omitempty"`
	// Revision increases with each change of the session or its tree.
	Revision int64     `json:"revision"`
	Forked   string    `json:"forkedFrom,omitempty"` // id of the message at which it was forked
	Created  time.Time `json:"createdAt"`
	Updated  time.Time `json:"updatedAt"`
}

// Message is a node of the tree.
type Message struct {
	ID       string     `json:"id"`
	Parent   string     `json:"parentId"`
	Role     Role       `json:"role"`
	Status   Status     `json:"status"`
	Parts    []llm.Part `json:"parts"`
	Calls    []Call     `json:"calls,omitempty"`
	Index    int        `json:"index"` // position among its siblings, from 0
	Of       int        `json:"of"`    // number of siblings, including itself
	Edited   bool       `json:"edited,omitempty"`
	Turn     string     `json:"turnId,omitempty"`
	Provider string     `json:"provider,omitempty"`
	Model    string     `json:"model,omitempty"`
	OwnTools bool       `json:"ownTools,omitempty"` // it was written by a program that runs its own tools
	Finish   string     `json:"finishReason,omitempty"`
	Error    *Failure   `json:"error,omitempty"`
	Usage    Usage      `json:"usage,omitzero"`
	Cost     int64      `json:"costMicros,omitempty"`
	Created  time.Time  `json:"createdAt"`
	Updated  time.Time  `json:"updatedAt"`
}

// Usage is the usage of an answer: the tokens of all its steps, and the size of the context in the last
// one.
type Usage struct {
	llm.Usage
	ContextUsed int64 `json:"contextUsed,omitempty"` // tokens that the last step read and wrote
	ContextSize int64 `json:"contextSize,omitempty"` // size of the model's context in tokens; 0 if unknown
}

// Call is the state of a tool call in a message; arguments and result are parts of the message.
type Call struct {
	ID    string    `json:"callId"`
	Name  string    `json:"name"`
	State CallState `json:"state"`
	Step  int       `json:"step"`
	Took  int64     `json:"durationMs,omitempty"`
}

// Failure describes for a person why a turn failed.
type Failure struct {
	Type    string `json:"type"`
	Code    string `json:"code,omitempty"`
	Message string `json:"message"`
	Hint    string `json:"hint,omitempty"`
}

// View is a session with its active path.
type View struct {
	Session
	Root string `json:"rootId"` // parent of a first message
	// Path is the active path, oldest first, without the root.
	Path []Message `json:"path"`
	// Turns are the turns that have not ended: the running one, then those in the queue.
	Turns []TurnRef `json:"turns,omitempty"`
}

// TurnRef identifies a turn.
type TurnRef struct {
	ID     string    `json:"turnId"`
	Answer string    `json:"assistantMessageId"`
	State  TurnState `json:"state"`
}

// Accepted is the answer to a request that begins a turn.
type Accepted struct {
	Turn   string    `json:"turnId"`
	Answer string    `json:"assistantMessageId"`
	State  TurnState `json:"state"`
}

// Snapshot is the current state of a turn.
type Snapshot struct {
	Turn     string     `json:"turnId"`
	Session  string     `json:"sessionId"`
	Seq      int64      `json:"seq"` // number of the last event included; 0 if read from the database
	State    TurnState  `json:"state"`
	Engine   string     `json:"engine"`
	OwnTools bool       `json:"ownTools,omitempty"` // it is answered by a program that runs its own tools
	Question string     `json:"userMessageId"`
	Answer   string     `json:"assistantMessageId"`
	Provider string     `json:"provider,omitempty"`
	Model    string     `json:"model,omitempty"`
	Parts    []llm.Part `json:"parts"`
	Calls    []Call     `json:"calls,omitempty"`
	Usage    Usage      `json:"usage"`
	Cost     int64      `json:"costMicros,omitempty"`
	Steps    int        `json:"steps,omitempty"`
	Finish   string     `json:"finishReason,omitempty"`
	Error    *Failure   `json:"error,omitempty"`
}
