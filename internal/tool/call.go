package tool

import (
	"context"
	"encoding/json"
)

// This file has a request, the call that resolving makes of it, and its result.

// Request asks for one action, resource, prompt or completion, in the caller's terms. The face that receives it fills it
// in; it is not changed after that.
type Request struct {
	// ID is unique among all processes that share a home. If it is empty, the pipeline sets one.
	ID   string
	Kind Kind
	// Name is what the caller wrote: the tool name it sees, a resource URI or a prompt name; for a completion
	// the name or URI of its ref; for a request its method.
	Name string
	// Args are the arguments as the caller wrote them, always a JSON object. For a completion or a request
	// they are all its parameters.
	Args json.RawMessage
	// Params are all MCP parameters as received, for a Source that speaks MCP; nil if the caller does not
	// speak it.
	Params    json.RawMessage
	Origin    Origin
	Principal string // who is signed in: the id of a token or an OS user
	Client    string // the name and version that the client reports, for people
	Session   string // id of the client's session; never shown or logged as is
	RequestID string // id of the client's request as JSON text; empty if it has none
	Parent    string // id of the whole that it is a part of, such as a step of a turn; empty if there is none
	Profile   string // the view profile; empty is the default one
	// Caller reaches the one who made the Request. If it is nil, nobody can be asked or notified.
	Caller Caller
	// Taint names rules, separated by commas. It is set if the model that made the Request has read texts that try to
	// give it orders, which these rules detected.
	Taint string
	// Trace receives the steps of the call; usually nil.
	Trace Trace
	// Cancel ends the context that this call runs with, with a cause for [context.Cause]. It is nil if the
	// call has no context of its own. A caller of Cancel that knows the call has failed passes a [*Error],
	// which then becomes the error of the call.
	Cancel context.CancelCauseFunc
	// Retry says that the Request brings the answers that an earlier one was asked for (inputResponses of MCP
	// 2026-07-28).
	Retry bool
}

// Call is a resolved [Request]. It is never changed: a stage that adds something passes a copy on.
type Call struct {
	Request
	// Source runs the Call; Tool and Action are its own. Source is nil if the Request could not be resolved.
	// Action is nil in that case and for every kind but KindCall.
	Source Source
	Tool   string
	Action *Action
	// Target is the Source's own name for what is called: an action, a URI or a prompt.
	Target string
	// Args are the arguments of the action, after [Action.Adapt].
	Args json.RawMessage
	// Finding is what a stage found out about this call; nil if nothing.
	Finding *Finding
	// Review is a second model's opinion of the call; nil if no such model decides about it.
	Review *Review
	// Bound is set once a [Binder] has resolved the targets; it then runs in place of the Call.
	Bound Bound
}

// Review is a second model's opinion of one call.
type Review struct {
	Rule      string // the kind of risk, such as guardian.data_loss
	Reason    string // sentence fragment, only for the person
	Verdict   Risk   // ReviewFailed if there is none
	Threshold Risk   // verdicts from here on require a person's consent; empty means RiskHigh
}

// ReviewFailed is the verdict if the model was asked but gave none.
const ReviewFailed Risk = "failed"

// Finding is what a stage found out about one call, beyond the declaration of its action.
type Finding struct {
	Stage, Rule string
	Reason      string // in a sentence fragment
	Risk        Risk   // replaces the risk of the action
	Ask         bool   // a person must agree to the call
}

// Subject names what c calls, for the Subject of an [Error].
func (c *Call) Subject() string {
	if c.Action == nil || c.Action.Name == "" || c.Tool == "" {
		return c.Name
	}
	return c.Tool + "." + c.Action.Name
}

// HasEffects reports whether c may change something according to the declaration of its action.
func (c *Call) HasEffects() bool {
	return c.Kind == KindRequest || c.Kind == KindCall && (c.Action == nil || !c.Action.ReadOnly)
}

// Result is the outcome of a Call that has one.
type Result struct {
	// Raw is the MCP result object; for KindCall a CallToolResult.
	Raw json.RawMessage
	// IsError says that Raw reports a failure of the action.
	IsError bool
	// Type is the resultType in Raw (MCP 2026-07-28), empty if there is none. "input_required" means that
	// this Call is over and a new one will bring the answers.
	Type string
}
