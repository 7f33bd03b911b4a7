package supervise

import (
	"sync"
	"sync/atomic"
	"time"
)

// Options are a Supervisor's connections to the server's owner. Policy and Changed are called with its lock held and
// must not call back. Do is called without the lock.
type Options struct {
	// Policy returns the current policy.
	Policy func() Policy
	// Do carries out an order that has become due, on the timer's goroutine.
	Do func(Order)
	// Changed is called with each state as it is set.
	Changed func(Condition)
}

// Supervisor is a Machine with a lock and a timer. It is safe for concurrent use.
type Supervisor struct {
	opts        Options
	onProbation atomic.Bool

	mu      sync.Mutex
	machine Machine
	timer   *time.Timer
	due     time.Time // what the timer is set to; zero if it is not
}

// New returns a Supervisor without a state; see [Machine.Enter]. Its timer starts with the first order.
func New(o Options) *Supervisor { return &Supervisor{opts: o} }

// Tell passes an event to the machine, with the current time. The function must not keep m or call the Supervisor.
func (s *Supervisor) Tell(event func(m *Machine, now time.Time)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now, before := time.Now(), s.machine.transitions()
	s.machine.Policy = s.opts.Policy()
	event(&s.machine, now)
	s.onProbation.Store(s.machine.Suspect())
	if s.machine.transitions() != before {
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

// tick carries out what is due. If the timer was reset while it fired, either nothing is due, or tick does what the
// new timer would; whoever carries out an order checks that it still applies.
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

// Condition returns the current state of the server.
func (s *Supervisor) Condition() Condition {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.machine.Condition(time.Now())
}

// Refused returns why no start is to be tried now; nil means that one may be.
func (s *Supervisor) Refused() *refusal {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.machine.Refused(time.Now())
}

// Answered records that a call was answered. It costs nothing unless the server had failed.
func (s *Supervisor) Answered() {
	if s.onProbation.Load() {
		s.Tell((*Machine).Answered)
	}
}

// Finish cancels all orders. An order that is being carried out is completed.
func (s *Supervisor) Finish() {
	s.Tell(func(m *Machine, _ time.Time) { m.Finish() })
}
