// Package lifecycle is the stage that tells the rest of the process that a call has ended.
// What is done with it is left to the subscribers, such as analytics. It stands outside the
// limit stage, so that it sees a panic as the error it became. The entry point is [New].
package lifecycle

import (
	"context"
	"time"

	"collie/internal/event"
	"collie/internal/tool"
)

// Stage publishes one [tool.CallDone] for each Call, after it has ended and before its
// result goes on. The event holds the Call and what came of it, bytes included, for as long
// as a subscriber keeps it. A Stage is safe for concurrent use.
type Stage struct {
	bus *event.Bus[tool.CallDone]
}

var _ tool.Stage = (*Stage)(nil)

// New returns a Stage that publishes on bus.
func New(bus *event.Bus[tool.CallDone]) *Stage { return &Stage{bus: bus} }

// Do runs next and publishes how it ended.
func (s *Stage) Do(ctx context.Context, c *tool.Call, next tool.Runner) (r tool.Result, err error) {
	if !s.bus.Watched() {
		return next(ctx, c)
	}
	start := time.Now()
	// This error stands only if next never returns, that is, if it panics.
	err = &tool.Error{Op: "call", Kind: tool.Internal, Subject: c.Name, Message: "the call was abandoned", OutcomeUnknown: true}
	defer func() {
		s.bus.Publish(tool.CallDone{
			Call:     c,
			Outcome:  tool.OutcomeOf(r, err),
			Err:      err,
			Start:    start,
			Duration: time.Since(start),
			BytesOut: len(r.Raw),
			Result:   r.Raw,
		})
	}()
	return next(ctx, c)
}
