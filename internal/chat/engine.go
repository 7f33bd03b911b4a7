package chat

import (
	"context"
	"encoding/json"

	"collie/internal/llm"
)

// Engine answers turns. Engines know no SQL and no HTTP: what they do reaches the conversation
// through a [Sink] alone. They are safe for concurrent use.
type Engine interface {
	// Run answers t and returns how that ended. The text, calls and results of the answer are what was
	// emitted. An error is what the turn ends with: an [*llm.Error], an error of a tool, or the cause of ctx.
	Run(ctx context.Context, t *Turn, s Sink) (Outcome, error)
}

// Turn is what an engine is asked to answer. Nobody changes it.
type Turn struct {
	ID        string
	Session   string
	Assistant string // the message that is being written
	// Config is what held when the turn began.
	Config Config
	// Path is the conversation up to and with the message that is answered, oldest first; summaries
	// stand in place of what they cover.
	Path []llm.Message
	// Partial are the parts of an answer that is continued; nil for a new one.
	Partial []llm.Part
	// Person says that the text was typed by a person at a surface of theirs, whose slash commands
	// count as their own deed.
	Person bool
	// Principal is who is signed in.
	Principal string
	// Ask is the way to the person of the turn; nil where there is none.
	Ask Asker
}

// Asker carries questions of a turn to the person in front of it: those of the gate, and those of
// servers. Its method and parameters are those of collie/internal/tool.Caller.Ask.
type Asker interface {
	Ask(ctx context.Context, method string, params json.RawMessage) (json.RawMessage, error)
}

// Outcome is how a turn ended.
type Outcome struct {
	Finish llm.Finish
	Usage  llm.Usage // of all steps
	Steps  int
}

// Sink takes what an engine does. It is safe for concurrent use, and never blocks on who listens.
type Sink interface {
	// Emit adds to the answer. The indexes of parts continue over the steps of a turn: an event of a
	// model is given as it came, with the step it belongs to.
	Emit(step int, e llm.Event)
	// Proposed says that call will be made: the arguments are whole. Secrets in them are the Sink's to cut.
	Proposed(step int, call ToolCall)
	// Executing makes durable that call is about to run. It is not to run where an error is returned.
	Executing(ctx context.Context, call string) error
	// Progress tells of a call that runs; what cannot be delivered is dropped.
	Progress(call string, done, total float64, message string)
	// Answered adds the result of a call, once for each. state is CallDone, CallFailed, CallRefused, CallSkipped
	// or CallUnknown.
	Answered(call string, state CallState, result llm.Part, took int64)
	// Asking says that the call waits for a person, and durably so; asked says that it waits no more.
	Asking(ctx context.Context, call string) (asked func(), err error)
	// Notice tells the person something that no model is told.
	Notice(code, text string)
	// Summarize stores a summary that stands, for models, in place of all of the path but its last keep
	// messages, and returns the path that is left.
	Summarize(ctx context.Context, keep int, summary string) ([]llm.Message, error)
	// Steered returns what the person has said since the turn began, once, for the step behind this one.
	Steered(step int) []llm.Message
	// Usage adds what one step has used. cost is in millionths of a dollar, less than 0 where no price is known.
	Usage(provider, model, key string, u llm.Usage, cost int64)
	// Blob keeps data for the session and returns its handle, for what a model gets only part of.
	Blob(ctx context.Context, name, mime string, data []byte) (handle string, err error)
	// ReadBlob returns what Blob kept for this session under handle; that of another session is not found.
	ReadBlob(ctx context.Context, handle string) ([]byte, error)
}

// ToolCall is a call that a model, or a person by a slash command, asks for.
type ToolCall struct {
	ID   string // of the part
	Name string // as the catalog exposes it
	Args json.RawMessage
}

// CallState is where a tool call stands. The values stand in the database.
type CallState string

// The states of a call.
const (
	CallProposed  CallState = "proposed"
	CallAwaiting  CallState = "awaiting"
	CallExecuting CallState = "executing"
	CallDone      CallState = "done"
	CallFailed    CallState = "failed"
	CallRefused   CallState = "refused"
	CallSkipped   CallState = "skipped" // never began
	CallUnknown   CallState = "unknown" // may have happened
)
