// Package pipeline runs every call, whoever makes it. New lists the stages in order. Faces have a [Pipeline]
// and no other way to reach a tool.
//
//	resolve → soften → lifecycle → audit → limit → refresh → switches → validate → firewall → guardian → gate → run
//
// The [Catalog] resolves a [tool.Request] to a [tool.Call]; the Source runs it. A stage is a [tool.Stage],
// which surrounds the stages behind it, or a [tool.Check], which only looks. Each face words refusals in its
// own way.
//
// A new stage needs a folder below this one, which imports no other stage; a field in [Options] for what it
// needs; and a line in New, in the right place. A stage that may refuse before a server is asked goes before
// refresh. A stage that judges an action by its name or definition goes beside switches, one that reads
// arguments after validate. gate stays last.
package pipeline

import (
	"context"
	"encoding/json"
	"log/slog"
	"runtime/debug"
	"time"

	"collie/internal/event"
	"collie/internal/pipeline/audit"
	"collie/internal/pipeline/firewall"
	"collie/internal/pipeline/gate"
	"collie/internal/pipeline/gate/grant"
	"collie/internal/pipeline/guardian"
	"collie/internal/pipeline/lifecycle"
	"collie/internal/pipeline/limit"
	"collie/internal/pipeline/refresh"
	"collie/internal/pipeline/soften"
	"collie/internal/pipeline/switches"
	"collie/internal/pipeline/validate"
	"collie/internal/tool"
)

// Catalog is everything that can be called. It is safe for concurrent use.
type Catalog interface {
	// Resolve resolves r. On an error, the Call holds what could be found out, for the audit. If the name
	// means nothing, the error is a [*tool.Error] with Unresolved set. Resolve may wait for a server that is
	// starting, until ctx ends.
	Resolve(ctx context.Context, r tool.Request) (*tool.Call, error)
	// List returns the MCP result of a list as JSON, and the catalog's revision.
	List(ctx context.Context, kind tool.ListKind, profile string) (json.RawMessage, uint64)
	// AwaitKnown waits until every source knows its list of this kind or cannot get it, or until ctx ends.
	AwaitKnown(ctx context.Context, kind tool.ListKind)
	// Instructions returns the advice to models from all sources that a profile sees.
	Instructions(profile string) string
	// Shows reports whether a profile sees anything of the source with this name.
	Shows(profile, source string) bool
	// Watch calls f for each change until stop is called. f must not block.
	Watch(f func(tool.Change)) (stop func())
	// Subscribe and Unsubscribe count the subscribers of a resource.
	Subscribe(ctx context.Context, profile, uri string) error
	Unsubscribe(ctx context.Context, profile, uri string) error
	// InputSchema returns the schema of the tool that a name means, nil if there is none.
	InputSchema(profile, name string) json.RawMessage
	// Tell passes a client's notification to the source it is for; false if there is none.
	Tell(m *tool.Message) bool
	// Join and Leave say which sessions exist.
	Join(s *tool.Session)
	Leave(id string)
	// SetLevel sets the level of log messages that holder wants; an empty level means none.
	SetLevel(ctx context.Context, holder any, level string) error
}

// Options are what the stages need. Audit is required.
type Options struct {
	Audit     *audit.Log
	OnFailure audit.OnFailure
	Started   *event.Bus[*tool.Call]    // nil: there are no subscribers
	Bus       *event.Bus[tool.CallDone] // nil: there are no subscribers
	Limits    limit.Options
	Firewall  *firewall.Stage // nil: one with the built-in rules
	Guardian  *guardian.Stage // nil: a stage that is off
	Gate      gate.Options
	Logger    *slog.Logger // nil discards
}

// Pipeline runs calls through its stages. It is safe for concurrent use and needs no closing.
type Pipeline struct {
	Catalog
	log    *slog.Logger
	stages []step
}

// step is a named stage: either a [tool.Stage] or a [tool.Check].
type step struct {
	name   string
	around tool.Stage
	check  tool.Check
}

// New returns the pipeline in front of cat.
func New(cat Catalog, opts Options) *Pipeline {
	if opts.Logger == nil {
		opts.Logger = slog.New(slog.DiscardHandler)
	}
	bus := opts.Bus
	if bus == nil {
		bus = new(event.Bus[tool.CallDone])
	}
	started := opts.Started
	if started == nil {
		started = new(event.Bus[*tool.Call])
	}
	if opts.Firewall == nil {
		opts.Firewall = firewall.New(firewall.Options{Logger: opts.Logger})
	}
	if opts.Guardian == nil {
		opts.Guardian = guardian.New(guardian.Options{})
	}
	record := audit.NewStage(opts.Audit, &audit.StageOptions{OnFailure: opts.OnFailure})
	bounds := limit.New(opts.Limits)
	opts.Gate.Pause = bounds.Pause
	opts.Gate.Decided, opts.Gate.Touches, opts.Gate.Logger = record.Decided, opts.Firewall.Touches, opts.Logger
	opts.Gate.Given = func(c *tool.Call, g *grant.Grant) {
		detail, _ := json.Marshal(map[string]any{"given": g}) // texts and times always encode
		record.Granted(c, g.Risk, detail)
	}
	opts.Guardian.OnMonitored(record.Decided)
	return &Pipeline{Catalog: cat, log: opts.Logger, stages: []step{
		{name: "soften", around: soften.Stage{}},
		{name: "lifecycle", around: lifecycle.New(started, bus)},
		{name: "audit", around: record},
		{name: "limit", around: bounds},
		{name: "refresh", check: refresh.Check},
		{name: "switches", check: switches.Check},
		{name: "validate", check: validate.New(validate.Options{Logger: opts.Logger}).Check},
		{name: "firewall", check: opts.Firewall.Check},
		{name: "guardian", check: opts.Guardian.Check},
		{name: "gate", check: gate.New(opts.Gate).Check},
	}}
}

// Do resolves r and runs it through the pipeline. The error is a [*tool.Error], or a [*tool.ProtocolError]
// that the caller receives unchanged. A panic of a stage or Source becomes an error of kind Internal.
func (p *Pipeline) Do(ctx context.Context, r tool.Request) (tool.Result, error) {
	if r.ID == "" {
		r.ID = tool.NewCallID()
	}
	if r.Trace != nil {
		ctx = tool.WithTrace(ctx, r.Trace)
	}
	begun := nowIfTraced(r.Trace)
	c, err := p.resolve(ctx, r)
	if r.Trace != nil {
		took := time.Since(begun)
		defer func() { r.Trace(tool.TraceStage, "resolve", took) }() // reported last, since stages are reported from the last to the first
	}
	return p.runFrom(ctx, 0, c, err)
}

// DoCall runs a call that is already resolved, because no catalog knows it: an action for which the agent of another program
// asks permission. c needs a Source and an Action. The errors are those of [Pipeline.Do].
func (p *Pipeline) DoCall(ctx context.Context, c *tool.Call) (tool.Result, error) {
	if c.ID == "" {
		named := *c
		named.ID, c = tool.NewCallID(), &named
	}
	return p.runFrom(ctx, 0, c, nil)
}

// resolve is like [Catalog.Resolve], but recovers from panics, because it calls functions of Sources. After a
// panic here nothing has taken effect.
func (p *Pipeline) resolve(ctx context.Context, r tool.Request) (c *tool.Call, err error) {
	defer func() {
		if cause := recover(); cause != nil {
			c = &tool.Call{Request: r, Args: r.Args}
			e := p.panicError(ctx, c, cause)
			e.OutcomeUnknown = false
			err = e
		}
	}()
	return p.Resolve(ctx, r)
}

// nowIfTraced returns the time if the call is traced, else the zero time, which is cheaper.
func nowIfTraced(t tool.Trace) time.Time {
	if t == nil {
		return time.Time{}
	}
	return time.Now()
}

// runFrom runs c through the stages from index i on. If unresolved is not nil, the request names nothing
// that exists; it passes through the stages nevertheless, so that it is recorded.
func (p *Pipeline) runFrom(ctx context.Context, i int, c *tool.Call, unresolved error) (tool.Result, error) {
	if i == len(p.stages) {
		return p.run(ctx, c, unresolved)
	}
	s := p.stages[i]
	begun := nowIfTraced(c.Trace)
	if s.around != nil {
		ctx, err := s.around.Enter(ctx, c)
		if err != nil {
			return tool.Result{}, err
		}
		return p.runStage(ctx, i, c, unresolved, begun)
	}
	c, err := s.check(ctx, c)
	if c.Trace != nil {
		took := time.Since(begun)
		defer func() { c.Trace(tool.TraceStage, s.name, took) }()
	}
	if err != nil {
		return tool.Result{}, err
	}
	return p.runFrom(ctx, i+1, c, unresolved)
}

// errExited is the error for a call whose goroutine exited (runtime.Goexit) without returning.
var errExited error = &tool.Error{Op: "call", Kind: tool.Internal, Message: "the goroutine of the call exited", OutcomeUnknown: true}

// runStage runs c, which stage i let enter, through the stages behind that one.
func (p *Pipeline) runStage(ctx context.Context, i int, c *tool.Call, unresolved error, begun time.Time) (r tool.Result, err error) {
	err = errExited // stays if the following stages never return
	left := nowIfTraced(c.Trace)
	defer func() {
		if cause := recover(); cause != nil {
			r, err = tool.Result{}, p.panicError(ctx, c, cause)
		}
		behind := nowIfTraced(c.Trace).Sub(left)
		r, err = p.stages[i].around.Leave(ctx, c, r, err)
		if c.Trace != nil {
			c.Trace(tool.TraceStage, p.stages[i].name, time.Since(begun)-behind)
		}
	}()
	return p.runFrom(ctx, i+1, c, unresolved)
}

// run is the last step: it runs the call.
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

// panicError returns the error for a call that panicked. The panic value may hold other people's data, so it is
// logged and not returned to the caller.
func (p *Pipeline) panicError(ctx context.Context, c *tool.Call, cause any) *tool.Error {
	p.log.LogAttrs(ctx, slog.LevelError, "a call panicked",
		slog.String("call_id", c.ID), slog.String("tool", c.Tool), slog.String("name", c.Name),
		slog.Any("panic", cause), slog.String("stack", string(debug.Stack())))
	return &tool.Error{
		Op: "call", Kind: tool.Internal, Subject: c.Subject(),
		Message:        "the gateway failed while it ran the call; its log says more under call " + c.ID,
		OutcomeUnknown: c.HasEffects(),
	}
}
