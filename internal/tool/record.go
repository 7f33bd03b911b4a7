package tool

import (
	"context"
	"encoding/json"
	"errors"
	"time"
)

// This file has what the audit and subscribers are told of a call.

// Outcome says how a Call ended, in the words of the audit.
type Outcome string

// The outcomes.
const (
	OK        Outcome = "ok"
	Failed    Outcome = "error"     // the action or its server failed
	Refused   Outcome = "refused"   // the pipeline refused it; nothing ran
	Cancelled Outcome = "cancelled" // the caller cancelled it
	NotKnown  Outcome = "unknown"   // it may have taken effect
)

// OutcomeOf classifies the return values of a Runner.
func OutcomeOf(r Result, err error) Outcome {
	if err == nil {
		if r.IsError {
			return Failed
		}
		return OK
	}
	if e, ok := errors.AsType[*Error](err); ok {
		switch {
		case e.OutcomeUnknown:
			return NotKnown
		case e.Kind == Canceled:
			return Cancelled
		case e.Kind.Refused():
			return Refused
		}
	}
	if errors.Is(err, context.Canceled) {
		return Cancelled
	}
	return Failed
}

// Record is an entry of the audit: the start or result of a Call, a decision about it, a change that a person made, or
// what the audit says about itself. Kind is "<kind>.start" or "<kind>.result" with the kind of the Call, or one of the other
// kinds that the audit's package comment lists.
type Record struct {
	Time      time.Time
	Kind      string
	CallID    string
	Parent    string
	Origin    Origin
	Principal string
	Client    string
	Session   string // a digest, never the id itself
	Source    string
	Tool      string
	Action    string
	Name      string // the name as the caller wrote it
	Risk      Risk

	Args json.RawMessage // for starts only; redacted before it is written

	Outcome   Outcome // for results only
	ErrorType string
	Message   string
	// Subject is the name of the thing that Message is about, such as a notebook. It is not written; it only keeps the name
	// from being taken for that of a secret when Message is redacted.
	Subject  string
	Duration time.Duration
	BytesIn  int
	BytesOut int

	Detail json.RawMessage // for all kinds but the pairs of calls; redacted before it is written
}

// Decision records why a Call did not simply run, or the opinion of a stage that only observes.
//
// Approver is how a person answered: "program" in one of our own programs, "client" in a form of an MCP client, "code"
// with collie confirm, "beforehand" with --yes or --allow, "grant" with an earlier permission for more than one call.
type Decision struct {
	Stage    string  `json:"stage"`
	Rule     string  `json:"rule"`
	Risk     Risk    `json:"risk"`
	Verdict  Verdict `json:"verdict"`
	Approver string  `json:"approver,omitempty"` // see above; empty if nobody answered
	Grant    string  `json:"grant,omitempty"`    // id of the grant that was used, or given with the answer
}

// Verdict is the outcome of a [Decision].
type Verdict string

// The verdicts.
const (
	Allowed  Verdict = "allow"
	Deferred Verdict = "ask" // refused for now, and waits for a person
	Forbade  Verdict = "deny"
	Noted    Verdict = "log" // only observed, without effect
)

// CallDone is published on the event bus when a Call has ended. All subscribers share the values it points to
// and must not change them. A subscriber that keeps a CallDone keeps the arguments and the result in memory.
type CallDone struct {
	Call     *Call
	Outcome  Outcome
	Err      error
	Start    time.Time
	Duration time.Duration
	BytesOut int
	Result   json.RawMessage // Result.Raw, not a copy; nil if Err is set
}
