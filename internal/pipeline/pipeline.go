// Package pipeline is the one way that every call takes, whoever makes it. New lists its
// stages in order; faces and the agent hold a [Pipeline] and nothing else that reaches a
// tool.
//
//	resolve → soften → lifecycle → audit → limit → refresh → switches → validate → gate → run
//
// Resolving makes a [tool.Call] of a [tool.Request]; it is the [Catalog]'s, as running is the
// Source's. A stage is a [tool.Stage], which stands around those behind it, or a [tool.Check],
// which only looks. How a face words a refusal is the face's.
//
// A new stage is a folder below this one, which imports no other stage, a field of [Options] for
// what it needs, and a line in New, at its place: what may be refused before a server is asked stands
// before refresh, what judges an action by its name or definition beside switches, what reads arguments
// behind validate, and gate stays last.
package pipeline

import (
	"context"
	"encoding/json"
	"log/slog"
	"runtime/debug"
	"time"

	"collie/internal/event"
	"collie/internal/pipeline/audit"
	"collie/internal/pipeline/gate"
	"collie/internal/pipeline/lifecycle"
	"collie/internal/pipeline/limit"
	"collie/internal/pipeline/refresh"
	"collie/internal/pipeline/soften"
	"collie/internal/pipeline/switches"
	"collie/internal/pipeline/validate"
	"collie/internal/tool"
)

// Catalog is all that can be called, seen as one. It is safe for concurrent use.
type Catalog interface {
	// Resolve makes a Call of r. With an error it is what could be found out, for the record; the
	// error for a name that means nothing is a [*tool.Error] that is Unresolved. It may wait for a
	// server that is starting, no longer than ctx.
	Resolve(ctx context.Context, r tool.Request) (*tool.Call, error)
	// List returns the MCP result of a list, ready to be sent, and the catalog's revision.
	List(ctx context.Context, kind tool.ListKind, profile string) (json.RawMessage, uint64)
	// AwaitKnown returns when everybody knows what he offers of a kind, or will not, or when ctx ends.
	AwaitKnown(ctx context.Context, kind tool.ListKind)
	// Instructions is the advice to models of everything in a profile.
	Instructions(profile string) string
	// Shows reports whether a profile sees anything of the source of a name.
	Shows(profile, source string) bool
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
	log    *slog.Logger
	stages []step
}

// step is a stage with its name: one around those behind it, or one that only looks.
type step struct {
	name   string
	around tool.Stage
	check  tool.Check
}

// New makes the pipeline in front of cat.
func New(cat Catalog, opts Options) *Pipeline {
	if opts.Logger == nil {
		opts.Logger = slog.New(slog.DiscardHandler)
	}
	bus := opts.Bus
	if bus == nil {
		bus = new(event.Bus[tool.CallDone])
	}
	return &Pipeline{Catalog: cat, log: opts.Logger, stages: []step{
		{"soften", soften.Stage{}, nil},
		{"lifecycle", lifecycle.New(bus), nil},
		{"audit", audit.NewStage(opts.Audit, &audit.StageOptions{OnFailure: opts.OnFailure}), nil},
		{"limit", limit.New(opts.Limits), nil},
		{"refresh", nil, refresh.Check},
		{"switches", nil, switches.Check},
		{"validate", nil, validate.New(validate.Options{Logger: opts.Logger}).Check},
		{"gate", nil, gate.New(opts.Gate).Check},
	}}
}

// Do resolves r and sends it through the pipeline. Errors are a [*tool.Error], or a
// [*tool.ProtocolError] that the caller receives as it is. A panic of a stage or of a Source is an
// error of kind Internal.
func (p *Pipeline) Do(ctx context.Context, r tool.Request) (tool.Result, error) {
	if r.ID == "" {
		r.ID = tool.NewCallID()
	}
	if r.Trace != nil {
		ctx = tool.WithTrace(ctx, r.Trace)
	}
	begun := now(r.Trace)
	c, err := p.resolve(ctx, r)
	if r.Trace != nil {
		took := time.Since(begun)
		defer func() { r.Trace(tool.TraceStage, "resolve", took) }() // stages are told from the last to the first
	}
	return p.from(ctx, 0, c, err)
}

// resolve is [Catalog.Resolve], in which functions of a Source run too. Nothing has taken effect where they panic.
func (p *Pipeline) resolve(ctx context.Context, r tool.Request) (c *tool.Call, err error) {
	defer func() {
		if cause := recover(); cause != nil {
			c = &tool.Call{Request: r, Args: r.Args}
			e := p.panicked(ctx, c, cause)
			e.OutcomeUnknown = false
			err = e
		}
	}()
	return p.Resolve(ctx, r)
}

// now is the time where somebody is told how long things take.
func now(t tool.Trace) time.Time {
	if t == nil {
		return time.Time{}
	}
	return time.Now()
}

// from takes c through the stages from the i-th on and runs it. A request that means nothing,
// which is why unresolved is not nil, goes the same way, so that it is on record.
func (p *Pipeline) from(ctx context.Context, i int, c *tool.Call, unresolved error) (tool.Result, error) {
	if i == len(p.stages) {
		return p.run(ctx, c, unresolved)
	}
	s := p.stages[i]
	begun := now(c.Trace)
	if s.around != nil {
		ctx, err := s.around.Enter(ctx, c)
		if err != nil {
			return tool.Result{}, err
		}
		return p.within(ctx, i, c, unresolved, begun)
	}
	c, err := s.check(ctx, c)
	if c.Trace != nil {
		took := time.Since(begun)
		defer func() { c.Trace(tool.TraceStage, s.name, took) }()
	}
	if err != nil {
		return tool.Result{}, err
	}
	return p.from(ctx, i+1, c, unresolved)
}

// exited is what became of a call whose goroutine ended without a word.
var exited error = &tool.Error{Op: "call", Kind: tool.Internal, Message: "the goroutine of the call exited", OutcomeUnknown: true}

// within takes c, which has entered the i-th stage, through those behind that one.
func (p *Pipeline) within(ctx context.Context, i int, c *tool.Call, unresolved error, begun time.Time) (r tool.Result, err error) {
	err = exited // it stands only if what follows never returns
	left := now(c.Trace)
	defer func() {
		if cause := recover(); cause != nil {
			r, err = tool.Result{}, p.panicked(ctx, c, cause)
		}
		behind := now(c.Trace).Sub(left)
		r, err = p.stages[i].around.Leave(ctx, c, r, err)
		if c.Trace != nil {
			c.Trace(tool.TraceStage, p.stages[i].name, time.Since(begun)-behind)
		}
	}()
	return p.from(ctx, i+1, c, unresolved)
}

// run is the end of the pipeline.
func (p *Pipeline) run(ctx context.Context, c *tool.Call, unresolved error) (tool.Result, error) {
	if unresolved != nil {
		return tool.Result{}, unresolved
	}
	if c.Trace != nil {
		begun := time.Now()
		defer func() { c.Trace(tool.TraceStage, "run", time.Since(begun)) }()
	}
	if c.Bound != nil {
		return c.Bound.Run(ctx)
	}
	return c.Source.Run(ctx, c)
}

// panicked is the error of a call that has panicked. What was panicked with may hold data of others, so
// it goes to the log and not to the caller.
func (p *Pipeline) panicked(ctx context.Context, c *tool.Call, cause any) *tool.Error {
	p.log.LogAttrs(ctx, slog.LevelError, "a call panicked",
		slog.String("call_id", c.ID), slog.String("tool", c.Tool), slog.String("name", c.Name),
		slog.Any("panic", cause), slog.String("stack", string(debug.Stack())))
	return &tool.Error{
		Op: "call", Kind: tool.Internal, Subject: c.Subject(),
		Message:        "the gateway failed while it ran the call; its log says more under call " + c.ID,
		OutcomeUnknown: c.HasEffects(),
	}
}
