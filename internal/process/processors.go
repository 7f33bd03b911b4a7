package process

import (
	"runtime"
	"sync"
	"sync/atomic"
	"time"
)

const (
	lookEvery = 50 * time.Millisecond
	// raiseAt and lowerAt are the busy shares of the processors in use at which there are to be more or
	// fewer.
	raiseAt, lowerAt = 0.85, 0.4
	// lowerAfter is how many idle looks in a row it takes until there are fewer processors.
	lowerAfter = int(2 * time.Second / lookEvery)
)

// Processors adapts GOMAXPROCS to the load. A program that mostly waits and passes messages on does best with
// one processor: with more, each message wakes a second thread for work that the first would have done a
// moment later, which costs 30 to 50 % more processor time. If one processor is busy, Processors doubles the
// number, up to a bound, and reduces it again after two seconds of little work. At rest no timer runs.
//
// It is safe for concurrent use. A program needs only one, because GOMAXPROCS is global.
type Processors struct {
	most      int
	set       func(n int)
	used      func() (time.Duration, bool) // processor time this program has used so far
	armed     atomic.Bool                  // the timer is running
	asked     atomic.Bool                  // Begin was called since the last look
	computing atomic.Bool                  // Compute was called since the last look

	mu       sync.Mutex
	now      int
	quiet    int // consecutive looks that found little work
	timer    *time.Timer
	last     time.Duration // used at the last look
	lastLook time.Time     // of that look
	closed   bool
}

// allowed is GOMAXPROCS as Go chose it at the start, which respects a container's limit.
var initialProcs = runtime.GOMAXPROCS(0)

// Allowed is how many processors the system lets this program use.
func Allowed() int { return initialProcs }

// FitProcessors starts with one processor and never uses more than most. If the system does not report used
// processor time, it uses most from the start.
func FitProcessors(most int) *Processors {
	return fitProcessors(most, func(n int) { runtime.GOMAXPROCS(n) }, processorTime)
}

func fitProcessors(most int, set func(int), used func() (time.Duration, bool)) *Processors {
	p := &Processors{most: max(1, most), set: set, used: used, now: 1}
	if _, ok := used(); !ok {
		p.now = p.most
	}
	p.set(p.now)
	return p
}

// Begin reports that a request came or was answered. While requests keep coming it costs two atomic loads. A
// nil p does nothing.
func (p *Processors) Begin() {
	if p == nil || p.most == 1 {
		return
	}
	if !p.asked.Load() {
		p.asked.Store(true)
	}
	p.startTimer()
}

// Compute reports that a long computation begins. All processors are used at once, so that no other request
// has to wait for it. A nil p does nothing.
func (p *Processors) Compute() {
	if p == nil || p.most == 1 {
		return
	}
	if !p.computing.Swap(true) {
		p.mu.Lock()
		p.quiet = 0
		p.change(p.most)
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

// look compares the processor time used since the last look with the number of processors, and adjusts that.
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
	switch computes := p.computing.Swap(false); {
	case share >= raiseAt*float64(p.now):
		p.quiet = 0
		p.change(min(2*p.now, p.most))
	case computes || share >= lowerAt*float64(p.now):
		p.quiet = 0
	default:
		if p.quiet++; p.quiet >= lowerAfter {
			p.quiet = 0
			p.change(max(1, p.now/2))
		}
	}
	p.armed.Store(false) // before asked is read, so that a Begin from here on starts the timer again
	if asked := p.asked.Swap(false); (asked || p.now > 1) && !p.armed.Swap(true) {
		p.timer.Reset(lookEvery)
	}
}

func (p *Processors) change(n int) {
	if n != p.now {
		p.now = n
		p.set(n)
	}
}
