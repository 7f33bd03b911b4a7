package kernel

import (
	"context"

	"collie/internal/tool"
)

// Booted reports whether a kernel has started: until then what it answers may lack things that
// are there. One that cannot say so has.
func (c *Client) Booted(ctx context.Context) (bool, error) {
	var out struct{ Progress int }
	err := c.call(ctx, "/api/system/bootProgress", readData, nil, &out)
	if tool.KindOf(err) == tool.NotInKernel {
		return true, nil
	}
	return out.Progress >= 100, err
}
