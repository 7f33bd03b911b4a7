// Package supervise decides when one server runs: when it is started again after a failure, when calls
// are refused because starting it has failed too often, and when to look whether anybody still uses it.
//
// [Machine] holds the rules. It is plain data that is told what happened and what time it is, and answers
// what is due and when; it has no clock, no lock and no goroutine. [Supervisor] is a Machine with a lock
// and one timer. Neither knows what a connection is: whoever holds them starts and stops servers, and
// tells what came of it.
package supervise

import (
	"time"

	"collie/internal/source/upstream/entry"
	"collie/internal/tool"
)

// Policy is what the settings say of when a server runs.
type Policy struct {
	Restart     entry.Restart
	AlwaysOn    bool          // it runs whether or not anybody uses it
	IdleTimeout time.Duration // how long it may be unused; 0 is for ever
	PerSession  bool          // sessions have connections of their own, which end by themselves
}

// PolicyOf reads the policy from a server's entry.
func PolicyOf(e *entry.Entry) Policy {
	return Policy{
		Restart: e.Restart, AlwaysOn: AlwaysOn(e), IdleTimeout: e.IdleTimeout, PerSession: e.Isolation == entry.Session,
	}
}

// AlwaysOn reports whether an entry wants its server to run whether or not anybody uses it.
func AlwaysOn(e *entry.Entry) bool {
	switch e.Lifecycle {
	case entry.Eager, entry.KeepAlive:
		return true
	case entry.Auto, entry.Lazy:
	}
	return false
}

// Stops reports whether the server as a whole is stopped when nobody uses it.
func (p *Policy) Stops() bool { return !p.AlwaysOn && p.IdleTimeout > 0 }

// Order is what a Machine wants done.
type Order int

const (
	// None is nothing.
	None Order = iota
	// Start is a new attempt to start the server, unless it runs or is being started.
	Start
	// CheckUse is a look whether anybody uses the server. Its answer is Stopping, Postpone or nothing.
	CheckUse
)

// Condition is how a server does.
type Condition struct {
	State  tool.State
	Since  time.Time
	Reason string // a stable code; empty where the state says it all
	Detail string // for people

	NextRetry      time.Time // when it is tried again, or may be; zero where it is not
	Failures       int       // in a row
	Starts         uint64    // that worked
	Restarts       uint64    // of those, after a failure
	LastStart      time.Duration
	LastStartError error // of a start that failed, until one works or a person asks
}

// Failure is a start that failed, or a connection that ended by itself.
type Failure struct {
	Reason string  // a stable code
	Status int     // HTTP status of the answer; 0 for none
	Detail string  // for people, without secrets
	Err    error   // of a start; nil where the server had run
	Retry  bool    // it is to be tried again though nobody calls it
	Chance float64 // in [0, 1), spreads the delay
}

// refusal is why a server that does not run is not to be started now.
type refusal struct {
	Failures       int           // in a row
	After          time.Duration // until the next attempt; 0 where the reason is one that needs a person
	Reason, Detail string        // of the last failure
	Err            error         // of the last start; nil where it had run
}

// Machine is the state of one server. The zero value has no state: begin with [Machine.Enter].
type Machine struct {
	Policy Policy // as of now; the holder keeps it up to date

	now      Condition
	moves    int     // how often the state was set
	history  history // of failures
	suspect  bool    // it has failed, or is new: an answer to a call is news
	retryAt  time.Time
	checkAt  time.Time // when to look whether anybody uses it
	finished bool
}

// refuseAgain is how long a failure that no retry can mend answers further calls: a server that is called
// in a loop is not started in one.
const refuseAgain = time.Second

// Condition is how the server does at a time.
func (m *Machine) Condition(now time.Time) Condition {
	c := m.now
	c.Failures = m.history.inARow(now)
	return c
}

// Moves is how often the state has been set.
func (m *Machine) Moves() int { return m.moves }

// Suspect reports whether an answered call would change anything; see [Machine.Answered].
func (m *Machine) Suspect() bool { return m.suspect }

// Enter sets a state that no event leads to: what a server begins with, and what it ends with.
func (m *Machine) Enter(now time.Time, state tool.State, reason, detail string) {
	m.now.State, m.now.Since, m.now.Reason, m.now.Detail = state, now, reason, detail
	m.moves++
}

// Finish ends all orders: the server is being closed.
func (m *Machine) Finish() { m.finished, m.retryAt, m.checkAt = true, time.Time{}, time.Time{} }

// Starting says that a start has begun.
func (m *Machine) Starting(now time.Time, detail string) {
	m.now.NextRetry = time.Time{}
	m.Enter(now, tool.StateStarting, "", detail)
}

// Started says how long the start took that is about to be Ready.
func (m *Machine) Started(took time.Duration) { m.now.LastStart = took }

// Ready says that the server runs and has told its tools.
func (m *Machine) Ready(now time.Time) {
	m.now.Starts++
	if m.history.attempt > 0 {
		m.now.Restarts++
	}
	m.history.started(now)
	m.now.NextRetry, m.now.LastStartError, m.retryAt = time.Time{}, nil, time.Time{}
	m.suspect = true // until the first answer
	m.Connected(now)
	m.Enter(now, tool.StateReady, "", "")
}

// Connected says that there is one more connection: whether it is used is looked at in time.
func (m *Machine) Connected(now time.Time) {
	if p := m.Policy; p.IdleTimeout > 0 && (!p.AlwaysOn || p.PerSession) && !m.finished {
		m.checkAt = now.Add(p.IdleTimeout)
	}
}

// Reconfigured says that the policy is another one, and whether there are connections.
func (m *Machine) Reconfigured(now time.Time, connected bool) {
	m.checkAt = time.Time{}
	if connected {
		m.Connected(now)
	}
}

// Failed notes a failure and moves to the state that follows.
func (m *Machine) Failed(now time.Time, f Failure) {
	m.now.LastStartError = f.Err
	if permanent(f.Reason, f.Status) {
		m.history.ready, m.now.NextRetry = time.Time{}, time.Time{}
		state := tool.StateFailed
		if f.Reason == "auth_required" {
			state = tool.StateNeedsAuth
		}
		m.Enter(now, state, f.Reason, f.Detail)
		return
	}
	next, open := m.history.failed(m.Policy.Restart, now, f.Chance)
	m.now.NextRetry, m.suspect = next, true
	if f.Retry && !m.finished {
		m.retryAt = next
	}
	if open {
		m.Enter(now, tool.StateOpen, f.Reason, f.Detail)
	} else {
		m.Enter(now, tool.StateBackoff, f.Reason, f.Detail)
	}
}

// Lost notes a failure that somebody found who is about to start the server anew: the state is his to set.
func (m *Machine) Lost(now time.Time) { m.history.failed(m.Policy.Restart, now, 0) }

// Answered says that a call came back with an answer: whatever was wrong is over.
func (m *Machine) Answered(now time.Time) {
	signedIn := m.now.State == tool.StateNeedsAuth && !m.history.ready.IsZero()
	m.history.well()
	m.suspect = false
	if signedIn {
		m.Enter(now, tool.StateReady, "", "")
	}
}

// SignedOut says that the server wants to know who asks, in the middle of a session.
func (m *Machine) SignedOut(now time.Time, hint string) {
	m.suspect = true
	m.Enter(now, tool.StateNeedsAuth, "auth_required", hint)
}

// Forgive forgets the failures, since a person wants the server tried as if nothing had been.
func (m *Machine) Forgive(now time.Time) {
	m.history.well()
	m.now.LastStartError = nil
	if m.now.State == tool.StateOpen {
		m.Enter(now, tool.StateBackoff, m.now.Reason, m.now.Detail)
	}
}

// CancelRetry gives a planned start up, since a person has stopped the server.
func (m *Machine) CancelRetry(now time.Time) {
	m.retryAt = time.Time{}
	if m.now.State == tool.StateBackoff || m.now.State == tool.StateOpen {
		m.now.NextRetry = time.Time{}
		m.Enter(now, tool.StateIdle, "user_stop", "")
	}
}

// Stopping says that all connections are being given up.
func (m *Machine) Stopping(now time.Time, reason string) {
	m.history.stopped(now)
	m.Enter(now, tool.StateStopping, reason, "")
}

// Stopped says that what was given up has ended. It is not news where the server was started anew meanwhile.
func (m *Machine) Stopped(now time.Time, reason, detail string) {
	if m.now.State == tool.StateStopping {
		m.Enter(now, tool.StateIdle, reason, detail)
	}
}

// Postpone puts the next look at who uses the server off, by what it may yet be unused.
func (m *Machine) Postpone(now time.Time, left time.Duration) {
	if !m.finished {
		m.checkAt = now.Add(left)
	}
}

// Refused says why the server is not to be started now: it has failed too often, or has just failed for
// a reason that no new attempt mends. Nil allows it.
func (m *Machine) Refused(now time.Time) *refusal {
	c := &m.now
	switch c.State {
	case tool.StateOpen:
		if now.Before(c.NextRetry) {
			return &refusal{Failures: m.history.attempt, After: c.NextRetry.Sub(now), Reason: c.Reason, Detail: c.Detail, Err: c.LastStartError}
		}
	case tool.StateFailed, tool.StateNeedsAuth:
		if c.LastStartError != nil && now.Sub(c.Since) < refuseAgain {
			return &refusal{Reason: c.Reason, Detail: c.Detail, Err: c.LastStartError}
		}
	case tool.StateDisabled, tool.StateConfigError, tool.StateIdle, tool.StateStarting, tool.StateReady,
		tool.StateDegraded, tool.StateBackoff, tool.StateStopping, tool.StateStopped:
	}
	return nil
}

// Due is when to call [Machine.Tick] next; zero is never.
func (m *Machine) Due() time.Time {
	if m.retryAt.IsZero() || !m.checkAt.IsZero() && m.checkAt.Before(m.retryAt) {
		return m.checkAt
	}
	return m.retryAt
}

// Tick says that time has passed, and returns what is due by now. Two things that are due at once take
// two calls.
func (m *Machine) Tick(now time.Time) Order {
	if !m.retryAt.IsZero() && !now.Before(m.retryAt) {
		m.retryAt = time.Time{}
		if !m.now.NextRetry.IsZero() {
			return Start
		}
	}
	if !m.checkAt.IsZero() && !now.Before(m.checkAt) {
		m.checkAt = time.Time{}
		return CheckUse
	}
	return None
}

// permanent reports whether a reason needs a person or a change of the configuration: it is
// not tried again without being asked. status is that of an HTTP answer, 0 for none.
func permanent(reason string, status int) bool {
	switch reason {
	case "command_not_found", "permission_denied", "config_invalid", "var_unset", "unsupported_protocol", "auth_required":
		return true
	}
	switch status {
	case 400, 403, 404, 405, 410:
		return true
	}
	return false
}
