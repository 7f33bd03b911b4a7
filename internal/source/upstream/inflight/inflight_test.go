package inflight_test

import (
	"context"
	"encoding/json"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"collie/internal/source/upstream/inflight"
	"collie/internal/tool"
	"collie/test/await"
)

// begin is the time at which the connections of these tests are opened.
var begin = time.Now()

// RetireIdle reports an unused connection and retires it at the same moment. Reinstate reverses that.
func TestRetireIdle(t *testing.T) {
	t.Parallel()
	c := inflight.New(begin)
	if left := c.RetireIdle(begin.Add(time.Minute), 10*time.Minute); left != 9*time.Minute {
		t.Errorf("a minute after it began: %v left", left)
	}
	_, f := c.Add(t.Context(), &tool.Call{}, time.Hour)
	if f == nil || !c.Busy() {
		t.Fatal("it does not take a call")
	}
	if left := c.RetireIdle(begin.Add(time.Hour), 10*time.Minute); left <= 0 {
		t.Errorf("with a call in flight: %v left", left)
	}
	ended := c.Remove(f)
	if left := c.RetireIdle(ended.Add(time.Hour), 10*time.Minute); left != 0 {
		t.Errorf("an hour after a call: %v left", left)
	}
	if _, f := c.Add(t.Context(), &tool.Call{}, time.Hour); f != nil {
		t.Error("retired, it takes a call")
	}
	select {
	case <-c.Ended():
	default:
		t.Error("it is retired and has no calls, which is not told")
	}
	c.Reinstate()
	if _, f := c.Add(t.Context(), &tool.Call{}, time.Hour); f == nil {
		t.Error("in use again, it takes no call")
	}
}

// Ended is closed at the end of the last call of a retired connection.
func TestRetire(t *testing.T) {
	t.Parallel()
	c := inflight.New(begin)
	_, f := c.Add(t.Context(), &tool.Call{}, time.Hour)
	c.Retire()
	select {
	case <-c.Ended():
		t.Error("a call is in flight still")
	default:
	}
	c.Remove(f)
	<-c.Ended()
}

// A call whose own context can be canceled gets no second context. After Remove, End of that try does not affect a
// repetition with the same context.
func TestContextOfACall(t *testing.T) {
	t.Parallel()
	c := inflight.New(begin)
	ctx, cancel := context.WithCancelCause(t.Context())
	defer cancel(nil)
	call := &tool.Call{Request: tool.Request{Kind: tool.KindCall, Cancel: cancel}}
	used, first := c.Add(ctx, call, time.Hour)
	if used != ctx {
		t.Error("it has a context of its own")
	}
	c.Remove(first)
	_, second := c.Add(ctx, call, time.Hour)
	why := &tool.Error{Kind: tool.Canceled}
	if first.End(why); ctx.Err() != nil {
		t.Fatalf("one that was over ended the call: %v", context.Cause(ctx))
	}
	second.End(why)
	if context.Cause(ctx) != why { //nolint:errorlint // the very one
		t.Errorf("it ended with %v", context.Cause(ctx))
	}
	c.Remove(second)
}

// teller is a caller that takes progress.
type teller struct {
	tool.Caller
	heard []string
}

func (c *teller) Notify(_ context.Context, _ string, params json.RawMessage) {
	c.heard = append(c.heard, string(params))
}

// A call past its deadline ends with an error that says what to do. Rising progress and questions to a person extend
// the deadline. Progress is passed on under the caller's token.
func TestTimeOfACall(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c, caller := inflight.New(time.Now()), &teller{}
		begun := time.Now()
		ctx, f := c.Add(t.Context(), &tool.Call{
			Request: tool.Request{Caller: caller, Params: json.RawMessage(`{"_meta":{"progressToken":"theirs"}}`)},
		}, time.Minute)
		await.Sleep(50 * time.Second)
		f.Progressed(json.RawMessage(`{"progressToken":"1","progress":1}`))
		await.Sleep(50 * time.Second)
		f.Progressed(json.RawMessage(`{"progressToken":"1","progress":1}`)) // it does not rise
		resume := f.Pause()
		await.Sleep(time.Hour)
		resume()
		await.Sleep(50 * time.Second)
		if ctx.Err() != nil {
			t.Fatalf("it ended after %v: %v", time.Since(begun), context.Cause(ctx))
		}
		<-ctx.Done()
		if took := time.Since(begun) - time.Hour; took < 160*time.Second || took > 162*time.Second {
			t.Errorf("it ended after %v beside the question", took)
		}
		if e, ok := errors.AsType[*tool.Error](context.Cause(ctx)); !ok || e.Kind != tool.Timeout || e.Hint == "" {
			t.Errorf("it ended with %v", context.Cause(ctx))
		}
		c.Remove(f)
		if len(caller.heard) != 1 || caller.heard[0] != `{"progressToken":"theirs","progress":1}` {
			t.Errorf("the caller heard %q", caller.heard)
		}
	})
}

// A call has one id for its client and another for the server. Messages are translated only for the session that made
// the call.
func TestNames(t *testing.T) {
	t.Parallel()
	c := inflight.New(begin)
	call := &tool.Call{Request: tool.Request{Session: "a", RequestID: `"x"`, Params: json.RawMessage(`{"_meta":{"progressToken":"theirs"}}`), Caller: &teller{}}}
	_, f := c.Add(t.Context(), call, time.Hour)
	defer c.Remove(f)
	f.Wire.Store(7)
	about := func(session, params string) *tool.Message {
		return &tool.Message{Session: session, Params: json.RawMessage(params)}
	}
	if got, ok := c.Translate(about("a", `{"requestId":"x"}`)); !ok || string(got) != `{"requestId":7}` {
		t.Errorf("its own client's name for it became %s", got)
	}
	if got, ok := c.Translate(about("b", `{"requestId":"x"}`)); ok {
		t.Errorf("another session's message became %s", got)
	}
	if !c.IsAnothers(about("b", `{"requestId":7}`)) || c.IsAnothers(about("b", `{"requestId":8}`)) {
		t.Error("the server's name for it is not known, or another one is")
	}
	if g, got := c.Named(json.RawMessage(`{"requestId":7}`)); g != f || string(got) != `{"requestId":"x"}` {
		t.Errorf("the server's name for it became %s", got)
	}
}

// A call whose own context can be canceled costs one allocation, since it gets no second context.
//
// Not parallel: it counts allocations.
func TestCallAllocatesLittle(t *testing.T) {
	c := inflight.New(begin)
	ctx, cancel := context.WithCancelCause(t.Context())
	defer cancel(nil)
	call := &tool.Call{Request: tool.Request{Kind: tool.KindCall, Cancel: cancel}}
	if n := testing.AllocsPerRun(200, func() {
		_, f := c.Add(ctx, call, time.Hour)
		c.Remove(f)
	}); n > 1 {
		t.Errorf("a call in flight allocates %v times, want 1", n)
	}
}
