package upstream

import (
	"context"
	"time"
)

// The waits between attempts to open a lost stream again.
const (
	firstWait = time.Second
	lastWait  = time.Minute
)

// pauseFor waits and reports true, unless ctx or done ends first.
func pauseFor(ctx context.Context, done <-chan struct{}, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
	case <-done:
	}
	return false
}
