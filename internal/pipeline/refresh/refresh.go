// Package refresh is the stage that makes sure that a call is judged by what its Source offers
// today: a list that came from the cache may be old while its server does not run, and what was
// switched off may be on by now.
//
// What it leaves to others: how to start is the Source's, whether the arguments fit the
// definition that it brings is the next stages'.
package refresh

import (
	"context"

	"collie/internal/tool"
)

// Check is the stage, a [tool.Check].
func Check(ctx context.Context, c *tool.Call) (*tool.Call, error) {
	r, ok := c.Source.(tool.Refresher)
	if !ok || c.Kind != tool.KindCall || c.Action == nil {
		return c, nil
	}
	a, err := r.Current(ctx, c)
	if err != nil || a == c.Action {
		return c, err
	}
	fresh := *c
	fresh.Action = a
	return &fresh, nil
}
