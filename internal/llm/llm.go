// Package llm defines one [Model] interface for all language models, with canonical messages and events that hide every
// provider's wire format. The packages below it hold one codec per API; package keypool chooses among the keys of a
// provider.
//
// Data that a provider must get back unchanged (signatures of reasoning, encrypted items) travels in [Part.Opaque] and
// is sent to that provider only.
package llm

import (
	"context"
	"encoding/json"
	"iter"
	"time"
)

// Role says who speaks in a [Message].
type Role string

// The roles. Tool results form a message of role tool, whose parts are all of kind PartToolResult.
const (
	RoleUser      Role = "user"
	RoleAssistant Role = "assistant"
	RoleTool      Role = "tool"
)

// Message is one message of a conversation as a model gets it.
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
	// Text of a text, reasoning or notice part, or of a tool result as the model sees it.
	Text string `json:"text,omitempty"`
	// Call is the id that a tool call and its result share. Collie assigns it, so it is unique in the conversation whatever
	// the provider calls it.
	Call string `json:"callId,omitempty"`
	// Name of the tool that is called, as the catalog exposes it.
	Name string `json:"name,omitempty"`
	// Args are the arguments of a tool call as the model wrote them, usually a JSON object. Text that does not parse is
	// kept here, and refused when the call is made.
	Args string `json:"args,omitempty"`
	// IsError marks a tool result that reports a failure.
	IsError bool `json:"isError,omitempty"`
	// Files are the pictures of a tool result.
	Files []File `json:"files,omitempty"`
	// File is set in a part of kind PartFile, and in a text that is the content of an attached file.
	File *File `json:"file,omitempty"`
	// Provider is where Opaque came from and goes back to.
	Provider string          `json:"provider,omitempty"`
	Opaque   json.RawMessage `json:"opaque,omitempty"`
	// Code of a notice, for programs that react to it; CodeSummary in a text that stands for earlier messages.
	Code string `json:"code,omitempty"`
}

// CodeSummary marks a text that a model wrote to stand for earlier messages of the conversation.
const CodeSummary = "summary"

// IsTyped reports whether a part of a message of the user is text that the user wrote, and not an attached file or a summary.
func (p *Part) IsTyped() bool { return p.Kind == PartText && p.File == nil && p.Code == "" }

// File is an attachment. Data is loaded from the blob before a request and is never stored.
type File struct {
	Name   string `json:"name,omitempty"`
	MIME   string `json:"mime"`
	SHA256 string `json:"sha256,omitempty"` // of the blob, in hex
	Size   int64  `json:"size,omitempty"`
	Data   []byte `json:"-"`
}

// Tool is a tool that a model may call.
type Tool struct {
	Name        string // as the catalog exposes it; package transform shortens it for providers with a limit
	Description string
	Schema      json.RawMessage // JSON Schema of the arguments, as the catalog has it
}

// Effort says how much a model should think before it answers.
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
	NoTools     bool   // Tools are listed because earlier calls refer to them, but the model must not call any now
	MaxOutput   int    // tokens; 0 means the provider's default, or the model's limit where the API requires a number
	Temperature *float64
	Effort      Effort
	Stop        []string
	// Session keeps the requests of one conversation on one key; empty for requests outside any conversation.
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

// Event is a piece of an answer. Index counts the parts of the answer from 0; all pieces of one part share an Index.
type Event struct {
	Kind  EventKind
	Index int
	ID    string
	Name  string
	Model string
	// Provider and Key say who answers: the provider's name and the label of the key.
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

// Usage counts the tokens of one answer. Input is the total, of which Cached were read from the provider's cache and
// CacheWrite were written to it; Output is the total, of which Reasoning were spent on thinking.
type Usage struct {
	Input      int64 `json:"input"`
	Cached     int64 `json:"cached,omitempty"`
	CacheWrite int64 `json:"cacheWrite,omitempty"`
	Output     int64 `json:"output"`
	Reasoning  int64 `json:"reasoning,omitempty"`
}

// Add adds the tokens of another answer.
func (u *Usage) Add(other Usage) {
	u.Input += other.Input
	u.Cached += other.Cached
	u.CacheWrite += other.CacheWrite
	u.Output += other.Output
	u.Reasoning += other.Reasoning
}

// Retry announces that a request is sent again.
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
	// Stream yields the events of one answer. An error ends the sequence and is always an [*Error]; events that came
	// before it remain valid. Leaving the loop early, or ending ctx, closes the connection.
	Stream(ctx context.Context, r *Request) iter.Seq2[Event, error]
}

// Class is the kind of failure a provider reported. It decides whether to retry, and with which key.
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
	Key      string // label of the key, never the key itself
	Status   int    // HTTP status; 0 if there was no response
	Code     string // in the provider's words
	Message  string // in the provider's words, with secrets removed
	Hint     string // what to try
	// Scoped means that the failure concerns this model only, not everything the key is used for.
	Scoped bool
	// RetryAfter is how long the provider asked to wait; 0 if it did not say.
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
