// Package resolve is the first stage of the pipeline: it finds out what a call's name means.
// What a name can mean is the catalog's business.
package resolve

import (
	"context"

	"collie/internal/tool"
)

// Resolver fills the second group of fields of a Call from the first: Source, Tool,
// Action, Target, and Args where the name alone did not say which action is meant. The
// error for a name it does not know is a [*tool.Error] of kind [tool.Unknown]. It may wait for
// a server that is starting, no longer than ctx.
type Resolver interface {
	Resolve(ctx context.Context, c *tool.Call) error
}

// Stage is the stage; see [New].
type Stage struct{ resolver Resolver }

// New returns the stage.
func New(r Resolver) *Stage { return &Stage{r} }

// Do resolves c. A call that does not resolve travels on all the same, so that it leaves
// its pair in the audit; the source it meets at the end of the pipeline refuses it.
func (s *Stage) Do(ctx context.Context, c *tool.Call, next tool.Runner) (tool.Result, error) {
	if err := s.resolver.Resolve(ctx, c); err != nil {
		c.Source, c.Action = refusal{err}, nil
	}
	return next(ctx, c)
}

// refusal is the source of a call that means nothing.
type refusal struct{ err error }

func (refusal) Name() string                   { return "" }
func (refusal) Offer() *tool.Offer             { return &tool.Offer{} }
func (refusal) Watch(func(tool.Change)) func() { return func() {} }

// Run refuses the call.
func (r refusal) Run(context.Context, *tool.Call) (tool.Result, error) {
	return tool.Result{}, r.err
}
