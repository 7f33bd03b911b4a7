package supervise

import (
	"sync"
	"sync/atomic"
	"time"
)

// Options are what a Supervisor needs of whoever owns the server. Policy and Changed are called with its
// lock held, and must not call back; Do is called without.
type Options struct {
	// Policy is that of now.
	Policy func() Policy
	// Do carries out an order that time has brought, on a goroutine of the timer.
	Do func(Order)
	// Changed is told each state as it is set.
	Changed func(Condition)
}

// Supervisor is a Machine with a lock and a timer. It is safe for concurrent use.
type Supervisor struct {
	opts    Options
	suspect atomic.Bool

	mu      sync.Mutex
	machine Machine
	timer   *time.Timer
	due     time.Time // what timer is set to; zero where it is not
}

// New returns a Supervisor without a state; see [Machine.Enter]. Nothing is started before a first order.
func New(o Options) *Supervisor { return &Supervisor{opts: o} }

// Tell tells the machine an event, at the time of now. The function must not keep m nor call the
// Supervisor.
func (s *Supervisor) Tell(event func(m *Machine, now time.Time)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now, before := time.Now(), s.machine.Moves()
	s.machine.Policy = s.opts.Policy()
	event(&s.machine, now)
	s.suspect.Store(s.machine.Suspect())
	if s.machine.Moves() != before {
		s.opts.Changed(s.machine.Condition(now))
	}
	switch due := s.machine.Due(); {
	case due.Equal(s.due):
	case due.IsZero():
		s.timer.Stop()
		s.due = due
	case s.timer == nil:
		s.timer, s.due = time.AfterFunc(due.Sub(now), s.tick), due
	default:
		s.timer.Reset(due.Sub(now))
		s.due = due
	}
}

// tick carries out what is due. A timer that was set anew while it fired finds nothing due, or does what
// the new one was to do; the order itself is checked by whoever carries it out.
func (s *Supervisor) tick() {
	order := None
	s.Tell(func(m *Machine, now time.Time) {
		s.due = time.Time{}
		order = m.Tick(now)
	})
	if order != None {
		s.opts.Do(order)
	}
}

// Condition is how the server does now.
func (s *Supervisor) Condition() Condition {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.machine.Condition(time.Now())
}

// Refused says why no start is to be tried now; nil allows it.
func (s *Supervisor) Refused() *refusal {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.machine.Refused(time.Now())
}

// Answered says that a call came back with an answer. It costs nothing while all is well.
func (s *Supervisor) Answered() {
	if s.suspect.Load() {
		s.Tell((*Machine).Answered)
	}
}

// Finish gives no orders any more. One that is being carried out goes on.
func (s *Supervisor) Finish() {
	s.Tell(func(m *Machine, _ time.Time) { m.Finish() })
}
