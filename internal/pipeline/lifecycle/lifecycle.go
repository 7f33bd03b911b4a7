// Package lifecycle is the stage that tells the rest of the process that a call has begun and
// that it has ended. Subscribers such as analytics decide what to do with that. The entry point is [New].
package lifecycle

import (
	"context"
	"time"

	"collie/internal/event"
	"collie/internal/tool"
)

// Stage publishes each Call before it runs, and one [tool.CallDone] for each Call after it has ended, before the result
// is returned. The event refers to the Call and its result, so a subscriber that keeps it keeps their bytes in memory.
// A Stage is safe for concurrent use.
type Stage struct {
	started *event.Bus[*tool.Call]
	done    *event.Bus[tool.CallDone]
}

var _ tool.Stage = (*Stage)(nil)

// New returns a Stage that publishes calls that begin on started and those that have ended on done.
func New(started *event.Bus[*tool.Call], done *event.Bus[tool.CallDone]) *Stage {
	return &Stage{started: started, done: done}
}

// startedContext is the context of a call that has subscribers; it holds the start time.
type startedContext struct {
	context.Context
	at time.Time
}

// Enter publishes c and records when it begins, if anybody is subscribed.
func (s *Stage) Enter(ctx context.Context, c *tool.Call) (context.Context, error) {
	s.started.Publish(c)
	if !s.done.Watched() {
		return ctx, nil
	}
	return &startedContext{ctx, time.Now()}, nil
}

// Leave publishes how c ended, if anybody is subscribed.
func (s *Stage) Leave(ctx context.Context, c *tool.Call, r tool.Result, err error) (tool.Result, error) {
	if b, ok := ctx.(*startedContext); ok {
		s.done.Publish(tool.CallDone{
			Call: c, Outcome: tool.OutcomeOf(r, err), Err: err, Start: b.at, Duration: time.Since(b.at), BytesOut: len(r.Raw), Result: r.Raw,
		})
	}
	return r, err
}
