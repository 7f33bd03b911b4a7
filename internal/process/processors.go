package process

import (
	"runtime"
	"sync"
	"sync/atomic"
	"time"
)

const (
	lookEvery = 50 * time.Millisecond
	// raiseAt and lowerAt are shares of the processors in use that are busy.
	raiseAt, lowerAt = 0.85, 0.4
	// lowerAfter is how many looks in a row find little to do before there are fewer processors.
	lowerAfter = int(2 * time.Second / lookEvery)
)

// Processors fits the number of processors that Go code runs on to what there is to do. A program that mostly waits for
// others and passes on what they say is best off with one: with more, each message wakes a second thread for what
// the first would have done in a moment, at a third to a half more processor time. Where one does not suffice
// it takes twice as many, up to a bound, and gives them back when they have had little to do for two seconds. At rest it
// starts no timer.
//
// It is safe for concurrent use. There is one in a program, since the number is that of the whole program.
type Processors struct {
	most  int
	set   func(n int)
	used  func() (time.Duration, bool) // processor time of this program until now
	armed atomic.Bool                  // the timer runs
	asked atomic.Bool                  // Begin was called since the last look
	wide  atomic.Bool                  // Compute was called since the last look

	mu     sync.Mutex
	now    int
	quiet  int // looks in a row that found little to do
	timer  *time.Timer
	last   time.Duration // used at the last look
	at     time.Time     // of that look
	closed bool
}

// allowed is how many processors Go took at the start: a container may have fewer than the machine.
var allowed = runtime.GOMAXPROCS(0)

// Allowed is how many processors the system lets this program use.
func Allowed() int { return allowed }

// FitProcessors starts with one processor and never takes more than most. Where the system does not tell how much
// processor time was used, it takes most at once and keeps it.
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

// Begin says that there are requests: one has come, or was answered. It costs two atomic loads while others come as
// well. A nil p does nothing.
func (p *Processors) Begin() {
	if p == nil || p.most == 1 {
		return
	}
	if !p.asked.Load() {
		p.asked.Store(true)
	}
	p.arm()
}

// Compute says that something begins which may compute for long, for which nobody else shall wait: all processors are
// taken at once. A nil p does nothing.
func (p *Processors) Compute() {
	if p == nil || p.most == 1 {
		return
	}
	if !p.wide.Swap(true) {
		p.mu.Lock()
		p.quiet = 0
		p.change(p.most)
		p.mu.Unlock()
	}
	p.arm()
}

// Close stops the looking. The number stays.
func (p *Processors) Close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closed = true
	if p.timer != nil {
		p.timer.Stop()
	}
}

func (p *Processors) arm() {
	if p.armed.Load() || p.armed.Swap(true) {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return
	}
	p.last, _ = p.used()
	p.at = time.Now()
	if p.timer == nil {
		p.timer = time.AfterFunc(lookEvery, p.look)
	} else {
		p.timer.Reset(lookEvery)
	}
}

// look compares what was used since the last look with what there is.
func (p *Processors) look() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return
	}
	used, _ := p.used()
	now := time.Now()
	share := float64(used-p.last) / float64(max(now.Sub(p.at), time.Millisecond))
	p.last, p.at = used, now
	switch computes := p.wide.Swap(false); {
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
	p.armed.Store(false) // before asked is read: who begins from here on arms the timer
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
