package tool

import (
	"context"
	"encoding/json"
	"time"
)

// Capability is something that a Caller may support.
type Capability string

// The capabilities. The first three are MCP client capabilities.
const (
	CanSample Capability = "sampling"
	CanElicit Capability = "elicitation"
	CanRoots  Capability = "roots"
	// TakesInputRequired means that the caller speaks MCP 2026-07-28 and handles an input_required result
	// itself.
	TakesInputRequired Capability = "input_required"
	// CanConfirm means that the caller answers [MethodConfirm]. It is one of our own programs, which asks the person
	// using it, or has their answer in advance.
	CanConfirm Capability = "collie/confirm"
	// SpeaksForPerson means that the gate accepts the caller's answer to an elicitation as that of a person.
	// A caller without it may still answer elicitations of servers.
	SpeaksForPerson Capability = "collie/speaks-for-person"
	// WantsProgress means that progress notifications reach somebody.
	WantsProgress Capability = "progress"
	// Attends means that the caller is reading what it is sent at the moment.
	Attends Capability = "attends"
	// TakesAnyRequest means that the caller accepts requests of any method and refuses unknown ones itself.
	TakesAnyRequest Capability = "requests"
)

// MethodConfirm asks a [Caller] with [CanConfirm] whether a dangerous call may run. Only the gate uses it;
// requests of servers never reach a caller under this method. Its parameters are a [Question], its result is
// {"confirm":true} or {"confirm":false}. A yes to a question with a Name repeats it: {"confirm":true,"name":"…"}.
// A yes may also name one of the grants that the question offers: {"confirm":true,"grant":"ID"}. If the person agreed
// before there was a question, for example with --yes, the result also has "beforehand":true, for the audit.
const MethodConfirm = "collie/confirm"

// Question is what a person is asked before a dangerous call runs.
type Question struct {
	Tool    string   `json:"tool"`
	Action  string   `json:"action"`
	Effect  string   `json:"effect"`            // what would happen, in one sentence
	Why     string   `json:"why,omitempty"`     // what a rule found in the arguments
	Targets []string `json:"targets,omitempty"` // by name and path
	Args    string   `json:"args"`              // as JSON, long values cut
	Risk    Risk     `json:"risk,omitempty"`    // how much harm it can do
	// Name is what the person must type to agree, because the possible harm is critical; empty if a yes is enough.
	Name string `json:"name,omitempty"`
	// Grants are permissions that the person may give instead of agreeing to this one call. Each covers this call.
	Grants []GrantOffer `json:"grants,omitempty"`
}

// GrantOffer is a permission offered to a person: calls of the same action that it covers then run without a question.
type GrantOffer struct {
	ID      string     `json:"id"`                // of this offer, for the answer to the question
	Scope   string     `json:"scope"`             // turn, session or always
	Kind    string     `json:"kind"`              // the kind of Within: notebook, subtree, path, host or command; any for all calls of the action
	Within  string     `json:"within,omitempty"`  // the notebook or document by its name, a folder, a host, a command
	Expires *time.Time `json:"expires,omitempty"` // missing if it is valid until revoked
}

// Caller reaches whoever made a Call: it carries requests and notifications of a server while the Call runs. If a Caller
// is nil or does not support a request, the request is declined. Implementations are safe for concurrent use and valid
// until the Call's Run has returned.
type Caller interface {
	// ID distinguishes callers of the same principal: a session id, or the name that a client without
	// sessions gives itself. If it is empty, only the principal is known. It may hold a session id, so it is
	// never shown or logged as is.
	ID() string
	Supports(Capability) bool
	// Capabilities is the MCP client capabilities object that the caller declared, {} if none.
	Capabilities() json.RawMessage
	// Notify sends a notification that belongs to the Call. Progress carries the caller's own token. It never
	// blocks for long: what cannot be delivered is dropped.
	Notify(ctx context.Context, method string, params json.RawMessage)
	// Ask sends a request and waits for its result. If the other side refuses, the error is a
	// [*ProtocolError].
	Ask(ctx context.Context, method string, params json.RawMessage) (json.RawMessage, error)
}
