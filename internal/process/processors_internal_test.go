package process

import (
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"collie/test/await"
)

// machine simulates a program on some processors. The test sets its load, and [Processors] how many processors it uses,
// in place of GOMAXPROCS.
type machine struct {
	mu         sync.Mutex
	processors int
	busy       float64       // how many processors the load would keep busy
	used       time.Duration // processor time so far
}

// run lets simulated time pass.
func (m *machine) run(d time.Duration) {
	const step = 10 * time.Millisecond
	for ; d > 0; d -= step {
		await.Sleep(step)
		m.mu.Lock()
		m.used += time.Duration(min(m.busy, float64(m.processors)) * float64(step))
		m.mu.Unlock()
	}
	synctest.Wait()
}

// takeProcessors sets the number of processors.
func (m *machine) takeProcessors(n int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.processors = n
}

// processorTime returns the processor time used so far.
func (m *machine) processorTime() (time.Duration, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.used, true
}

// runFitted runs test in simulated time, with no more than most processors.
func runFitted(t *testing.T, most int, test func(m *machine, p *Processors)) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m := &machine{}
		p := fitProcessors(most, m.takeProcessors, m.processorTime)
		defer p.Close()
		test(m, p)
	})
}

// checkProcessors checks how many processors are in use.
func (m *machine) checkProcessors(t *testing.T, n int, when string) {
	t.Helper()
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.processors != n {
		t.Errorf("%s: %d processors, want %d", when, m.processors, n)
	}
}

// Under load all processors are used. One is used again when the load has gone.
func TestProcessorsFollowTheLoad(t *testing.T) {
	runFitted(t, 4, func(m *machine, p *Processors) {
		m.checkProcessors(t, 1, "at the start")
		m.busy = 0.5
		p.Begin()
		m.run(time.Second)
		m.checkProcessors(t, 1, "half a processor is used")
		m.busy = 3.9
		p.Begin()
		m.run(500 * time.Millisecond)
		m.checkProcessors(t, 4, "more is to be done than one can")
		m.busy = 1.8 // a little under half of four
		m.run(5 * time.Second)
		m.checkProcessors(t, 4, "nearly two are used")
		m.busy = 0
		m.run(10 * time.Second)
		m.checkProcessors(t, 1, "all is done")
		if p.armed.Load() {
			t.Error("the timer runs at rest")
		}
	})
}

// Streams get a second processor at a load for which other requests get only one.
func TestProcessorsForStreams(t *testing.T) {
	runFitted(t, 4, func(m *machine, p *Processors) {
		stream := func(d time.Duration) {
			for ; d > 0; d -= 20 * time.Millisecond {
				p.Stream()
				m.run(20 * time.Millisecond)
			}
		}
		m.busy = 0.1
		stream(time.Second)
		m.checkProcessors(t, 1, "a few streams")
		m.busy = 0.3
		stream(time.Second)
		m.checkProcessors(t, 2, "many streams")
		stream(10 * time.Second)
		m.checkProcessors(t, 2, "they go on")
		p.Begin()
		m.run(10 * time.Second)
		m.checkProcessors(t, 1, "the same load without streams")
	})
}

// A computation gets all processors at once and keeps them for a while after its end.
func TestProcessorsForWhatComputes(t *testing.T) {
	runFitted(t, 2, func(m *machine, p *Processors) {
		p.Compute()
		m.checkProcessors(t, 2, "a computation begins")
		for range 10 {
			m.run(time.Second)
			p.Compute()
		}
		m.checkProcessors(t, 2, "others follow within two seconds")
		m.run(5 * time.Second)
		m.checkProcessors(t, 1, "they are over")
	})
}

// If the system does not tell the used processor time, all processors are in use from the start.
func TestProcessorsWithUnknownLoad(t *testing.T) {
	t.Parallel()
	n := 0
	p := fitProcessors(3, func(now int) { n = now }, func() (time.Duration, bool) { return 0, false })
	defer p.Close()
	if n != 3 {
		t.Errorf("%d processors, want 3", n)
	}
	(*Processors)(nil).Begin()
	(*Processors)(nil).Compute()
	(*Processors)(nil).Stream()
}
