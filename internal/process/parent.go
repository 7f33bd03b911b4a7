package process

import (
	"cmp"
	"context"
	"time"
)

// WatchParent returns a channel that is closed when the process pid is gone. It checks at once and then at
// the given interval; 0 means 2 s. A process of another user counts as alive; a different process that reuses
// the number does not. When ctx ends, the goroutine ends and the channel stays open.
func WatchParent(ctx context.Context, pid int, every time.Duration) <-chan struct{} {
	every = cmp.Or(max(every, 0), 2*time.Second)
	gone := make(chan struct{})
	start, unknown := startTime(pid)
	isUnchanged := func() bool {
		now, err := startTime(pid)
		return unknown != nil || err != nil || now == start
	}
	go func() {
		tick := time.NewTicker(every)
		defer tick.Stop()
		for Alive(pid) && isUnchanged() {
			select {
			case <-tick.C:
			case <-ctx.Done():
				return
			}
		}
		close(gone)
	}()
	return gone
}
