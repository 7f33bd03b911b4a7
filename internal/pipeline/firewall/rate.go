package firewall

import (
	"sync"
	"time"
)

const (
	perMinute   = 120  // calls of one session
	maxSessions = 4096 // sessions whose calls are counted
	refillTime  = time.Minute / perMinute
)

// rates limits the calls of sessions: each may make perMinute calls at once, and then one every refillTime.
type rates struct {
	mu   sync.Mutex
	full map[string]time.Time // when the session's allowance is complete again
}

// take counts a call of a session. It returns how long to wait if there were too many, else 0.
func (r *rates) take(session string) time.Duration {
	r.mu.Lock()
	defer r.mu.Unlock()
	now := time.Now()
	if r.full == nil {
		r.full = map[string]time.Time{}
	}
	if len(r.full) >= maxSessions {
		for s, full := range r.full {
			if !full.After(now) {
				delete(r.full, s)
			}
		}
	}
	full := r.full[session]
	if full.Before(now) {
		full = now
	}
	if full = full.Add(refillTime); full.Sub(now) > time.Minute {
		return full.Sub(now) - time.Minute
	}
	r.full[session] = full
	return 0
}
