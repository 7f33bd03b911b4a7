// Package llm talks to language models: one [Model] for all of them, in canonical messages and
// events that no wire format shows through. Folders below it hold a codec each; package keypool
// chooses among the keys of a provider.
//
// What a provider must get back as it sent it (signatures of reasoning, encrypted items) travels in
// [Part.Opaque] and goes to that provider alone.
package llm

import (
	"context"
	"encoding/json"
	"iter"
	"time"
)

// Role says who speaks in a [Message].
type Role string

// The roles. What tools answered is a message of role tool, whose parts are all of kind PartToolResult.
const (
	RoleUser      Role = "user"
	RoleAssistant Role = "assistant"
	RoleTool      Role = "tool"
)

// Message is one turn of speech on the way to a model.
type Message struct {
	Role  Role   `json:"role"`
	Parts []Part `json:"parts"`
}

// PartKind says which fields of a [Part] are set.
type PartKind string

// The kinds of part. The values stand in stored conversations and in exports.
const (
	PartText       PartKind = "text"
	PartReasoning  PartKind = "reasoning"
	PartToolCall   PartKind = "tool_call"
	PartToolResult PartKind = "tool_result"
	PartFile       PartKind = "file"
	PartNotice     PartKind = "notice" // for people; no model sees it
)

// Part is a piece of a message. It is stored as its JSON.
type Part struct {
	Kind PartKind `json:"type"`
	// Text of a text, a reasoning, a notice, or of a tool result as the model sees it.
	Text string `json:"text,omitempty"`
	// Call is the id that a tool call and its result share. It is ours: unique in the conversation,
	// whatever the provider called it.
	Call string `json:"callId,omitempty"`
	// Name of the tool that is called, as the catalog exposes it.
	Name string `json:"name,omitempty"`
	// Args of a tool call, as the model wrote them: usually a JSON object; text that does not parse
	// is kept, and is refused where it is used.
	Args string `json:"args,omitempty"`
	// IsError marks a tool result that reports a failure.
	IsError bool `json:"isError,omitempty"`
	// Files are the pictures of a tool result.
	Files []File `json:"files,omitempty"`
	// File of a part of that kind.
	File *File `json:"file,omitempty"`
	// Provider that Opaque came from and goes back to.
	Provider string          `json:"provider,omitempty"`
	Opaque   json.RawMessage `json:"opaque,omitempty"`
	// Code of a notice, for those who act on it.
	Code string `json:"code,omitempty"`
}

// File is an attachment. Data is filled from the blob on the way to a model, and is not stored.
type File struct {
	Name   string `json:"name,omitempty"`
	MIME   string `json:"mime"`
	SHA256 string `json:"sha256,omitempty"` // of the blob, in hex
	Size   int64  `json:"size,omitempty"`
	Data   []byte `json:"-"`
}

// Tool is a tool that a model may call.
type Tool struct {
	Name        string // as the catalog exposes it; a codec shortens it where the provider must have it shorter
	Description string
	Schema      json.RawMessage // JSON Schema of the arguments, as the catalog has it
}

// Effort says how much a model is to think before it answers.
type Effort string

// The efforts; the zero value leaves it to the provider.
const (
	EffortOff    Effort = "off"
	EffortLow    Effort = "low"
	EffortMedium Effort = "medium"
	EffortHigh   Effort = "high"
)

// Request asks a model for the next message.
type Request struct {
	Model       string // as the provider calls it
	System      string
	Messages    []Message
	Tools       []Tool // in the order in which the model is shown them
	NoTools     bool   // Tools stand there for what was called before; none may be called now
	MaxOutput   int    // tokens; 0: the provider's default, or the model's limit where one must be given
	Temperature *float64
	Effort      Effort
	Stop        []string
	// Session keeps requests of one conversation at one key; empty for those without.
	Session string
}

// EventKind says which fields of an [Event] are set.
type EventKind string

// The kinds of event. A stream is start, then any of the others, then exactly one finish or an error.
const (
	EventStart     EventKind = "start"          // Model, ID, Provider, Key
	EventText      EventKind = "text"           // Index, Text
	EventReasoning EventKind = "reasoning"      // Index, Text, Opaque
	EventToolStart EventKind = "toolcall.start" // Index, ID, Name
	EventToolArgs  EventKind = "toolcall.args"  // Index, Text
	EventToolEnd   EventKind = "toolcall.end"   // Index, ID, Name, Args, Opaque
	EventUsage     EventKind = "usage"          // Usage, which replaces an earlier one
	EventRetry     EventKind = "retry"          // Retry; comes before anything of the answer
	EventNotice    EventKind = "notice"         // Text, Code
	EventFinish    EventKind = "finish"         // Finish
)

// Event is a piece of an answer. Index counts the parts of the answer from 0, so that pieces of
// one part have one Index.
type Event struct {
	Kind  EventKind
	Index int
	ID    string
	Name  string
	Model string
	// Provider and Key say who answers: the provider's name, and the label of the key.
	Provider, Key string
	Text          string
	Args          string
	Code          string
	Opaque        json.RawMessage
	Usage         Usage
	Finish        Finish
	Retry         Retry
}

// Finish says why an answer ended.
type Finish string

// The reasons.
const (
	FinishStop      Finish = "stop"
	FinishToolCalls Finish = "tool_calls"
	FinishLength    Finish = "length"
	FinishFiltered  Finish = "content_filter"
	FinishRefusal   Finish = "refusal"
)

// Usage is what an answer cost, in tokens. Input counts all of them, of which Cached were read from
// the provider's cache and CacheWrite written to it; Output counts all, of which Reasoning were thoughts.
type Usage struct {
	Input      int64 `json:"input"`
	Cached     int64 `json:"cached,omitempty"`
	CacheWrite int64 `json:"cacheWrite,omitempty"`
	Output     int64 `json:"output"`
	Reasoning  int64 `json:"reasoning,omitempty"`
}

// Retry says that a request goes out again.
type Retry struct {
	Attempt int           `json:"attempt"`
	Wait    time.Duration `json:"-"`
	Reason  Class         `json:"reason"`
	From    string        `json:"from"` // labels of keys
	To      string        `json:"to"`
	Model   string        `json:"model,omitempty"` // where it goes to another model
}

// Model streams answers. It is safe for concurrent use.
type Model interface {
	// Stream yields the events of one answer. An error ends the sequence; it is an [*Error], and what
	// was yielded before it stands. Stopping early, or ending ctx, closes the connection.
	Stream(ctx context.Context, r *Request) iter.Seq2[Event, error]
}

// Class says what kind of failure a provider reported, which decides about keys and retries.
type Class string

// The classes.
const (
	ClassRateLimit   Class = "rate_limit"
	ClassOverloaded  Class = "overloaded"
	ClassQuota       Class = "quota"
	ClassCredential  Class = "credential"
	ClassPermission  Class = "permission"
	ClassModelAccess Class = "model_access"
	ClassTransient   Class = "transient"
	ClassRegion      Class = "region"
	ClassCaller      Class = "caller"  // the request is at fault
	ClassContext     Class = "context" // it is too long for the model
	ClassNoTools     Class = "no_tools"
	ClassCanceled    Class = "cancelled"
	ClassAllCooling  Class = "all_keys_cooling"
	ClassNoProvider  Class = "no_provider"
	ClassUnknown     Class = "unknown"
)

// Error is a failure of a request to a model.
type Error struct {
	Class    Class
	Provider string
	Model    string
	Key      string // label; never the key
	Status   int    // of HTTP; 0 where there was none
	Code     string // as the provider names it
	Message  string // as the provider says it, without secrets
	Hint     string // what to try
	// Scoped says that the failure is about the model and not about the whole key.
	Scoped bool
	// RetryAfter is what the provider asked for; 0 says nothing.
	RetryAfter time.Duration
	Err        error
}

// Error reads "provider, model: message".
func (e *Error) Error() string {
	where := e.Provider
	if e.Model != "" {
		where += ", " + e.Model
	}
	text := e.Message
	if text == "" && e.Err != nil {
		text = e.Err.Error()
	}
	if text == "" {
		text = string(e.Class)
	}
	if where == "" {
		return text
	}
	return where + ": " + text
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }
