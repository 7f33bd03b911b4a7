package gateway

import (
	"sync/atomic"
	"time"

	"collie/internal/app"
	"collie/internal/process"
	"collie/internal/tool"
)

// This file limits how many processors a gateway uses, by its load.

// startEnds is how long a gateway may use all processors after its start: until waiting clients have their lists.
const startEnds = 500 * time.Millisecond

// limitProcessors adapts the number of processors to the load once the gateway has started, because it shares the
// machine with the programs it connects: it leaves them at least half of the processors. During the start it
// may use all. The caller calls done.
func (p commands) limitProcessors(a *app.App, fit *fitting) (done func()) {
	if _, set := p.Env.Lookup("GOMAXPROCS"); set {
		return func() {}
	}
	end, ended := func() {}, make(chan struct{})
	later := time.AfterFunc(startEnds, func() {
		defer close(ended)
		now := process.FitProcessors(process.AllowedProcessors() / 2)
		fit.Store(now)
		calls := a.Events.SubscribeTo(1, func(*tool.CallDone) bool {
			now.Begin()
			return false // the event is not delivered; it is enough that this function is called
		})
		end = func() {
			calls.Close()
			now.Close()
		}
	})
	return func() {
		if !later.Stop() {
			<-ended
			end()
		}
	}
}

// fitting holds the Processors of a gateway; nil while it starts.
type fitting struct {
	atomic.Pointer[process.Processors]
}

// computes is called before something that may compute for long.
func (f *fitting) computes() { f.Load().Compute() }

// streams is called when pieces of a stream were passed on.
func (f *fitting) streams() { f.Load().Stream() }
