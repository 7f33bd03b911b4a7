package limit

import (
	"context"
	"errors"
	"fmt"
	"time"

	"collie/internal/tool"
	"collie/internal/units"
)

// overtime is the cause of a context whose call took too long. It stands for a [tool.Error] of kind Timeout,
// which is created only when somebody asks for it.
type overtime struct{ bound time.Duration }

func (o *overtime) Error() string {
	return "the call took longer than its limit of " + units.DurationWords(o.bound)
}

// Is makes an overtime match [context.DeadlineExceeded].
func (o *overtime) Is(target error) bool { return target == context.DeadlineExceeded }

// As converts an overtime to a [*tool.Error].
func (o *overtime) As(target any) bool {
	e, ok := target.(**tool.Error)
	if ok {
		*e = &tool.Error{Op: "call", Kind: tool.Timeout, Message: o.Error()}
	}
	return ok
}

// isContextEnd reports whether err only says that the context ended. Any other error, for example that a server
// crashed, is more informative and takes precedence.
func isContextEnd(err error) bool {
	if e, ok := errors.AsType[*tool.Error](err); ok {
		return e.Kind == tool.Canceled
	}
	return errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)
}

// endedError returns the error for a call whose context ended. Only the Source knows whether the call took effect.
// If it does not say, a call that ran out of time may have.
func endedError(c *tool.Call, err error, ours bool, bound, elapsed time.Duration) error {
	e := &tool.Error{Op: "call", Subject: c.Subject()}
	inner, isToolError := errors.AsType[*tool.Error](err)
	if isToolError {
		e.OutcomeUnknown = inner.OutcomeUnknown
	}
	elapsed = elapsed.Round(time.Millisecond)
	switch {
	case ours:
		e.Kind = tool.Timeout
		e.Message = fmt.Sprintf("took longer than the limit of %s for a call (%s elapsed)", units.DurationWords(bound), units.DurationWords(elapsed))
		e.Hint = "ask for less at once"
		e.OutcomeUnknown = e.OutcomeUnknown || !isToolError && c.HasEffects()
	case errors.Is(err, context.DeadlineExceeded):
		e.Kind = tool.Timeout
		e.Message = fmt.Sprintf("took longer than the caller allowed (%s elapsed)", units.DurationWords(elapsed))
		e.OutcomeUnknown = e.OutcomeUnknown || !isToolError && c.HasEffects()
	default:
		e.Kind = tool.Canceled
		e.Message = fmt.Sprintf("cancelled by the caller after %s", units.DurationWords(elapsed))
	}
	return e
}
