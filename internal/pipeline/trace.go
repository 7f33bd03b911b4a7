package pipeline

import (
	"context"
	"slices"
	"time"

	"collie/internal/tool"
)

// traced is run for a Call with a Trace, which is told how long each stage took without those
// behind it.
func (p *Pipeline) traced(ctx context.Context, c *tool.Call) (tool.Result, error) {
	run := tool.Runner(func(ctx context.Context, c *tool.Call) (tool.Result, error) {
		begun := time.Now()
		defer func() { c.Trace(tool.TraceStage, "run", time.Since(begun)) }()
		return c.Source.Run(ctx, c)
	})
	for _, v := range slices.Backward(p.stages) {
		run = timed(v, run)
	}
	return run(tool.WithTrace(ctx, c.Trace), c)
}

func timed(s step, next tool.Runner) tool.Runner {
	return func(ctx context.Context, c *tool.Call) (tool.Result, error) {
		var behind time.Duration
		begun := time.Now()
		defer func() { c.Trace(tool.TraceStage, s.name, time.Since(begun)-behind) }()
		return s.Do(ctx, c, func(ctx context.Context, c *tool.Call) (tool.Result, error) {
			left := time.Now()
			defer func() { behind += time.Since(left) }()
			return next(ctx, c)
		})
	}
}
