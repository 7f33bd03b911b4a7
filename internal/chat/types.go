package chat

import (
	"time"

	"collie/internal/llm"
)

// Role says whose message it is. The root is above the first message of a session, is shown to nobody, and makes an edited
// first message a sibling like any other.
type Role string

// The roles. The values stand in the database and in exports.
const (
	RoleRoot      Role = "root"
	RoleUser      Role = "user"
	RoleAssistant Role = "assistant"
)

// Status says how a message came to be what it is.
type Status string

// The statuses. The values stand in the database and in exports.
const (
	StatusQueued      Status = "queued" // its turn has not begun
	StatusStreaming   Status = "streaming"
	StatusComplete    Status = "complete"
	StatusCancelled   Status = "cancelled"
	StatusError       Status = "error"
	StatusInterrupted Status = "interrupted" // the process ended
)

// TurnState says where a turn stands.
type TurnState string

// The states of a turn. The values stand in the database.
const (
	TurnQueued      TurnState = "queued"
	TurnRunning     TurnState = "running"
	TurnAwaiting    TurnState = "awaiting_approval"
	TurnDone        TurnState = "done"
	TurnError       TurnState = "error"
	TurnCancelled   TurnState = "cancelled"
	TurnInterrupted TurnState = "interrupted" // the process ended
)

// Ended reports whether nothing more comes of a turn.
func (s TurnState) Ended() bool {
	return s != TurnQueued && s != TurnRunning && s != TurnAwaiting
}

// partSteer is the kind of part that holds what a person said while the answer was being written. Models get it as a
// message of the user.
const partSteer llm.PartKind = "steer"

// Session is a conversation.
type Session struct {
	ID       string `json:"id"`
	Title    string `json:"title"`
	Config   Config `json:"config"`
	Pinned   bool   `json:"pinned,omitempty"`
	Archived bool   `json:"archived,omitempty"`
	// Revision goes up by one with each change of the tree or of what stands here.
	Revision int64     `json:"revision"`
	Forked   string    `json:"forkedFrom,omitempty"` // the message it is a copy up to
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
	Index    int        `json:"index"` // among its siblings, from 0
	Of       int        `json:"of"`    // how many siblings there are, with it
	Edited   bool       `json:"edited,omitempty"`
	Turn     string     `json:"turnId,omitempty"`
	Provider string     `json:"provider,omitempty"`
	Model    string     `json:"model,omitempty"`
	Finish   string     `json:"finishReason,omitempty"`
	Error    *Failure   `json:"error,omitempty"`
	Usage    llm.Usage  `json:"usage,omitzero"`
	Cost     int64      `json:"costMicros,omitempty"`
	Created  time.Time  `json:"createdAt"`
	Updated  time.Time  `json:"updatedAt"`
}

// Call is where a tool call of a message stands; its arguments and result are parts.
type Call struct {
	ID    string    `json:"callId"`
	Name  string    `json:"name"`
	State CallState `json:"state"`
	Step  int       `json:"step"`
	Took  int64     `json:"durationMs,omitempty"`
}

// Failure is what went wrong in a turn, for a person.
type Failure struct {
	Type    string `json:"type"`
	Code    string `json:"code,omitempty"`
	Message string `json:"message"`
	Hint    string `json:"hint,omitempty"`
}

// View is a session as it is opened.
type View struct {
	Session
	Root string `json:"rootId"` // the parent of a first message
	// Path is the active path, oldest first, without the root.
	Path []Message `json:"path"`
	// Turns have not ended: the one that runs, then those that wait for it.
	Turns []TurnRef `json:"turns,omitempty"`
}

// TurnRef names a turn.
type TurnRef struct {
	ID     string    `json:"turnId"`
	Answer string    `json:"assistantMessageId"`
	State  TurnState `json:"state"`
}

// Accepted is the answer to who asks for a turn.
type Accepted struct {
	Turn   string    `json:"turnId"`
	Answer string    `json:"assistantMessageId"`
	State  TurnState `json:"state"`
}

// Snapshot is all that a turn has come to so far.
type Snapshot struct {
	Turn     string     `json:"turnId"`
	Session  string     `json:"sessionId"`
	Seq      int64      `json:"seq"` // of the last event that is in it; 0 where it was read from the file
	State    TurnState  `json:"state"`
	Engine   string     `json:"engine"`
	Question string     `json:"userMessageId"`
	Answer   string     `json:"assistantMessageId"`
	Provider string     `json:"provider,omitempty"`
	Model    string     `json:"model,omitempty"`
	Parts    []llm.Part `json:"parts"`
	Calls    []Call     `json:"calls,omitempty"`
	Usage    llm.Usage  `json:"usage"`
	Cost     int64      `json:"costMicros,omitempty"`
	Steps    int        `json:"steps,omitempty"`
	Finish   string     `json:"finishReason,omitempty"`
	Error    *Failure   `json:"error,omitempty"`
}
