package upstream

import (
	"encoding/json"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"

	"collie/internal/mcp"
	"collie/internal/tool"
)

// A call that a server took with it when it died is made again once where that can do no harm, and
// never otherwise.
func TestLostCalls(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name    string
		setting string
		kind    tool.Kind
		action  tool.Action
		deaths  int64
		calls   int64
		unknown bool // the outcome; else the call works
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
				m := &memory{}
				s, done := live(t, m, fmt.Sprintf(plain, test.setting))
				defer done()
				m.fatal.Store(test.deaths)
				test.action.Name = "echo"
				_, err := s.Run(t.Context(), &tool.Call{
					Kind: tool.KindCall, Name: "m__echo", Target: "echo", Args: json.RawMessage(`{}`), Action: &test.action,
				})
				e, _ := errors.AsType[*tool.Error](err)
				if m.calls.Load() != test.calls || (err == nil) != (test.calls > test.deaths) || e != nil && e.OutcomeUnknown != test.unknown {
					t.Errorf("%d calls, want %d; %v, unknown %v", m.calls.Load(), test.calls, err, e != nil && e.OutcomeUnknown)
				}
			})
		})
	}
}

// In a second round of a call the server has got the call, whether or not this round got there.
func TestALaterRoundCountsAsSent(t *testing.T) {
	t.Parallel()
	err := error(&mcp.LinkError{Err: errors.New("gone")})
	if !unsent(inRound(0, err)) || unsent(inRound(1, err)) || unsent(inRound(1, fmt.Errorf("x: %w", err))) {
		t.Error("a call whose first round was sent counts as unsent, or one that was not as sent")
	}
	if !lost(inRound(1, err)) {
		t.Error("it is not known as lost")
	}
	if err := errors.New("other"); inRound(1, err) != err { //nolint:errorlint // the same one
		t.Error("another error is changed")
	}
}
