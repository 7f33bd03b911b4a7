package tool

import (
	"context"
)

// Runner runs a Call.
type Runner func(ctx context.Context, c *Call) (Result, error)

// Stage is one step of the pipeline. It surrounds the steps behind it. It is safe for concurrent use.
type Stage interface {
	// Enter lets c pass, or refuses it with an error. The context it returns is used for all steps behind; a
	// Stage that needs none of its own returns ctx.
	Enter(ctx context.Context, c *Call) (context.Context, error)
	// Leave is called once for each Call that Enter let pass, however it ended, with the context that Enter
	// returned. The steps before see what Leave returns.
	Leave(ctx context.Context, c *Call, r Result, err error) (Result, error)
}

// Check is a step of the pipeline that only looks at a Call. It returns c or, to add something for the steps
// behind, a copy; never nil without an error. An error refuses the Call. It is safe for concurrent use.
type Check func(ctx context.Context, c *Call) (*Call, error)
