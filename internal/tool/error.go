package tool

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// This file has the error type of the program, with kinds that callers decide by.

// ErrorKind classifies an [Error]. Each face maps the kinds of this package to its own codes in one table. A
// Source may define more specific kinds: a kind of this package, "/" and a word, as in Upstream +
// "/api_error".
type ErrorKind string

// The kinds of error that every part knows. Callers see the value as "type".
const (
	Invalid     ErrorKind = "validation_error"    // the arguments do not fit
	NotFound    ErrorKind = "not_found"           // no such tool, resource or prompt
	Disabled    ErrorKind = "disabled_error"      // switched off
	Denied      ErrorKind = "permission_denied"   // known, but not for this caller
	Unconfirmed ErrorKind = "confirmation_needed" // a person has not agreed
	Busy        ErrorKind = "rate_limited"        // too much at once
	Upstream    ErrorKind = "server_error"        // the server's answer is invalid
	Crashed     ErrorKind = "server_crashed"      // the server went away during the call
	Unavailable ErrorKind = "server_unavailable"  // the server cannot be reached
	TooLarge    ErrorKind = "output_too_large"    // over a limit of size
	Timeout     ErrorKind = "timeout"             // over a limit of time
	Canceled    ErrorKind = "cancelled"           // the caller gave up
	NeedsAuth   ErrorKind = "auth_required"       // a person has to sign in at the server
	Removed     ErrorKind = "tool_removed"        // the server no longer offers it
	Unaudited   ErrorKind = "audit_unavailable"   // the call could not be recorded
	Internal    ErrorKind = "internal_error"      // our fault

	Conflicting   ErrorKind = "invalid_arguments"      // each argument fits, together they do not
	Ambiguous     ErrorKind = "ambiguous_path"         // several things have this name
	Exists        ErrorKind = "already_exists"         // it exists already
	Conflict      ErrorKind = "conflict"               // the call conflicts with the current state
	StateChanged  ErrorKind = "state_changed"          // the state differs from what the caller last saw
	Unauthorized  ErrorKind = "unauthorized"           // the other side refused our token
	LevelsUnknown ErrorKind = "permission_unavailable" // the levels of notebooks cannot be read
	Declined      ErrorKind = "confirmation_declined"  // a person said no
)

// Class returns the kind that stages and faces decide by: the part of k before "/", which is a kind of this
// package.
func (k ErrorKind) Class() ErrorKind {
	class, _, _ := strings.Cut(string(k), "/")
	return ErrorKind(class)
}

// Type returns the word for k that callers and the audit see: the part of k after "/", or all of k.
func (k ErrorKind) Type() string { return string(k[strings.IndexByte(string(k), '/')+1:]) }

// Refused reports whether an error of this kind means that the pipeline refused the call before anything ran.
func (k ErrorKind) Refused() bool {
	switch k.Class() {
	case Invalid, NotFound, Disabled, Denied, Unconfirmed, Busy, NeedsAuth, Removed, Unaudited,
		Conflicting, Ambiguous, Exists, Conflict, StateChanged, LevelsUnknown, Declined:
		return true
	case Upstream, Crashed, Unavailable, TooLarge, Timeout, Canceled, Internal, Unauthorized:
	}
	return false
}

// Field describes one invalid argument. Path is a JSON pointer; empty means the arguments as a whole.
type Field struct {
	Path    string `json:"path"`
	Message string `json:"message"`
}

// Error describes a failure: the operation, its subject, the kind of failure, a hint and the cause.
type Error struct {
	Op      string    // the operation: "call", "start server"
	Kind    ErrorKind // decides how it is handled
	Code    string    // distinguishes cases of one kind; may be empty
	Subject string    // what the operation was done to: a tool, a server, a URI
	Message string    // what was wrong, in a sentence fragment
	Hint    string    // what to try; may be empty
	Fields  []Field   // the invalid arguments, for Invalid
	// Unresolved reports that the name in the request is unknown, so that no Source was asked.
	Unresolved bool
	// OutcomeUnknown reports that the call may have taken effect nevertheless.
	OutcomeUnknown bool
	// RetryAfter says how long to wait before trying again; 0 means unknown.
	RetryAfter time.Duration
	// Decision is set on errors of stages that judge a call, for the payload and the audit.
	Decision *Decision
	// Facts are further members of the payload. They never replace the members that have a field here.
	Facts map[string]any
	Err   error // the cause; may be nil
}

// Error reads "op subject: message: cause".
func (e *Error) Error() string {
	var b strings.Builder
	b.WriteString(e.Op)
	if e.Subject != "" {
		if b.Len() > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(e.Subject)
	}
	if b.Len() > 0 {
		b.WriteString(": ")
	}
	switch {
	case e.Message != "" && e.Err != nil:
		b.WriteString(e.Message + ": " + e.Err.Error())
	case e.Message != "":
		b.WriteString(e.Message)
	case e.Err != nil:
		b.WriteString(e.Err.Error())
	default:
		b.WriteString(e.Kind.Type())
	}
	return b.String()
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// KindOf returns the kind of the first [*Error] in err's chain, Upstream for a [*ProtocolError], and Internal
// for anything else.
func KindOf(err error) ErrorKind {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Kind
	}
	if _, ok := errors.AsType[*ProtocolError](err); ok {
		return Upstream
	}
	return Internal
}

// ProtocolError is a JSON-RPC error object, either sent by a server or to be sent to a caller. It is passed
// on byte for byte.
type ProtocolError struct {
	Code    int
	Message string
	// Raw is the whole error object.
	Raw json.RawMessage
}

// NewProtocolError makes a ProtocolError. data is encoded as JSON; it may be nil.
func NewProtocolError(code int, message string, data any) *ProtocolError {
	raw, err := json.Marshal(struct {
		Code    int    `json:"code"`
		Message string `json:"message"`
		Data    any    `json:"data,omitempty"`
	}{code, message, data})
	if err != nil {
		panic(fmt.Sprintf("tool: data of a protocol error does not encode: %v", err))
	}
	return &ProtocolError{Code: code, Message: message, Raw: raw}
}

// Error reads "message (code n)".
func (e *ProtocolError) Error() string { return fmt.Sprintf("%s (code %d)", e.Message, e.Code) }

// Payload returns the JSON a caller sees of an error in a tool result:
//
//	{"error":{"type":…,"code":…,"message":…,"subject":…,"hint":…,"fields":[…],
//	          "outcomeUnknown":…,"retryAfterSeconds":…,"stage":…,"rule":…,"risk":…,"retryable":…, and the Facts by name}}
//
// stage, rule, risk and retryable are those of a [Decision]. retryable reports whether repeating the call may succeed
// without a person doing something first.
func (e *Error) Payload() json.RawMessage {
	type body struct {
		Type    string  `json:"type"`
		Code    string  `json:"code,omitempty"`
		Message string  `json:"message"`
		Subject string  `json:"subject,omitempty"`
		Hint    string  `json:"hint,omitempty"`
		Fields  []Field `json:"fields,omitempty"`
		Unknown bool    `json:"outcomeUnknown,omitempty"`
		Retry   float64 `json:"retryAfterSeconds,omitempty"`

		Stage     string `json:"stage,omitempty"`
		Rule      string `json:"rule,omitempty"`
		Risk      Risk   `json:"risk,omitempty"`
		Retryable *bool  `json:"retryable,omitempty"`
	}
	msg := e.Message
	if e.Err != nil {
		if msg != "" {
			msg += ": "
		}
		msg += e.Err.Error()
	}
	b := body{
		Type: e.Kind.Type(), Code: e.Code, Message: msg, Subject: e.Subject, Hint: e.Hint, Fields: e.Fields,
		Unknown: e.OutcomeUnknown, Retry: e.RetryAfter.Seconds(),
	}
	if d := e.Decision; d != nil {
		retryable := e.Kind.Class() == Busy
		b.Stage, b.Rule, b.Risk, b.Retryable = d.Stage, d.Rule, d.Risk, &retryable
	}
	inner := encode(b)
	for _, name := range slices.Sorted(maps.Keys(e.Facts)) {
		switch name {
		case "type", "code", "message", "subject", "hint", "fields", "outcomeUnknown", "retryAfterSeconds":
			continue
		case "stage", "rule", "risk", "retryable":
			if e.Decision != nil {
				continue
			}
		}
		inner = append(append(append(inner[:len(inner)-1], ','), encode(name)...), ':')
		inner = append(append(inner, encode(e.Facts[name])...), '}')
	}
	return append(append([]byte(`{"error":`), inner...), '}')
}

// encode returns v as JSON. It cannot fail for the types used here.
func encode(v any) []byte {
	raw, err := json.Marshal(v)
	if err != nil {
		panic(fmt.Sprintf("tool: payload of an error does not encode: %v", err))
	}
	return raw
}

// ErrorResult returns the MCP tool result that reports e: isError, and the payload both as structured content
// and as text.
func (e *Error) ErrorResult() Result {
	p := e.Payload()
	raw, err := json.Marshal(struct {
		Content []map[string]string `json:"content"`
		IsError bool                `json:"isError"`
	}{[]map[string]string{{"type": "text", "text": string(p)}}, true})
	if err != nil {
		panic(fmt.Sprintf("tool: result of an error does not encode: %v", err))
	}
	return Result{Raw: raw, IsError: true}
}
