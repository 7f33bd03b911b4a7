package limit

import (
	"sync"

	"collie/internal/tool"
)

// callerKey identifies whose calls are counted together: a session or, for callers without sessions such as clients
// of MCP 2026-07-28, a principal.
type callerKey struct{ session, principal string }

// callerOf returns the key of the caller that c counts for.
func callerOf(c *tool.Call) callerKey {
	if c.Session != "" {
		return callerKey{session: c.Session}
	}
	return callerKey{principal: c.Principal}
}

// admission says whether a call may run, and if not, which bound is reached.
type admission int

const (
	entered admission = iota
	sessionFull
	allFull
)

// inFlight counts running calls. It has entries only for those with at least one.
type inFlight struct {
	mu    sync.Mutex
	total int
	each  map[callerKey]int
}

// enter counts one more call of w, unless w has perSession calls already or all together have total.
func (f *inFlight) enter(w callerKey, perSession, total int) admission {
	f.mu.Lock()
	defer f.mu.Unlock()
	n := f.each[w]
	switch {
	case n >= perSession:
		return sessionFull
	case f.total >= total:
		return allFull
	}
	f.each[w] = n + 1
	f.total++
	return entered
}

func (f *inFlight) leave(w callerKey) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.total--
	if n := f.each[w] - 1; n > 0 {
		f.each[w] = n
	} else {
		delete(f.each, w)
	}
}
