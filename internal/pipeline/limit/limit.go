// Package limit is the stage that bounds what one call may cost: the size of its arguments,
// how many calls run at once, and time. It also catches a panic of the rest of the pipeline, so
// that one call cannot end the process. Results are never cut here or anywhere in the pipeline;
// the depth of JSON and the size of messages are the wire's to bound. The entry point is
// [New].
package limit

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"collie/internal/tool"
)

// The defaults of [Options].
const (
	DefaultMaxArgs    = 16 << 20
	DefaultPerSession = 256
	DefaultTotal      = 4096
	DefaultMaxCall    = 10 * time.Minute
)

// Options of a [Stage]. A value of zero or less is the default.
type Options struct {
	// MaxArgs bounds the arguments of one call, in bytes; 16 MiB.
	MaxArgs int
	// PerSession and Total bound the calls in flight, for one session and for all; 256 and
	// 4,096.
	PerSession, Total int
	// MaxCall bounds the time of one call, progress or not; 10 minutes. A shorter
	// Action.Timeout counts instead.
	MaxCall time.Duration
	// Logger receives panics. Nil discards them.
	Logger *slog.Logger
}

// Stage applies the limits. What is over one is refused or ended, never queued. A Stage is
// safe for concurrent use.
type Stage struct {
	opts  Options
	over  *overtime // of MaxCall, since nearly every call has that limit
	calls inFlight
	watch watch
}

var _ tool.Stage = (*Stage)(nil)

// New returns a Stage.
func New(opts Options) *Stage {
	opts.MaxArgs = orDefault(opts.MaxArgs, DefaultMaxArgs)
	opts.PerSession = orDefault(opts.PerSession, DefaultPerSession)
	opts.Total = orDefault(opts.Total, DefaultTotal)
	opts.MaxCall = orDefault(opts.MaxCall, DefaultMaxCall)
	if opts.Logger == nil {
		opts.Logger = slog.New(slog.DiscardHandler)
	}
	return &Stage{
		opts:  opts,
		over:  &overtime{bound: opts.MaxCall},
		calls: inFlight{each: make(map[who]int)},
	}
}

func orDefault[T int | time.Duration](v, standard T) T {
	if v <= 0 {
		return standard
	}
	return v
}

// InFlight returns how many calls run now.
func (s *Stage) InFlight() int {
	total, _ := s.calls.count()
	return total
}

// Do runs next within the limits. Its errors are a [tool.Error] of kind Invalid for
// arguments that are too large, Busy for one call too many, Timeout and Canceled where next
// was ended early, Internal where it panicked; any other error of next passes as it is.
func (s *Stage) Do(ctx context.Context, c *tool.Call, next tool.Runner) (tool.Result, error) {
	if len(c.Args) > s.opts.MaxArgs {
		return tool.Result{}, &tool.Error{
			Op: "call", Kind: tool.Invalid, Subject: subject(c),
			Message: fmt.Sprintf("the arguments have %d bytes, the limit is %d", len(c.Args), s.opts.MaxArgs),
			Hint:    "send less at once, or write it in parts",
		}
	}
	if err := s.enter(c); err != nil {
		return tool.Result{}, err
	}
	defer s.calls.leave(whoOf(c))
	return s.timed(ctx, c, next)
}

func (s *Stage) enter(c *tool.Call) error {
	var whose string
	var bound int
	switch s.calls.enter(whoOf(c), s.opts.PerSession, s.opts.Total) {
	case entered:
		return nil
	case sessionFull:
		whose, bound = "this session", s.opts.PerSession
	case allFull:
		whose, bound = "the gateway", s.opts.Total
	}
	return &tool.Error{
		Op: "call", Kind: tool.Busy, Subject: subject(c),
		Message: fmt.Sprintf("%s has %d calls in flight, which is the limit; this one did not run", whose, bound),
		Hint:    "wait for an answer, then call again",
	}
}

// subject names what c calls.
func subject(c *tool.Call) string {
	if c.Action == nil || c.Tool == "" {
		return c.Name
	}
	return c.Tool + "." + c.Action.Name
}
