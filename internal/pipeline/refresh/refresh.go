// Package refresh is the stage that makes sure that a call is judged by what its Source offers now. A list
// from the cache may be out of date while its server is not running, and an action that was switched off may
// be on by now.
//
// How to start a server is up to the Source; whether the arguments fit the current definition is up to the
// next stages.
package refresh

import (
	"context"

	"collie/internal/tool"
)

// Check is the stage, a [tool.Check]. It replaces c.Action by the current one.
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
