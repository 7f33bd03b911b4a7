// Package refresh is the stage that makes sure that a call is judged by what its Source offers
// today: a list that came from the cache may be old while its server does not run. It starts
// nothing for an action that is switched off, and does not start what runs.
//
// What it leaves to others: how to start is the Source's, whether the arguments fit the
// definition that it brings is the next stages'.
package refresh

import (
	"context"

	"collie/internal/tool"
)

// Stage is the stage. The zero value is ready.
type Stage struct{}

var _ tool.Stage = Stage{}

// Do replaces c.Action by what is offered now and runs next.
func (Stage) Do(ctx context.Context, c *tool.Call, next tool.Runner) (tool.Result, error) {
	if r, ok := c.Source.(tool.Refresher); ok && c.Kind == tool.KindCall && c.Action != nil && c.Action.Off == "" {
		a, err := r.Current(ctx, c)
		if err != nil {
			return tool.Result{}, err
		}
		c.Action = a
	}
	return next(ctx, c)
}
