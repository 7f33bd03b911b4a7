// Package pipeline is the one way that every call takes, whoever makes it. New lists its
// stages in order; faces and the agent hold a [Pipeline] and nothing else that reaches a
// tool.
//
//	resolve → lifecycle → audit → limit → refresh → switches → validate → gate → run
//
// What it leaves to others: what can be called is the [Catalog]'s, running is the
// Source's, and how a face words a refusal is the face's.
package pipeline

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"slices"

	"collie/internal/event"
	"collie/internal/pipeline/audit"
	"collie/internal/pipeline/gate"
	"collie/internal/pipeline/lifecycle"
	"collie/internal/pipeline/limit"
	"collie/internal/pipeline/refresh"
	"collie/internal/pipeline/resolve"
	"collie/internal/pipeline/switches"
	"collie/internal/pipeline/validate"
	"collie/internal/tool"
)

// Catalog is all that can be called, seen as one. It is safe for concurrent use.
type Catalog interface {
	resolve.Resolver
	// List returns the MCP result of a list, ready to be sent, and the catalog's revision.
	List(ctx context.Context, kind tool.ListKind, profile string) (json.RawMessage, uint64)
	// AwaitKnown returns when everybody knows what he offers of a kind, or will not, or when ctx ends.
	AwaitKnown(ctx context.Context, kind tool.ListKind)
	// Instructions is the advice to models of everything in a profile.
	Instructions(profile string) string
	// Watch calls f for each change until stop is called. f must not block.
	Watch(f func(tool.Change)) (stop func())
	// Subscribe and Unsubscribe count the subscribers of a resource.
	Subscribe(ctx context.Context, profile, uri string) error
	Unsubscribe(ctx context.Context, profile, uri string) error
	// InputSchema is the schema of the tool that a name means, nil if there is none.
	InputSchema(profile, name string) json.RawMessage
	// Tell passes a client's notification on to whom it is for; false where that is nobody.
	Tell(m *tool.Message) bool
	// Join and Leave say which sessions there are.
	Join(s *tool.Session)
	Leave(id string)
	// SetLevel says how much holder wants to be told; an empty level means nothing.
	SetLevel(ctx context.Context, holder any, level string) error
}

// Options are what the stages need. Audit is required.
type Options struct {
	Audit     *audit.Log
	OnFailure audit.OnFailure
	Bus       *event.Bus[tool.CallDone] // nil: nobody listens
	Limits    limit.Options
	Gate      gate.Options
	Logger    *slog.Logger // nil discards
}

// Pipeline runs calls through its stages. It is safe for concurrent use and needs no closing.
type Pipeline struct {
	Catalog
	run    tool.Runner
	stages []step
}

// step is a stage with its name.
type step struct {
	name string
	tool.Stage
}

// New makes the pipeline in front of cat.
func New(cat Catalog, opts Options) *Pipeline {
	limits := opts.Limits
	limits.Logger = opts.Logger
	bus := opts.Bus
	if bus == nil {
		bus = new(event.Bus[tool.CallDone])
	}
	stages := []step{
		{"resolve", resolve.New(cat)},
		{"lifecycle", lifecycle.New(bus)},
		{"audit", audit.NewStage(opts.Audit, &audit.StageOptions{OnFailure: opts.OnFailure})},
		{"limit", limit.New(limits)},
		{"refresh", refresh.Stage{}},
		{"switches", switches.New(switches.Options{})},
		{"validate", validate.New(validate.Options{Logger: opts.Logger})},
		// The firewall and the guardian stand here, in this order.
		{"gate", gate.New(opts.Gate)},
	}
	run := tool.Runner(func(ctx context.Context, c *tool.Call) (tool.Result, error) { return c.Source.Run(ctx, c) })
	for _, stage := range slices.Backward(stages) {
		stage, next := stage, run
		run = func(ctx context.Context, c *tool.Call) (tool.Result, error) { return stage.Do(ctx, c, next) }
	}
	return &Pipeline{Catalog: cat, run: run, stages: stages}
}

// Do sends c through the pipeline. c.ID is filled in if it is empty. Errors are a [*tool.Error],
// or a [*tool.ProtocolError] that the caller receives as it is. A Source that is a
// [tool.Softener] may have made a result of an error, of any stage.
func (p *Pipeline) Do(ctx context.Context, c *tool.Call) (tool.Result, error) {
	if c.ID == "" {
		c.ID = tool.NewCallID()
	}
	run := p.run
	if c.Trace != nil {
		run = p.traced
	}
	result, err := run(ctx, c)
	if err != nil {
		return softened(c, result, err)
	}
	return result, nil
}

// softened is what the caller of c gets where the pipeline ended in an error.
func softened(c *tool.Call, result tool.Result, err error) (tool.Result, error) {
	s, ok := c.Source.(tool.Softener)
	if !ok {
		return result, err
	}
	e, ok := errors.AsType[*tool.Error](err)
	if !ok {
		return result, err
	}
	if soft, ok := s.Soften(c, e); ok {
		return soft, nil
	}
	return result, err
}
