package limit

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"time"

	"collie/internal/tool"
)

// timed runs next for no longer than the call may take. It does not return before next
// does: a Source returns when its context ends (tool.Source), and an answer that made it in
// spite of that is kept.
func (s *Stage) timed(ctx context.Context, c *tool.Call, next tool.Runner) (tool.Result, error) {
	over := s.over
	if c.Action != nil && c.Action.Timeout > 0 && c.Action.Timeout < over.bound {
		over = &overtime{bound: c.Action.Timeout}
	}
	start := time.Now()
	inner, stop := s.bounded(ctx, c.Cancel, start, over)
	defer stop()
	r, err := s.caught(inner, c, next)
	if err == nil || inner.Err() == nil || !gaveUp(err) {
		return r, err
	}
	cause := context.Cause(inner)
	if _, told := cause.(*tool.Error); told { //nolint:errorlint // overtime stands for one too
		return r, err // the Source has ended it, and says why
	}
	return r, ended(c, err, cause == error(over), over.bound, time.Since(start))
}

// bounded is ctx, which cancel ends if it is not nil, with the limit of a call.
func (s *Stage) bounded(ctx context.Context, cancel context.CancelCauseFunc, start time.Time, over *overtime) (context.Context, func()) {
	if over.bound < precise {
		return context.WithTimeoutCause(ctx, over.bound, over)
	}
	r := s.watch.begin(ctx, cancel, start, over)
	return r, func() { s.watch.end(r) }
}

// overtime is the cause of a context whose call took too long: a [tool.Error] of kind
// Timeout, made only if somebody looks at it.
type overtime struct{ bound time.Duration }

func (o *overtime) Error() string {
	return "the call took longer than its limit of " + o.bound.String()
}

// Is makes it the deadline it stands for.
func (o *overtime) Is(target error) bool { return target == context.DeadlineExceeded }

// As gives the facts to who wants them.
func (o *overtime) As(target any) bool {
	e, ok := target.(**tool.Error)
	if ok {
		*e = &tool.Error{Op: "call", Kind: tool.Timeout, Message: o.Error()}
	}
	return ok
}

// gaveUp reports whether err says no more than that the context had ended. A Source that
// knows better, for example that its server crashed, is believed.
func gaveUp(err error) bool {
	if e, ok := errors.AsType[*tool.Error](err); ok {
		return e.Kind == tool.Canceled
	}
	return errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)
}

// ended says why the context of c had ended. Whether c took effect is known to the Source
// alone; where it says nothing, a call that was cut short for time may have.
func ended(c *tool.Call, err error, ours bool, bound, elapsed time.Duration) error {
	e := &tool.Error{Op: "call", Subject: subject(c)}
	inner, told := errors.AsType[*tool.Error](err)
	if told {
		e.OutcomeUnknown = inner.OutcomeUnknown
	}
	elapsed = elapsed.Round(time.Millisecond)
	switch {
	case ours:
		e.Kind = tool.Timeout
		e.Message = fmt.Sprintf("took longer than the limit of %v for a call (%v elapsed)", bound, elapsed)
		e.Hint = "ask for less at once"
		e.OutcomeUnknown = e.OutcomeUnknown || !told && hasEffects(c)
	case errors.Is(err, context.DeadlineExceeded):
		e.Kind = tool.Timeout
		e.Message = fmt.Sprintf("took longer than the caller allowed (%v elapsed)", elapsed)
		e.OutcomeUnknown = e.OutcomeUnknown || !told && hasEffects(c)
	default:
		e.Kind = tool.Canceled
		e.Message = fmt.Sprintf("cancelled by the caller after %v", elapsed)
	}
	return e
}

// hasEffects reports whether c may have changed something, going by what its author claims.
func hasEffects(c *tool.Call) bool {
	return c.Kind == tool.KindRequest || c.Kind == tool.KindCall && (c.Action == nil || !c.Action.ReadOnly)
}

// caught runs next and turns a panic into an error. What was
// panicked with may hold data of others, so it goes to the log and not to the caller.
func (s *Stage) caught(ctx context.Context, c *tool.Call, next tool.Runner) (r tool.Result, err error) {
	defer func() {
		p := recover()
		if p == nil {
			return
		}
		s.opts.Logger.LogAttrs(ctx, slog.LevelError, "a call panicked",
			slog.String("call_id", c.ID), slog.String("tool", c.Tool), slog.String("name", c.Name),
			slog.Any("panic", p), slog.String("stack", string(debug.Stack())))
		r, err = tool.Result{}, &tool.Error{
			Op: "call", Kind: tool.Internal, Subject: subject(c),
			Message:        "the gateway failed while it ran the call; its log says more under call " + c.ID,
			OutcomeUnknown: hasEffects(c),
		}
	}()
	return next(ctx, c)
}
