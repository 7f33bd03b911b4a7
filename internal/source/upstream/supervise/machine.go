// Package supervise decides when one server runs: when it is restarted after a failure, when calls are refused
// because starting it failed too often, and when to check whether anybody still uses it.
//
// [Machine] holds the rules. It is plain data: it is told what happened and at what time, and answers what is due and
// when. It has no clock, lock or goroutine. [Supervisor] is a Machine with a lock and one timer. Neither knows
// connections: their owner starts and stops the server and reports the results.
package supervise

import (
	"time"

	"collie/internal/source/upstream/entry"
	"collie/internal/tool"
)

// Policy is the part of the settings that says when a server runs.
type Policy struct {
	Restart     entry.Restart
	AlwaysOn    bool          // runs even when nobody uses it
	IdleTimeout time.Duration // how long it may be unused; 0 means for ever
	PerSession  bool          // each session has its own connection, which is closed by itself
}

// PolicyOf returns the policy of a server's entry.
func PolicyOf(e *entry.Entry) Policy {
	return Policy{
		Restart: e.Restart, AlwaysOn: AlwaysOn(e), IdleTimeout: e.IdleTimeout, PerSession: e.Isolation == entry.Session,
	}
}

// AlwaysOn reports whether an entry wants its server to run even when nobody uses it.
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

// Order is what a Machine wants its owner to do.
type Order int

const (
	// None means nothing.
	None Order = iota
	// Start orders a start of the server, unless it runs or is being started.
	Start
	// CheckUse orders a check whether anybody uses the server. The owner answers with Stopping, Postpone or nothing.
	CheckUse
)

// Condition is the state of a server at one time.
type Condition struct {
	State  tool.State
	Since  time.Time
	Reason string // stable code; empty if the state says it all
	Detail string // for people

	NextRetry      time.Time // when it will or may be tried again; zero if it is not
	Failures       int       // in a row
	Starts         uint64    // successful starts
	Restarts       uint64    // starts of those after a failure
	LastStart      time.Duration
	LastStartError error // kept until a start works or a person asks for one
}

// Failure is a failed start, or a connection that ended by itself.
type Failure struct {
	Reason string  // stable code
	Status int     // HTTP status of the answer; 0 if there is none
	Detail string  // for people, secrets masked
	Err    error   // of a failed start; nil if the server had run
	Retry  bool    // try again even if nobody calls
	Chance float64 // random in [0, 1); spreads the delay
}

// refusal says why a server that does not run may not be started now.
type refusal struct {
	Failures       int           // in a row
	After          time.Duration // time until the next attempt; 0 if a person has to act
	Reason, Detail string        // of the last failure
	Err            error         // of the last start; nil if the server had run
}

// Machine is the state of one server. The zero value has no state: begin with [Machine.Enter].
type Machine struct {
	Policy Policy // current policy, kept up to date by the owner

	now         Condition
	moves       int     // how often the state was set
	history     history // of failures
	onProbation bool    // it is new or has failed, so that an answered call is news
	retryAt     time.Time
	checkAt     time.Time // when to check whether anybody uses it
	finished    bool
}

// refuseAgain is how long a permanent failure is repeated to further calls without a new start, so that calls in a
// loop do not start the server in a loop.
const refuseAgain = time.Second

// Condition returns the state of the server at a time.
func (m *Machine) Condition(now time.Time) Condition {
	c := m.now
	c.Failures = m.history.consecutive(now)
	return c
}

// transitions returns how often the state has been set.
func (m *Machine) transitions() int { return m.moves }

// Suspect reports whether an answered call would change anything; see [Machine.Answered].
func (m *Machine) Suspect() bool { return m.onProbation }

// Enter sets a state that no event leads to: the server's first and last ones.
func (m *Machine) Enter(now time.Time, state tool.State, reason, detail string) {
	m.now.State, m.now.Since, m.now.Reason, m.now.Detail = state, now, reason, detail
	m.moves++
}

// Finish cancels all orders, since the server is being closed.
func (m *Machine) Finish() { m.finished, m.retryAt, m.checkAt = true, time.Time{}, time.Time{} }

// Starting records that a start has begun.
func (m *Machine) Starting(now time.Time, detail string) {
	m.now.NextRetry = time.Time{}
	m.Enter(now, tool.StateStarting, "", detail)
}

// Started records how long a start took. Ready follows.
func (m *Machine) Started(took time.Duration) { m.now.LastStart = took }

// Ready records that the server runs and has told its tools.
func (m *Machine) Ready(now time.Time) {
	m.now.Starts++
	if m.history.attempt > 0 {
		m.now.Restarts++
	}
	m.history.started(now)
	m.now.NextRetry, m.now.LastStartError, m.retryAt = time.Time{}, nil, time.Time{}
	m.onProbation = true // until the first answer
	m.Connected(now)
	m.Enter(now, tool.StateReady, "", "")
}

// Connected records one more connection, and plans the check whether it is used.
func (m *Machine) Connected(now time.Time) {
	if p := m.Policy; p.IdleTimeout > 0 && (!p.AlwaysOn || p.PerSession) && !m.finished {
		m.checkAt = now.Add(p.IdleTimeout)
	}
}

// Reconfigured records that the policy has changed, and whether there are connections.
func (m *Machine) Reconfigured(now time.Time, connected bool) {
	m.checkAt = time.Time{}
	if connected {
		m.Connected(now)
	}
}

// Failed records a failure and enters the state that follows.
func (m *Machine) Failed(now time.Time, f Failure) {
	m.now.LastStartError = f.Err
	if isPermanent(f.Reason, f.Status) {
		m.history.ready, m.now.NextRetry = time.Time{}, time.Time{}
		state := tool.StateFailed
		if f.Reason == "auth_required" {
			state = tool.StateNeedsAuth
		}
		m.Enter(now, state, f.Reason, f.Detail)
		return
	}
	next, open := m.history.failed(m.Policy.Restart, now, f.Chance)
	m.now.NextRetry, m.onProbation = next, true
	if f.Retry && !m.finished {
		m.retryAt = next
	}
	if open {
		m.Enter(now, tool.StateOpen, f.Reason, f.Detail)
	} else {
		m.Enter(now, tool.StateBackoff, f.Reason, f.Detail)
	}
}

// Lost records a failure found by a caller that is about to start the server again, and that sets the state itself.
func (m *Machine) Lost(now time.Time) { m.history.failed(m.Policy.Restart, now, 0) }

// Answered records that a call was answered: earlier failures no longer count.
func (m *Machine) Answered(now time.Time) {
	signedIn := m.now.State == tool.StateNeedsAuth && !m.history.ready.IsZero()
	m.history.clear()
	m.onProbation = false
	if signedIn {
		m.Enter(now, tool.StateReady, "", "")
	}
}

// SignedOut records that the server asked for authentication in the middle of a session.
func (m *Machine) SignedOut(now time.Time, hint string) {
	m.onProbation = true
	m.Enter(now, tool.StateNeedsAuth, "auth_required", hint)
}

// Forgive forgets the failures, since a person asked for a new start or changed the settings.
func (m *Machine) Forgive(now time.Time) {
	m.history.clear()
	m.now.LastStartError = nil
	if m.now.State == tool.StateOpen {
		m.Enter(now, tool.StateBackoff, m.now.Reason, m.now.Detail)
	}
}

// CancelRetry cancels a planned start, since a person has stopped the server.
func (m *Machine) CancelRetry(now time.Time) {
	m.retryAt = time.Time{}
	if m.now.State == tool.StateBackoff || m.now.State == tool.StateOpen {
		m.now.NextRetry = time.Time{}
		m.Enter(now, tool.StateIdle, "user_stop", "")
	}
}

// Stopping records that all connections are being given up.
func (m *Machine) Stopping(now time.Time, reason string) {
	m.history.stopped(now)
	m.Enter(now, tool.StateStopping, reason, "")
}

// Stopped records that the connections given up have ended. It has no effect if the server was started again
// meanwhile.
func (m *Machine) Stopped(now time.Time, reason, detail string) {
	if m.now.State == tool.StateStopping {
		m.Enter(now, tool.StateIdle, reason, detail)
	}
}

// Postpone plans the next check of use after remaining, the time that the server may still be unused.
func (m *Machine) Postpone(now time.Time, remaining time.Duration) {
	if !m.finished {
		m.checkAt = now.Add(remaining)
	}
}

// Refused returns why the server may not be started now: it failed too often, or has just failed permanently. Nil
// means that it may be.
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

// Due returns when to call [Machine.Tick] next; zero means never.
func (m *Machine) Due() time.Time {
	if m.retryAt.IsZero() || !m.checkAt.IsZero() && m.checkAt.Before(m.retryAt) {
		return m.checkAt
	}
	return m.retryAt
}

// Tick returns what is due by now. It returns one order at a time: if two are due, the next call returns the second.
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

// isPermanent reports whether trying again cannot help, so that a person must act or the configuration must change.
// status is the status of an HTTP answer, 0 if there is none.
func isPermanent(reason string, status int) bool {
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
