package tooltest

import (
	"context"

	"collie/internal/tool"
)

// Through runs c through stage s and then next, as the pipeline does.
func Through(ctx context.Context, s tool.Stage, c *tool.Call, next tool.Runner) (tool.Result, error) {
	ctx, err := s.Enter(ctx, c)
	if err != nil {
		return tool.Result{}, err
	}
	r, err := next(ctx, c)
	return s.Leave(ctx, c, r, err)
}

// Checked runs check on c and then next with what check returned, as the pipeline does.
func Checked(ctx context.Context, check tool.Check, c *tool.Call, next tool.Runner) (tool.Result, error) {
	c, err := check(ctx, c)
	if err != nil {
		return tool.Result{}, err
	}
	return next(ctx, c)
}
