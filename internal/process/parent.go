package process

import (
	"cmp"
	"context"
	"time"
)

// WatchParent returns a channel that is closed when the process pid is gone, which it
// looks for at once and then every so often (0 means 2 s). A process of another user
// counts as alive; another process that got the same number does not. The goroutine
// behind it ends then, or when ctx does; the channel then stays open.
func WatchParent(ctx context.Context, pid int, every time.Duration) <-chan struct{} {
	every = cmp.Or(max(every, 0), 2*time.Second)
	gone := make(chan struct{})
	start, unknown := startTime(pid)
	same := func() bool {
		now, err := startTime(pid)
		return unknown != nil || err != nil || now == start
	}
	go func() {
		tick := time.NewTicker(every)
		defer tick.Stop()
		for Alive(pid) && same() {
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
