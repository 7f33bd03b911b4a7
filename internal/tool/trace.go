package tool

import (
	"context"
	"time"
)

// Trace is told the steps of a Call, for whoever looks for a fault: a stage of the pipeline with its name, or
// a request to the kernel with its endpoint and outcome. It is safe for concurrent use and returns at once.
type Trace func(kind, what string, took time.Duration)

// The kinds of steps that a Trace is told.
const (
	TraceStage  = "stage"
	TraceKernel = "kernel"
)

// MethodTrace is our own notification to the command line: {"kind":…,"what":…,"us":…}, us being microseconds.
const MethodTrace = "collie/trace"

type traceKey struct{}

// WithTrace returns ctx with the Trace t of the Call that runs in it.
func WithTrace(ctx context.Context, t Trace) context.Context {
	return context.WithValue(ctx, traceKey{}, t)
}

// TraceOf returns the Trace of ctx, nil if there is none.
func TraceOf(ctx context.Context) Trace {
	t, _ := ctx.Value(traceKey{}).(Trace)
	return t
}
