package gateway

import (
	"sync/atomic"

	"collie/internal/app"
	"collie/internal/process"
	"collie/internal/tool"
)

// frugal fits the processors in use to what calls need, once a gateway stands: it works between
// programs of the same machine, which get at least half of those there are. The start itself takes
// them all. The caller calls done.
func (p commands) frugal(a *app.App, fit *fitting) (done func()) {
	if _, set := p.Env.Lookup("GOMAXPROCS"); set {
		return func() {}
	}
	now := process.FitProcessors(process.Allowed() / 2)
	fit.Store(now)
	calls := a.Events.SubscribeTo(1, func(*tool.CallDone) bool {
		now.Begin()
		return false // it is enough to have been asked
	})
	return func() {
		calls.Close()
		now.Close()
	}
}

// fitting holds the processors of a gateway, nil while it starts.
type fitting struct {
	atomic.Pointer[process.Processors]
}

// computes hears of what may compute for long.
func (f *fitting) computes() { f.Load().Compute() }
