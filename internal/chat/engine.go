package chat

import (
	"context"
	"encoding/json"
	"strings"

	"collie/internal/llm"
)

// This file defines the interface between conversations and the engines that answer turns.

// Engine answers turns. It knows neither SQL nor HTTP: everything it does reaches the conversation through a [Sink]. It
// is safe for concurrent use.
type Engine interface {
	// Run answers t and returns how that ended. Text, calls and results of the answer are emitted to s. An error
	// becomes the error of the turn: an [*llm.Error], an error of a tool, or the cause of ctx.
	Run(ctx context.Context, t *Turn, s Sink) (Outcome, error)
}

// EngineCLI is the name of the engine whose turns another program answers, with tools of its own beside ours. The provider
// of its answers is EngineCLI, a slash and the name of the program. No provider of models can have such a name.
const EngineCLI = "cli"

// hasOwnTools reports whether a provider is a program with tools of its own.
func hasOwnTools(provider string) bool { return strings.HasPrefix(provider, EngineCLI+"/") }

// Turn is what an engine has to answer. It is immutable.
type Turn struct {
	ID        string
	Session   string
	Assistant string // id of the message being written
	// Config is the configuration at the time the turn began.
	Config Config
	// Path is the conversation up to and including the message to answer, oldest first. Summaries replace what they
	// cover.
	Path []llm.Message
	// Question is the message to answer alone. In Path, what the person wrote before without getting an answer is one
	// message with it. The content of a text file is a text with File set.
	Question []llm.Part
	// Partial are the existing parts of an answer that is continued; nil for a new answer.
	Partial []llm.Part
	// Person means that a person typed the text in a program of ours, so that slash commands count as their own
	// actions.
	Person bool
	// Principal is the signed-in user.
	Principal string
	// Ask reaches the person of the turn; nil if nobody can be asked.
	Ask Asker
}

// Asker carries questions to the person of a turn: those of the gate and those of servers. Method and parameters are
// those of [collie/internal/tool.Caller].
type Asker interface {
	Ask(ctx context.Context, method string, params json.RawMessage) (json.RawMessage, error)
}

// Outcome is how a turn ended.
type Outcome struct {
	Finish llm.Finish
	Usage  llm.Usage // of all steps
	Steps  int
}

// Sink receives what an engine does. It is safe for concurrent use and never waits for subscribers.
type Sink interface {
	// Emit adds to the answer. Events are passed on as the model sent them, with the step they belong to; part indexes
	// of different steps are independent.
	Emit(step int, e llm.Event)
	// Proposed announces a call whose arguments are complete. The Sink redacts secrets in them.
	Proposed(step int, call ToolCall)
	// Executing records durably that the call is about to run. If it fails, the call must not run.
	Executing(ctx context.Context, call string) error
	// Progress reports progress of a running call. It may be dropped, and is if done is not finite; a total that is not
	// finite counts as unknown.
	Progress(call string, done, total float64, message string)
	// Answered adds the result of a call; only the first result counts. state is CallDone, CallFailed, CallRefused,
	// CallSkipped or CallUnknown.
	Answered(call string, state CallState, result llm.Part, took int64)
	// Asking records durably that the call waits for a person; asked ends that.
	Asking(ctx context.Context, call string) (asked func(), err error)
	// Notice shows the person something that models do not see.
	Notice(code, text string)
	// Summarize stores a summary that replaces, for models, all of the path but the last keep messages, and returns the
	// new path.
	Summarize(ctx context.Context, keep int, summary string) ([]llm.Message, error)
	// Steered returns the person's messages since the turn began, each once, to be added after this
	// step.
	Steered(step int) []llm.Message
	// Usage adds the usage of one step. cost is in millionths of a dollar, negative if the price is unknown.
	Usage(provider, model, key string, u llm.Usage, cost int64)
	// Context reports the tokens of the last step, and the model's context size, 0 if unknown. Both are published with
	// the next Usage.
	Context(used, size int64)
	// Blob stores data for the session and returns a handle. Engines store results of which the model sees only a part.
	Blob(ctx context.Context, name, mime string, data []byte) (handle string, err error)
	// ReadBlob returns the data with this handle if it belongs to this session, else an error of kind NotFound.
	ReadBlob(ctx context.Context, handle string) ([]byte, error)
}

// ToolCall is a call that a model, or a person by a slash command, asks for.
type ToolCall struct {
	ID   string // of the call; see [llm.Part]
	Name string // as the catalog exposes it
	Args json.RawMessage
}

// CallState is the state of a tool call. The values are stored in the database.
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
	CallUnknown   CallState = "unknown" // may have taken effect
)
