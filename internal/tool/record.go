package tool

import (
	"context"
	"encoding/json"
	"errors"
	"time"
)

// Outcome is how a Call ended, as the audit writes it.
type Outcome string

// The outcomes.
const (
	OK        Outcome = "ok"
	Failed    Outcome = "error"     // the action or its server failed
	Refused   Outcome = "refused"   // the pipeline said no; nothing ran
	Cancelled Outcome = "cancelled" // the caller gave up
	NotKnown  Outcome = "unknown"   // it may have taken effect
)

// OutcomeOf classes what a Runner returned.
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

// Record is what the audit keeps of one moment: the start or the result of a Call, or a
// change that a person made. Kind is "<kind>.start", "<kind>.result" or "change".
type Record struct {
	Time      time.Time
	Kind      string
	CallID    string
	Parent    string
	Origin    Origin
	Principal string
	Client    string
	Session   string // a digest, never the id
	Source    string
	Tool      string
	Action    string
	Name      string // what the caller wrote
	Risk      Risk

	Args json.RawMessage // start only; redacted before it is written

	Outcome   Outcome // result only
	ErrorType string
	Message   string
	Duration  time.Duration
	BytesIn   int
	BytesOut  int

	Detail json.RawMessage // change only; redacted before it is written
}

// CallDone is published on the event bus when a Call has ended. Subscribers share what it
// points to and change none of it; one that keeps it keeps arguments and result in memory.
type CallDone struct {
	Call     *Call
	Outcome  Outcome
	Err      error
	Start    time.Time
	Duration time.Duration
	BytesOut int
	Result   json.RawMessage // Result.Raw, not a copy; nil where there is an Err
}
