package limit_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"collie/internal/pipeline/limit"
	"collie/internal/tool"
	"collie/internal/tool/tooltest"
	"collie/test/await"
)

func answerAtOnce(context.Context, *tool.Call) (tool.Result, error) {
	return tool.Result{Raw: []byte(`{}`)}, nil
}

// waitForEnd waits for the context to end and returns its error.
func waitForEnd(ctx context.Context, _ *tool.Call) (tool.Result, error) {
	<-ctx.Done()
	return tool.Result{}, ctx.Err()
}

func wantError(t *testing.T, err error, want *tool.Error) {
	t.Helper()
	got, _ := errors.AsType[*tool.Error](err)
	want.Op = "call"
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("error %v (-want +got):\n%s", err, diff)
	}
}

func TestArgumentsAreBounded(t *testing.T) {
	t.Parallel()
	s := limit.New(limit.Options{MaxArgs: 10})
	if _, err := tooltest.Through(t.Context(), s, &tool.Call{Args: make([]byte, 10)}, answerAtOnce); err != nil {
		t.Errorf("at the limit: %v", err)
	}
	_, err := tooltest.Through(t.Context(), s, &tool.Call{Tool: "block", Action: &tool.Action{Name: "append"}, Args: make([]byte, 11)}, answerAtOnce)
	wantError(t, err, &tool.Error{
		Kind: tool.Invalid, Subject: "block.append",
		Message: "the arguments have 11 bytes, the limit is 10",
		Hint:    "send less at once, or write it in parts",
	})
}

// startCalls starts n calls like c that run until release is called.
func startCalls(t *testing.T, s *limit.Stage, n int, c tool.Call) (release func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	var running, done sync.WaitGroup
	for range n {
		running.Add(1)
		done.Go(func() {
			_, _ = tooltest.Through(ctx, s, &c, func(ctx context.Context, c *tool.Call) (tool.Result, error) {
				running.Done()
				return waitForEnd(ctx, c)
			})
		})
	}
	running.Wait()
	return func() { cancel(); done.Wait() }
}

func TestCallsInFlightAreBounded(t *testing.T) {
	t.Parallel()
	s := limit.New(limit.Options{PerSession: 2, Total: 5})
	try := func(c tool.Call) error {
		c.Name = "notes"
		_, err := tooltest.Through(t.Context(), s, &c, answerAtOnce)
		return err
	}
	first := startCalls(t, s, 2, tool.Call{Request: tool.Request{Session: "a"}})
	wantError(t, try(tool.Call{Request: tool.Request{Session: "a", Principal: "p"}}), &tool.Error{
		Kind: tool.Busy, Subject: "notes",
		Message: "this session has 2 calls in flight, which is the limit; this one did not run",
		Hint:    "wait for an answer, then call again",
	})
	if err := try(tool.Call{Request: tool.Request{Session: "b"}}); err != nil {
		t.Errorf("another session: %v", err)
	}
	second := startCalls(t, s, 2, tool.Call{Request: tool.Request{Principal: "p"}})
	if err := try(tool.Call{Request: tool.Request{Principal: "p"}}); tool.KindOf(err) != tool.Busy {
		t.Errorf("a principal without a session: %v, want busy", err)
	}
	if err := try(tool.Call{Request: tool.Request{Principal: "q"}}); err != nil {
		t.Errorf("another principal: %v", err)
	}
	third := startCalls(t, s, 1, tool.Call{Request: tool.Request{Session: "b"}})
	wantError(t, try(tool.Call{Request: tool.Request{Session: "c"}}), &tool.Error{
		Kind: tool.Busy, Subject: "notes",
		Message: "the gateway has 5 calls in flight, which is the limit; this one did not run",
		Hint:    "wait for an answer, then call again",
	})
	first()
	if err := try(tool.Call{Request: tool.Request{Session: "a"}}); err != nil {
		t.Errorf("after the calls have ended: %v", err)
	}
	second()
	third()
	for range 3 { // at rest all places are free again, each time
		again := []func(){startCalls(t, s, 2, tool.Call{Request: tool.Request{Session: "a"}}), startCalls(t, s, 2, tool.Call{Request: tool.Request{Principal: "p"}}), startCalls(t, s, 1, tool.Call{Request: tool.Request{Session: "b"}})}
		for _, end := range again {
			end()
		}
	}
}

func TestDefaultsAreTheDocumentedOnes(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := limit.New(limit.Options{})
		release := startCalls(t, s, 256, tool.Call{Request: tool.Request{Session: "a"}})
		if _, err := tooltest.Through(t.Context(), s, &tool.Call{Request: tool.Request{Session: "a"}}, answerAtOnce); tool.KindOf(err) != tool.Busy {
			t.Errorf("call 257 of a session: %v, want busy", err)
		}
		if _, err := tooltest.Through(t.Context(), s, &tool.Call{Args: make([]byte, 16<<20)}, answerAtOnce); err != nil {
			t.Errorf("16 MiB of arguments: %v", err)
		}
		release()
		start := time.Now()
		_, _ = tooltest.Through(t.Context(), s, &tool.Call{}, waitForEnd)
		if d := time.Since(start); d < 10*time.Minute || d > 10*time.Minute+time.Second {
			t.Errorf("a call may take %v, want 10 minutes, looked at every second", d)
		}
	})
}

func TestTimeIsBounded(t *testing.T) {
	t.Parallel()
	read, write := &tool.Action{Name: "list", ReadOnly: true}, &tool.Action{Name: "append"}
	quick, slow := &tool.Action{Name: "ping", Timeout: time.Second}, &tool.Action{Name: "export", Timeout: time.Hour}
	say := func(e *tool.Error) tool.Runner {
		return func(ctx context.Context, _ *tool.Call) (tool.Result, error) {
			<-ctx.Done()
			return tool.Result{}, fmt.Errorf("wrapped: %w", e)
		}
	}
	minute := func(action string, unknown bool) *tool.Error {
		return &tool.Error{
			Kind: tool.Timeout, Subject: "block." + action, OutcomeUnknown: unknown,
			Message: "took longer than the limit of 1 minute for a call (1 minute elapsed)", Hint: "ask for less at once",
		}
	}
	tests := []struct {
		name   string
		action *tool.Action
		next   tool.Runner
		want   *tool.Error
	}{
		{"write", write, waitForEnd, minute("append", true)},
		{"read", read, waitForEnd, minute("list", false)},
		{"longer than the pipeline allows", slow, waitForEnd, minute("export", true)},
		{"the source says that nothing was sent", write, say(&tool.Error{Kind: tool.Canceled}), minute("append", false)},
		{"the source says that it may have happened", read, say(&tool.Error{Kind: tool.Canceled, OutcomeUnknown: true}), minute("list", true)},
		{"shorter for one action", quick, waitForEnd, &tool.Error{
			Kind: tool.Timeout, Subject: "block.ping", OutcomeUnknown: true,
			Message: "took longer than the limit of 1 second for a call (1 second elapsed)", Hint: "ask for less at once",
		}},
		{"the source knows better", write, say(&tool.Error{Op: "call", Kind: tool.Crashed, Subject: "github"}), &tool.Error{Kind: tool.Crashed, Subject: "github"}},
		{"slow to give up", write, func(ctx context.Context, c *tool.Call) (tool.Result, error) {
			defer await.Sleep(1500 * time.Millisecond)
			return waitForEnd(ctx, c)
		}, &tool.Error{
			Kind: tool.Timeout, Subject: "block.append", OutcomeUnknown: true,
			Message: "took longer than the limit of 1 minute for a call (1m1.5s elapsed)", Hint: "ask for less at once",
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				s := limit.New(limit.Options{MaxCall: time.Minute})
				_, err := tooltest.Through(t.Context(), s, &tool.Call{Request: tool.Request{Kind: tool.KindCall}, Tool: "block", Action: tt.action}, tt.next)
				wantError(t, err, tt.want)
			})
		})
	}
}

func TestAnAnswerInSpiteOfTheLimitIsKept(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := limit.New(limit.Options{MaxCall: time.Second})
		r, err := tooltest.Through(t.Context(), s, &tool.Call{}, func(ctx context.Context, c *tool.Call) (tool.Result, error) {
			<-ctx.Done()
			return answerAtOnce(ctx, c)
		})
		if err != nil || string(r.Raw) != `{}` {
			t.Errorf("result %s, error %v; want the answer", r.Raw, err)
		}
	})
}

func TestCauseOfTheContextNamesTheLimit(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := limit.New(limit.Options{MaxCall: time.Second})
		var cause error
		_, _ = tooltest.Through(t.Context(), s, &tool.Call{}, func(ctx context.Context, _ *tool.Call) (tool.Result, error) {
			<-ctx.Done()
			cause = context.Cause(ctx)
			return tool.Result{}, cause
		})
		if !errors.Is(cause, context.DeadlineExceeded) {
			t.Errorf("cause %v is not a deadline", cause)
		}
		wantError(t, cause, &tool.Error{Kind: tool.Timeout, Message: "the call took longer than its limit of 1 second"})
	})
}

func TestCallerGivesUp(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := limit.New(limit.Options{})
		call := &tool.Call{Request: tool.Request{Kind: tool.KindCall, Name: "notes"}}
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(3*time.Second, cancel)
		_, err := tooltest.Through(ctx, s, call, waitForEnd)
		wantError(t, err, &tool.Error{Kind: tool.Canceled, Subject: "notes", Message: "cancelled by the caller after 3 seconds"})

		ctx, cancel = context.WithTimeout(t.Context(), 2*time.Second)
		defer cancel()
		_, err = tooltest.Through(ctx, s, call, waitForEnd)
		wantError(t, err, &tool.Error{
			Kind: tool.Timeout, Subject: "notes", OutcomeUnknown: true,
			Message: "took longer than the caller allowed (2 seconds elapsed)",
		})
	})
}

func TestErrorsOfARunningCallPass(t *testing.T) {
	t.Parallel()
	s := limit.New(limit.Options{})
	for _, want := range []error{
		tool.NewProtocolError(-32002, "no such resource", nil),
		&tool.Error{Kind: tool.Canceled, Message: "by the server"},
		context.Canceled,
	} {
		_, err := tooltest.Through(t.Context(), s, &tool.Call{}, func(context.Context, *tool.Call) (tool.Result, error) { return tool.Result{}, want })
		if err != want { //nolint:errorlint // must be the same error value
			t.Errorf("error %v became %v", want, err)
		}
	}
}

func TestConcurrentCallsNeverPassTheLimit(t *testing.T) {
	t.Parallel()
	s := limit.New(limit.Options{PerSession: 3, Total: 8})
	var mu sync.Mutex
	running, most := map[string]int{}, 0
	var wg sync.WaitGroup
	for i := range 16 {
		session := string(rune('a' + i%4))
		wg.Go(func() {
			for range 200 {
				_, _ = tooltest.Through(t.Context(), s, &tool.Call{Request: tool.Request{Session: session}}, func(context.Context, *tool.Call) (tool.Result, error) {
					mu.Lock()
					running[session]++
					running[""]++
					most = max(most, running[""])
					if running[session] > 3 {
						t.Errorf("session %q has %d calls", session, running[session])
					}
					mu.Unlock()
					mu.Lock() // it was free in between, so that calls overlap
					running[session]--
					running[""]--
					mu.Unlock()
					return tool.Result{}, nil
				})
			}
		})
	}
	wg.Wait()
	if most > 8 {
		t.Errorf("%d calls at once, want at most 8", most)
	}
}

func BenchmarkDo(b *testing.B) {
	s := limit.New(limit.Options{})
	c := &tool.Call{Request: tool.Request{Session: "a"}, Args: []byte(`{}`)}
	ctx := b.Context()
	b.ReportAllocs()
	for b.Loop() {
		_, _ = tooltest.Through(ctx, s, c, answerAtOnce)
	}
}

// If whoever made the call provides Cancel, the limit ends the call with it and needs no context of its own. A cause
// that the Source gives is reported unchanged.
func TestContextThatTheCallCanEnd(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := limit.New(limit.Options{})
		do := func(next tool.Runner) (ended, err error) {
			ctx, cancel := context.WithCancelCause(t.Context())
			defer cancel(nil)
			_, err = tooltest.Through(ctx, s, &tool.Call{Request: tool.Request{Kind: tool.KindCall, Name: "notes", Cancel: cancel}}, next)
			return ctx.Err(), err
		}
		ended, err := do(waitForEnd)
		wantError(t, err, &tool.Error{
			Kind: tool.Timeout, Subject: "notes", OutcomeUnknown: true,
			Message: "took longer than the limit of 10 minutes for a call (601 seconds elapsed)", Hint: "ask for less at once",
		})
		if ended == nil {
			t.Error("the call ran with a context of its own")
		}
		stopped := &tool.Error{Op: "call", Kind: tool.Canceled, Subject: "notes", Message: "the server was stopped while the call ran"}
		if _, err = do(func(ctx context.Context, c *tool.Call) (tool.Result, error) {
			c.Cancel(stopped)
			return tool.Result{}, context.Cause(ctx)
		}); err != error(stopped) { //nolint:errorlint // must be the same error value
			t.Errorf("error %v, want the Source's", err)
		}
		if _, err = do(func(ctx context.Context, c *tool.Call) (tool.Result, error) {
			c.Cancel(errors.New("the client hung up"))
			return waitForEnd(ctx, c)
		}); tool.KindOf(err) != tool.Canceled || !strings.Contains(err.Error(), "cancelled by the caller") {
			t.Errorf("error %v of a call that its caller has ended", err)
		}
	})
}

// The time in which the stage is paused counts for no call around it, with a limit of either kind.
func TestPause(t *testing.T) {
	t.Parallel()
	for _, bound := range []time.Duration{10 * time.Second, 3 * time.Minute} {
		synctest.Test(t, func(t *testing.T) {
			s := limit.New(limit.Options{MaxCall: bound})
			call := &tool.Call{Request: tool.Request{Kind: tool.KindCall, Name: "notes"}}
			asks := func(ctx context.Context, _ *tool.Call) (tool.Result, error) {
				resume := s.Pause(ctx)
				if until, ok := ctx.Deadline(); ok {
					t.Errorf("a paused call ends at %v", until)
				}
				await.Sleep(2 * bound)
				resume()
				if until, ok := ctx.Deadline(); !ok || !until.Equal(time.Now().Add(bound)) {
					t.Errorf("a call that goes on ends at %v, %t", until, ok)
				}
				return tool.Result{}, ctx.Err()
			}
			if _, err := tooltest.Through(t.Context(), s, call, asks); err != nil {
				t.Errorf("limit of %v: %v", bound, err)
			}
			within := func(ctx context.Context, c *tool.Call) (tool.Result, error) { // two at once, of which one takes longer
				var both sync.WaitGroup
				both.Go(func() {
					defer s.Pause(ctx)()
					await.Sleep(bound)
				})
				r, err := tooltest.Through(ctx, s, c, asks)
				both.Wait()
				if err == nil {
					err = ctx.Err()
				}
				return r, err
			}
			if _, err := tooltest.Through(t.Context(), s, call, within); err != nil {
				t.Errorf("limit of %v, within another call: %v", bound, err)
			}
			begun := time.Now()
			_, err := tooltest.Through(t.Context(), s, call, func(ctx context.Context, c *tool.Call) (tool.Result, error) {
				if r, err := asks(ctx, c); err != nil {
					return r, err
				}
				return waitForEnd(ctx, c)
			})
			if took := time.Since(begun); tool.KindOf(err) != tool.Timeout || took < 3*bound || took > 3*bound+2*time.Second {
				t.Errorf("limit of %v: %v after %v", bound, err, took)
			}
		})
	}
	if resume := limit.New(limit.Options{}).Pause(t.Context()); resume != nil { // of no call
		resume()
	}
}
