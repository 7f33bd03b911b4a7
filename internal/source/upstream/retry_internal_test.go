package upstream

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"collie/internal/mcp"
	"collie/internal/tool"
)

// A call that was lost when the server died is repeated only if that can do no harm.
func TestLostCalls(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name    string
		setting string
		kind    tool.Kind
		action  tool.Action
		deaths  int64
		calls   int64
		unknown bool // the error says that the outcome is unknown
	}{
		{name: "a write", deaths: 1, calls: 1, unknown: true},
		{name: "a read that nobody trusts to be one", action: tool.Action{ReadOnly: true}, deaths: 1, calls: 1},
		{name: "a trusted read", setting: `,"trust":"off"`, action: tool.Action{ReadOnly: true}, deaths: 1, calls: 2},
		{name: "a trusted repetition", setting: `,"trust":"off"`, action: tool.Action{Idempotent: true}, deaths: 1, calls: 2},
		{name: "a trusted write", setting: `,"trust":"off"`, deaths: 1, calls: 1, unknown: true},
		{name: "what the user says", setting: `,"tools":{"override":{"echo":{"retry":true}}}`, deaths: 1, calls: 2},
		{name: "once only", setting: `,"tools":{"override":{"echo":{"retry":true}}}`, deaths: 5, calls: 2, unknown: true},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				m := &fakeServer{}
				s, done := newPlayedServer(t, m, fmt.Sprintf(plain, test.setting))
				defer done()
				m.fatalCalls.Store(test.deaths)
				test.action.Name = "echo"
				_, err := s.Run(t.Context(), &tool.Call{
					Request: tool.Request{Kind: tool.KindCall, Name: "m__echo"},
					Target:  "echo", Args: json.RawMessage(`{}`), Action: &test.action,
				})
				e, _ := errors.AsType[*tool.Error](err)
				if m.calls.Load() != test.calls || (err == nil) != (test.calls > test.deaths) || e != nil && e.OutcomeUnknown != test.unknown {
					t.Errorf("%d calls, want %d; %v, unknown %v", m.calls.Load(), test.calls, err, e != nil && e.OutcomeUnknown)
				}
			})
		})
	}
}

// If a call's first try may have taken effect, the outcome is unknown, however the second try ends.
func TestLostCallThatCannotBeRepeated(t *testing.T) {
	t.Parallel()
	for name, readOnly := range map[string]bool{"a repetition": false, "a read": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for reason, prevent := range map[string]func(*fakeServer, context.CancelCauseFunc){
				"it does not start": func(m *fakeServer, _ context.CancelCauseFunc) { m.refuse.Store(true) },
				"it starts too slowly": func(m *fakeServer, cancel context.CancelCauseFunc) {
					m.hold = make(chan struct{})
					time.AfterFunc(time.Second, func() { cancel(&tool.Error{Op: "call", Kind: tool.Timeout, Message: "no answer"}) })
				},
			} {
				synctest.Test(t, func(t *testing.T) {
					m := &fakeServer{}
					s, done := newPlayedServer(t, m, fmt.Sprintf(plain, `,"trust":"off","tools":{"override":{"echo":{"retry":true}}}`))
					defer done()
					if err := callEchoTool(s); err != nil {
						t.Fatal(err)
					}
					ctx, cancel := context.WithCancelCause(t.Context())
					defer cancel(nil)
					m.fatalCalls.Store(1)
					prevent(m, cancel)
					_, err := s.Run(ctx, &tool.Call{
						Request: tool.Request{Kind: tool.KindCall, Name: "m__echo", Cancel: cancel},
						Target:  "echo", Args: json.RawMessage(`{}`), Action: &tool.Action{Name: "echo", ReadOnly: readOnly},
					})
					if e, _ := errors.AsType[*tool.Error](err); e == nil || e.OutcomeUnknown == readOnly || m.calls.Load() != 2 {
						t.Errorf("%s: %d calls, %+v", reason, m.calls.Load(), err)
					}
				})
			}
		})
	}
}

// If a call is canceled and loses its connection at the same moment, the error gives the reason of the cancellation,
// and says that the outcome is unknown if the call was sent.
func TestLostWhenAlreadyEnded(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s, done := newPlayedServer(t, &fakeServer{}, fmt.Sprintf(plain, ""))
		defer done()
		c, err := s.connectionFor(t.Context(), slot{}, true)
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancelCause(t.Context())
		cancel(&tool.Error{Op: "call", Kind: tool.Timeout, Message: "no answer"})
		call := &tool.Call{Request: tool.Request{Kind: tool.KindCall}, Action: &tool.Action{Name: "echo"}}
		for _, sent := range []bool{false, true} {
			err := c.explainError(ctx, call, &mcp.LinkError{Sent: sent, Err: errors.New("gone")})
			if e, _ := errors.AsType[*tool.Error](err); e == nil || e.Kind != tool.Timeout || e.OutcomeUnknown != sent {
				t.Errorf("sent %t: %+v", sent, err)
			}
		}
	})
}

// In a later round of a call the server has already received the call, so the outcome is unknown even if this round
// was not sent.
func TestALaterRoundCountsAsSent(t *testing.T) {
	t.Parallel()
	err := error(&mcp.LinkError{Err: errors.New("gone")})
	if !wasNotSent(roundError(0, err)) || wasNotSent(roundError(1, err)) || wasNotSent(roundError(1, fmt.Errorf("x: %w", err))) {
		t.Error("a call whose first round was sent counts as unsent, or one that was not as sent")
	}
	if !isLost(roundError(1, err)) {
		t.Error("it is not known as lost")
	}
	if err := errors.New("other"); roundError(1, err) != err { //nolint:errorlint // the same one
		t.Error("another error is changed")
	}
}
