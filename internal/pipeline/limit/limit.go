// Package limit is the stage that bounds what one call may cost: the size of its arguments, the number of
// calls at once, and time. Results are not cut, here or anywhere in the pipeline. The wire layer bounds the
// depth of JSON and the size of messages. The entry point is [New].
package limit

import (
	"context"
	"fmt"
	"time"

	"collie/internal/tool"
)

// The defaults of [Options].
const (
	defaultMaxArgs    = 16 << 20
	DefaultPerSession = 256
	defaultTotal      = 4096
	defaultMaxCall    = 10 * time.Minute
)

// Options of a [Stage]. A value of zero or less means the default.
type Options struct {
	// MaxArgs bounds the arguments of one call, in bytes; default 16 MiB.
	MaxArgs int
	// PerSession and Total bound the number of running calls, per session and overall; defaults 256 and
	// 4,096.
	PerSession, Total int
	// MaxCall bounds the duration of one call, even if it reports progress; default 10 minutes. A shorter
	// Action.Timeout takes precedence.
	MaxCall time.Duration
}

// Stage applies the limits. A call that exceeds one is refused or ended, never queued. A Stage is safe for
// concurrent use.
type Stage struct {
	opts     Options
	overtime *overtime // for MaxCall; shared, since nearly every call has that limit
	calls    inFlight
	watch    overdueWatch
}

var _ tool.Stage = (*Stage)(nil)

// New returns a Stage.
func New(opts Options) *Stage {
	opts.MaxArgs = orDefault(opts.MaxArgs, defaultMaxArgs)
	opts.PerSession = orDefault(opts.PerSession, DefaultPerSession)
	opts.Total = orDefault(opts.Total, defaultTotal)
	opts.MaxCall = orDefault(opts.MaxCall, defaultMaxCall)
	return &Stage{
		opts:     opts,
		overtime: &overtime{bound: opts.MaxCall},
		calls:    inFlight{each: make(map[callerKey]int)},
	}
}

func orDefault[T int | time.Duration](v, standard T) T {
	if v <= 0 {
		return standard
	}
	return v
}

// Enter refuses c with a [tool.Error] of kind Invalid if its arguments are too large, and of kind Busy if too
// many calls are running. The context it returns ends when c's time is over.
func (s *Stage) Enter(ctx context.Context, c *tool.Call) (context.Context, error) {
	if len(c.Args) > s.opts.MaxArgs {
		return ctx, &tool.Error{
			Op: "call", Kind: tool.Invalid, Subject: c.Subject(),
			Message: fmt.Sprintf("the arguments have %d bytes, the limit is %d", len(c.Args), s.opts.MaxArgs),
			Hint:    "send less at once, or write it in parts",
		}
	}
	if err := s.admit(c); err != nil {
		return ctx, err
	}
	timeout := s.overtime
	if c.Action != nil && c.Action.Timeout > 0 && c.Action.Timeout < timeout.bound {
		timeout = &overtime{bound: c.Action.Timeout}
	}
	return s.watch.begin(ctx, c.Cancel, time.Now(), timeout), nil
}

// Leave replaces an error that only says that the context ended by one of kind Timeout or Canceled. If the Source
// returned a result although the context had ended, the result is kept. Any other error is returned unchanged.
func (s *Stage) Leave(ctx context.Context, c *tool.Call, r tool.Result, err error) (tool.Result, error) {
	inner := ctx.(*running)
	cause := context.Cause(inner)
	s.watch.end(inner)
	s.calls.leave(callerOf(c))
	if err == nil || cause == nil || !isContextEnd(err) {
		return r, err
	}
	if _, isToolError := cause.(*tool.Error); isToolError { //nolint:errorlint // overtime converts to a tool.Error too
		return r, err // the Source ended the call and gives the reason
	}
	return r, endedError(c, err, cause == error(inner.timeout), inner.timeout.bound, inner.elapsed()) //nolint:errorlint // compares for the exact cause that watch has set
}

// Pause stops the clock of the call that has ctx, and of those around it, until resume is called, which must be once:
// for instance while a person is asked, which takes as long as it takes. [context.Context.Deadline] tells no limit
// meanwhile.
func (s *Stage) Pause(ctx context.Context) (resume func()) {
	first := runningOf(ctx)
	for r := first; r != nil; r = runningOf(r.Context) {
		r.pause()
	}
	return func() {
		for r := first; r != nil; r = runningOf(r.Context) {
			r.resume()
		}
	}
}

func (s *Stage) admit(c *tool.Call) error {
	var whose string
	var bound int
	switch s.calls.enter(callerOf(c), s.opts.PerSession, s.opts.Total) {
	case entered:
		return nil
	case sessionFull:
		whose, bound = "this session", s.opts.PerSession
	case allFull:
		whose, bound = "the gateway", s.opts.Total
	}
	return &tool.Error{
		Op: "call", Kind: tool.Busy, Subject: c.Subject(),
		Message: fmt.Sprintf("%s has %d calls in flight, which is the limit; this one did not run", whose, bound),
		Hint:    "wait for an answer, then call again",
	}
}
