package lifecycle_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"collie/internal/event"
	"collie/internal/pipeline/lifecycle"
	"collie/internal/tool"
	"collie/internal/tool/tooltest"
	"collie/test/await"
)

// The stage publishes each call once before it runs and once after it, and returns result and error unchanged.
func TestEachCallIsToldOnce(t *testing.T) {
	t.Parallel()
	boom := errors.New("boom")
	refusal := &tool.Error{Kind: tool.Denied}
	tests := []struct {
		name   string
		result tool.Result
		err    error
		want   tool.CallDone
	}{
		{name: "ok", result: tool.Result{Raw: []byte(`{"content":[]}`)}, want: tool.CallDone{Outcome: tool.OK, BytesOut: 14}},
		{name: "error result", result: tool.Result{Raw: []byte(`{}`), IsError: true}, want: tool.CallDone{Outcome: tool.Failed, BytesOut: 2}},
		{name: "error", err: boom, want: tool.CallDone{Outcome: tool.Failed, Err: boom}},
		{name: "refusal", err: refusal, want: tool.CallDone{Outcome: tool.Refused, Err: refusal}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				var bus event.Bus[tool.CallDone]
				sub := bus.Subscribe(4)
				var started event.Bus[*tool.Call]
				begun := started.Subscribe(4)
				defer begun.Close()
				c := &tool.Call{Request: tool.Request{Name: "notes"}}
				start := time.Now()
				r, err := tooltest.Through(t.Context(), lifecycle.New(&started, &bus), c, func(context.Context, *tool.Call) (tool.Result, error) {
					if n := len(begun.C()); n != 1 {
						t.Errorf("%d calls were told to have begun before this one ran, want 1", n)
					}
					await.Sleep(3 * time.Second)
					return tt.result, tt.err
				})
				if diff := cmp.Diff(tt.result, r); diff != "" || err != tt.err { //nolint:errorlint // must be the same error value
					t.Errorf("Do changed what it was given: error %v, result (-want +got):\n%s", err, diff)
				}
				tt.want.Call, tt.want.Start, tt.want.Duration, tt.want.Result = c, start, 3*time.Second, tt.result.Raw
				sub.Close()
				var got []tool.CallDone
				for done := range sub.C() {
					got = append(got, *done)
				}
				if diff := cmp.Diff([]tool.CallDone{tt.want}, got, cmpopts.EquateErrors()); diff != "" {
					t.Errorf("events (-want +got):\n%s", diff)
				}
			})
		})
	}
}

// Not parallel: it counts allocations.
func TestNobodyListeningCostsNothing(t *testing.T) {
	stage, c := lifecycle.New(new(event.Bus[*tool.Call]), new(event.Bus[tool.CallDone])), new(tool.Call)
	next := func(context.Context, *tool.Call) (tool.Result, error) { return tool.Result{}, nil }
	if n := testing.AllocsPerRun(100, func() { _, _ = tooltest.Through(context.Background(), stage, c, next) }); n != 0 {
		t.Errorf("Do allocates %v times, want 0", n)
	}
}
