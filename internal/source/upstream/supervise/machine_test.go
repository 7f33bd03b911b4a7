package supervise_test

import (
	"errors"
	"testing"
	"time"

	"collie/internal/source/upstream/entry"
	"collie/internal/source/upstream/supervise"
	"collie/internal/tool"
)

var (
	begin   = time.Unix(1e9, 0)
	usual   = supervise.Policy{Restart: entry.Restart{Max: 3, Window: time.Hour, Base: 2 * time.Second, Cap: time.Minute}, IdleTimeout: 10 * time.Minute}
	errTest = errors.New("no luck")
)

// event is something that happens a given time after the previous event.
type event struct {
	after time.Duration
	tell  func(m *supervise.Machine, now time.Time)
}

// starting, and the functions below, tell a Machine what has happened.
func starting(m *supervise.Machine, now time.Time) { m.Starting(now, "") }

func stopping(m *supervise.Machine, now time.Time) { m.Stopping(now, "idle_stop") }

func stopped(m *supervise.Machine, now time.Time) { m.Stopped(now, "idle_stop", "") }

func signedOut(m *supervise.Machine, now time.Time) { m.SignedOut(now, "sign in") }

func finish(m *supervise.Machine, _ time.Time) { m.Finish() }

func ready(m *supervise.Machine, now time.Time) { m.Ready(now) }

func answered(m *supervise.Machine, now time.Time) { m.Answered(now) }

func forgive(m *supervise.Machine, now time.Time) { m.Forgive(now) }

func cancelRetry(m *supervise.Machine, now time.Time) { m.CancelRetry(now) }

func lost(m *supervise.Machine, now time.Time) { m.Lost(now) }

func postpone(d time.Duration) func(*supervise.Machine, time.Time) {
	return func(m *supervise.Machine, now time.Time) { m.Postpone(now, d) }
}

func reconfigured(connected bool) func(*supervise.Machine, time.Time) {
	return func(m *supervise.Machine, now time.Time) { m.Reconfigured(now, connected) }
}

// failed returns the event of a failed start, whose delay is the shortest possible one.
func failed(reason string, retry bool) func(*supervise.Machine, time.Time) {
	return func(m *supervise.Machine, now time.Time) {
		m.Failed(now, supervise.Failure{Reason: reason, Detail: "it said no", Err: errTest, Retry: retry})
	}
}

// orders calls Tick and expects an order.
func orders(t *testing.T, want supervise.Order) func(*supervise.Machine, time.Time) {
	t.Helper()
	return func(m *supervise.Machine, now time.Time) {
		t.Helper()
		if got := m.Tick(now); got != want {
			t.Errorf("at %v the order is %d, want %d", now.Sub(begin), got, want)
		}
	}
}

// The state after each sequence of events, what is due next, and whether a call may start the server.
func TestMachine(t *testing.T) {
	t.Parallel()
	always, forEver, sessions := usual, usual, usual
	always.AlwaysOn, forEver.IdleTimeout = true, 0
	sessions.AlwaysOn, sessions.PerSession = true, true
	for name, test := range map[string]struct {
		policy supervise.Policy
		events []event

		state   tool.State
		reason  string
		due     time.Duration // after the last event; 0 is never
		retry   time.Duration // when it may be tried again, after the last event; 0 is not at all
		refused time.Duration // until when calls are refused; -1 is until a person acts
		starts  uint64
		again   uint64 // restarts
	}{
		"nothing has happened": {state: tool.StateIdle},
		"a start":              {events: []event{{0, starting}}, state: tool.StateStarting},
		"a start that worked":  {events: []event{{0, starting}, {1, ready}}, state: tool.StateReady, due: 10 * time.Minute, starts: 1},
		"a start that worked, always on": {
			policy: always, events: []event{{0, starting}, {1, ready}}, state: tool.StateReady, starts: 1,
		},
		"a start that worked, for ever": {policy: forEver, events: []event{{0, ready}}, state: tool.StateReady, starts: 1},
		"a start that worked, always on, with sessions that end": {
			policy: sessions, events: []event{{0, ready}}, state: tool.StateReady, due: 10 * time.Minute, starts: 1,
		},
		"a start that failed": {
			events: []event{{0, starting}, {0, failed("handshake_timeout", false)}},
			state:  tool.StateBackoff, reason: "handshake_timeout", retry: time.Second,
		},
		"a start that failed and is tried again": {
			events: []event{{0, starting}, {0, failed("handshake_timeout", true)}},
			state:  tool.StateBackoff, reason: "handshake_timeout", retry: time.Second, due: time.Second,
		},
		"a planned start that is due": {
			events: []event{{0, failed("crashed", true)}, {time.Second, orders(t, supervise.Start)}, {0, starting}},
			state:  tool.StateStarting,
		},
		"a planned start that a call has overtaken": {
			events: []event{{0, failed("crashed", true)}, {time.Millisecond, starting}, {time.Second, orders(t, supervise.None)}},
			state:  tool.StateStarting,
		},
		"a planned start that a call has overtaken in vain": {
			events: []event{{0, failed("crashed", true)}, {time.Millisecond, starting}, {0, failed("crashed", false)}},
			state:  tool.StateBackoff, reason: "crashed", due: time.Second - time.Millisecond, retry: 2 * time.Second,
		},
		"not yet": {
			events: []event{{0, failed("crashed", true)}, {time.Second - 1, orders(t, supervise.None)}},
			state:  tool.StateBackoff, reason: "crashed", due: 1, retry: 1,
		},
		"the second failure waits longer": {
			events: []event{{0, failed("crashed", true)}, {time.Second, starting}, {0, failed("crashed", true)}},
			state:  tool.StateBackoff, reason: "crashed", due: 2 * time.Second, retry: 2 * time.Second,
		},
		"an answer forgets failures": {
			events: []event{{0, failed("crashed", true)}, {0, failed("crashed", true)}, {0, ready}, {0, answered}, {0, failed("crashed", true)}},
			state:  tool.StateBackoff, reason: "crashed", due: time.Second, retry: time.Second, starts: 1, again: 1,
		},
		"too many failures": {
			events: []event{{0, failed("crashed", true)}, {0, failed("crashed", true)}, {0, failed("crashed", true)}},
			state:  tool.StateOpen, reason: "crashed", due: 4 * time.Second, retry: 4 * time.Second, refused: 4 * time.Second,
		},
		"too many failures, and time": {
			events: []event{{0, failed("crashed", false)}, {0, failed("crashed", false)}, {0, failed("crashed", false)}, {4 * time.Second, postpone(0)}},
			state:  tool.StateOpen, reason: "crashed",
		},
		"too many failures, and a person": {
			events: []event{{0, failed("crashed", false)}, {0, failed("crashed", false)}, {0, failed("crashed", false)}, {0, forgive}},
			state:  tool.StateBackoff, reason: "crashed", retry: 4 * time.Second,
		},
		"too many failures, and a start": {
			events: []event{{0, failed("crashed", false)}, {0, failed("crashed", false)}, {0, failed("crashed", false)}, {4 * time.Second, starting}, {0, ready}},
			state:  tool.StateReady, due: 10 * time.Minute, starts: 1, again: 1,
		},
		"a connection that a call found dead counts": {
			events: []event{{0, ready}, {0, lost}, {0, failed("crashed", false)}},
			state:  tool.StateBackoff, reason: "crashed", retry: 2 * time.Second, due: 10 * time.Minute, starts: 1,
		},
		"a reason that no attempt mends": {
			events: []event{{0, failed("command_not_found", true)}}, state: tool.StateFailed, reason: "command_not_found", refused: -1,
		},
		"a reason that no attempt mends, a second later": {
			events: []event{{0, failed("command_not_found", true)}, {time.Second, postpone(0)}}, state: tool.StateFailed, reason: "command_not_found",
		},
		"a reason that no attempt mends, and a person": {
			events: []event{{0, failed("command_not_found", true)}, {0, forgive}}, state: tool.StateFailed, reason: "command_not_found",
		},
		"nobody is signed in": {
			events: []event{{0, failed("auth_required", true)}}, state: tool.StateNeedsAuth, reason: "auth_required", refused: -1,
		},
		"an answer does not sign in": {
			events: []event{{0, failed("auth_required", true)}, {time.Second, answered}}, state: tool.StateNeedsAuth, reason: "auth_required",
		},
		"signed out": {
			events: []event{{0, ready}, {0, answered}, {0, signedOut}}, state: tool.StateNeedsAuth, reason: "auth_required", due: 10 * time.Minute, starts: 1,
		},
		"signed out, and an answer": {
			events: []event{{0, ready}, {0, answered}, {0, signedOut}, {0, answered}}, state: tool.StateReady, due: 10 * time.Minute, starts: 1,
		},
		"a stop of what waits": {
			events: []event{{0, failed("crashed", true)}, {0, cancelRetry}}, state: tool.StateIdle, reason: "user_stop",
		},
		"a stop of what runs": {
			events: []event{{0, ready}, {0, cancelRetry}}, state: tool.StateReady, due: 10 * time.Minute, starts: 1,
		},
		"nobody uses it": {
			events: []event{{0, ready}, {10 * time.Minute, orders(t, supervise.CheckUse)}, {0, stopping}, {time.Second, stopped}},
			state:  tool.StateIdle, reason: "idle_stop", starts: 1,
		},
		"somebody uses it": {
			events: []event{{0, ready}, {10 * time.Minute, orders(t, supervise.CheckUse)}, {0, postpone(time.Minute)}},
			state:  tool.StateReady, due: time.Minute, starts: 1,
		},
		"it is started while it stops": {
			events: []event{{0, ready}, {0, stopping}, {0, starting}, {time.Second, stopped}}, state: tool.StateStarting, due: 10*time.Minute - time.Second, starts: 1,
		},
		"other settings": {
			events: []event{{0, ready}, {time.Minute, reconfigured(true)}}, state: tool.StateReady, due: 10 * time.Minute, starts: 1,
		},
		"other settings, not connected": {events: []event{{0, ready}, {time.Minute, reconfigured(false)}}, state: tool.StateReady, starts: 1},
		"closed, and a failure": {
			events: []event{{0, ready}, {0, finish}, {0, failed("crashed", true)}},
			state:  tool.StateBackoff, reason: "crashed", retry: time.Second, starts: 1,
		},
		"closed": {
			events: []event{{0, ready}, {0, failed("crashed", true)}, {0, finish}, {0, failed("crashed", true)}, {0, ready}, {0, postpone(1)}, {time.Hour, orders(t, supervise.None)}},
			state:  tool.StateReady, starts: 2, again: 1,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := supervise.Machine{Policy: test.policy}
			if m.Policy == (supervise.Policy{}) {
				m.Policy = usual
			}
			now := begin
			m.Enter(now, tool.StateIdle, "", "")
			for _, e := range test.events {
				now = now.Add(e.after)
				e.tell(&m, now)
			}
			c := m.Condition(now)
			if c.State != test.state || c.Reason != test.reason || c.Starts != test.starts || c.Restarts != test.again {
				t.Errorf("it is %+v, want %s (%s), %d starts, %d restarts", c, test.state, test.reason, test.starts, test.again)
			}
			since := func(at time.Time) time.Duration {
				if at.IsZero() {
					return 0
				}
				return at.Sub(now)
			}
			if got := since(m.Due()); got != test.due {
				t.Errorf("due in %v, want %v", got, test.due)
			}
			if got := max(0, since(c.NextRetry)); got != test.retry {
				t.Errorf("tried again in %v, want %v", got, test.retry)
			}
			refused := time.Duration(0)
			if r := m.Refused(now); r != nil {
				refused = r.After
				if r.After == 0 {
					refused = -1
				}
				if r.Err != errTest || r.Detail != "it said no" { //nolint:errorlint // the very one
					t.Errorf("refused for %+v", r)
				}
			}
			if refused != test.refused {
				t.Errorf("refused for %v, want %v", refused, test.refused)
			}
		})
	}
}

// An answered call changes something only after a start or a failure.
func TestSuspect(t *testing.T) {
	t.Parallel()
	m := supervise.Machine{Policy: usual}
	for i, e := range []struct {
		tell func(*supervise.Machine, time.Time)
		want bool
	}{{starting, false}, {ready, true}, {answered, false}, {signedOut, true}, {answered, false}, {failed("crashed", false), true}, {answered, false}} {
		e.tell(&m, begin)
		if m.Suspect() != e.want {
			t.Errorf("after event %d it is %v, want %v", i, !e.want, e.want)
		}
	}
}
