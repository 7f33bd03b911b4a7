package tool

import (
	"context"
	"time"
)

// Trace is told what a Call does on its way, for whoever looks for a fault: a stage of the pipeline by
// its name, a request to the kernel by its endpoint and what came of it. It is safe for concurrent
// use and returns at once.
type Trace func(kind, what string, took time.Duration)

// The kinds of what a Trace is told.
const (
	TraceStage  = "stage"
	TraceKernel = "kernel"
)

// MethodTrace is a notification of ours to the command line: {"kind":…,"what":…,"us":…}.
const MethodTrace = "collie/trace"

type traceKey struct{}

// WithTrace is ctx for what runs below a traced Call.
func WithTrace(ctx context.Context, t Trace) context.Context {
	return context.WithValue(ctx, traceKey{}, t)
}

// TraceOf is the Trace that ctx carries, nil if it carries none.
func TraceOf(ctx context.Context) Trace {
	t, _ := ctx.Value(traceKey{}).(Trace)
	return t
}
