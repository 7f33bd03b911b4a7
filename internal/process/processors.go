package process

import (
	"runtime"
	"sync"
	"sync/atomic"
	"time"
)

// This file uses one processor while there is little to do, and more under load.

const (
	lookEvery = 50 * time.Millisecond
	// raiseAt and lowerAt are the load, as a share of the processors in use, above which the number is raised and below
	// which it is lowered.
	raiseAt, lowerAt = 0.85, 0.4
	// lowerAfter is the number of consecutive idle checks before the number is lowered.
	lowerAfter = int(2 * time.Second / lookEvery)
	// streamAt is the load of one processor above which two are used while pieces of streams are forwarded.
	streamAt = 0.15
)

// Processors adapts GOMAXPROCS to the load. A program that mostly waits and passes messages on does best with
// one processor: with more, each message wakes a second thread for work that the first would have done a
// moment later, which costs 30 to 50 % more processor time. If one processor is busy, Processors doubles the
// number, up to a bound, and reduces it again after two seconds of little work. At rest no timer runs.
//
// It is safe for concurrent use. A program needs only one, because GOMAXPROCS is global.
type Processors struct {
	max       int
	set       func(n int)
	used      func() (time.Duration, bool) // processor time that this program has used
	armed     atomic.Bool                  // the timer is running
	begun     atomic.Bool                  // Begin was called since the last check
	computing atomic.Bool                  // Compute was called since the last check
	streaming atomic.Bool                  // Stream was called since the last check

	mu       sync.Mutex
	now      int
	quiet    int // consecutive checks with little load
	timer    *time.Timer
	last     time.Duration // processor time at the last check
	lastLook time.Time     // time of the last check
	closed   bool
}

// initialProcs is GOMAXPROCS as Go chose it at the start, which respects a container's limit.
var initialProcs = runtime.GOMAXPROCS(0)

// AllowedProcessors returns how many processors the system lets this program use.
func AllowedProcessors() int { return initialProcs }

// FitProcessors starts with one processor and never uses more than limit. If the system does not report used
// processor time, it uses limit from the start.
func FitProcessors(limit int) *Processors {
	return fitProcessors(limit, func(n int) { runtime.GOMAXPROCS(n) }, processorTime)
}

func fitProcessors(limit int, set func(int), used func() (time.Duration, bool)) *Processors {
	p := &Processors{max: max(1, limit), set: set, used: used, now: 1}
	if _, ok := used(); !ok {
		p.now = p.max
	}
	p.set(p.now)
	return p
}

// Begin reports that a request came or was answered. While requests keep coming it costs two atomic loads. A
// nil p does nothing.
func (p *Processors) Begin() {
	if p == nil || p.max == 1 {
		return
	}
	if !p.begun.Load() {
		p.begun.Store(true)
	}
	p.startTimer()
}

// Stream reports that pieces of a stream were forwarded. Unlike a client that waits for its answer, streams deliver
// pieces at any time, often several at once, and each waits for those before it and for disk writes. So a second
// processor is used at a much lower load. It costs as little as Begin. A nil p does nothing.
func (p *Processors) Stream() {
	if p == nil || p.max == 1 {
		return
	}
	if !p.streaming.Load() {
		p.streaming.Store(true)
	}
	p.Begin()
}

// Compute reports that a long computation begins. All processors are used at once, so that no other request
// has to wait for it. A nil p does nothing.
func (p *Processors) Compute() {
	if p == nil || p.max == 1 {
		return
	}
	if !p.computing.Swap(true) {
		p.mu.Lock()
		p.quiet = 0
		p.change(p.max)
		p.mu.Unlock()
	}
	p.startTimer()
}

// Close stops adjusting. The current number stays.
func (p *Processors) Close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closed = true
	if p.timer != nil {
		p.timer.Stop()
	}
}

func (p *Processors) startTimer() {
	if p.armed.Load() || p.armed.Swap(true) {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return
	}
	p.last, _ = p.used()
	p.lastLook = time.Now()
	if p.timer == nil {
		p.timer = time.AfterFunc(lookEvery, p.adjust)
	} else {
		p.timer.Reset(lookEvery)
	}
}

// adjust compares the processor time used since the last look with the number of processors, and adjusts that.
func (p *Processors) adjust() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return
	}
	used, _ := p.used()
	now := time.Now()
	share := float64(used-p.last) / float64(max(now.Sub(p.lastLook), time.Millisecond))
	p.last, p.lastLook = used, now
	raise, lower := raiseAt*float64(p.now), lowerAt*float64(p.now)
	if p.streaming.Swap(false) {
		switch p.now {
		case 1:
			raise = streamAt
		case 2:
			lower = streamAt / 2
		}
	}
	switch computes := p.computing.Swap(false); {
	case share >= raise:
		p.quiet = 0
		p.change(min(2*p.now, p.max))
	case computes || share >= lower:
		p.quiet = 0
	default:
		if p.quiet++; p.quiet >= lowerAfter {
			p.quiet = 0
			p.change(max(1, p.now/2))
		}
	}
	p.armed.Store(false) // before asked is read, so that a Begin from here on starts the timer again
	if asked := p.begun.Swap(false); (asked || p.now > 1) && !p.armed.Swap(true) {
		p.timer.Reset(lookEvery)
	}
}

func (p *Processors) change(n int) {
	if n != p.now {
		p.now = n
		p.set(n)
	}
}
