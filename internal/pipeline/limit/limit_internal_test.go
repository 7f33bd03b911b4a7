package limit

import (
	"context"
	"fmt"
	"testing"

	"collie/internal/tool"
	"collie/internal/tool/tooltest"
)

func TestCountersDoNotLeak(t *testing.T) {
	t.Parallel()
	s := New(Options{PerSession: 1})
	for i := range 1000 {
		c := &tool.Call{Request: tool.Request{Session: fmt.Sprint(i)}}
		_, _ = tooltest.Through(t.Context(), s, c, func(ctx context.Context, _ *tool.Call) (tool.Result, error) {
			// A refused call must not be counted either.
			_, err := tooltest.Through(ctx, s, c, nil)
			return tool.Result{}, err
		})
	}
	if total, entries := s.calls.countEntries(); total != 0 || entries != 0 {
		t.Errorf("%d calls and %d entries at rest, want none", total, entries)
	}
}

// Not parallel: it counts allocations.
func TestCountingAllocatesNothing(t *testing.T) {
	s := New(Options{})
	c := &tool.Call{Request: tool.Request{Session: "a"}}
	n := testing.AllocsPerRun(1000, func() {
		_ = s.admit(c)
		s.calls.leave(callerOf(c))
	})
	if n != 0 {
		t.Errorf("counting a call allocates %v times, want 0", n)
	}
}

// Not parallel: it counts allocations.
func TestCallThatCanBeEndedGetsNoContext(t *testing.T) {
	s := New(Options{})
	ctx, cancel := context.WithCancelCause(t.Context())
	defer cancel(nil)
	c := &tool.Call{Request: tool.Request{Session: "a", Cancel: cancel}}
	next := func(context.Context, *tool.Call) (tool.Result, error) { return tool.Result{}, nil }
	if n := testing.AllocsPerRun(1000, func() { _, _ = tooltest.Through(ctx, s, c, next) }); n > 2 {
		t.Errorf("the limit allocates %v times, want 2: what stands for the call and how it ends", n)
	}
}

// countEntries returns the number of running calls and of entries.
func (f *inFlight) countEntries() (total, entries int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.total, len(f.each)
}
