package toolcache

import (
	"context"
	"slices"
	"time"
)

// This file tells one watcher which entries other processes have changed.

// watchRetry is the wait before another attempt to watch the file or the shared place.
const watchRetry = 30 * time.Second

// Watch calls f with the name of each server whose entry another process has changed, until stop is called. It
// replaces an earlier watcher. Calls are serial; f must not block for long and must not call Flush or Close.
func (c *Cache) Watch(f func(server string)) (stop func()) {
	if c == nil {
		return func() {}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.watcher = f; !c.watching && !c.closed {
		c.watching = true
		c.startWatching()
	}
	return func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.watcher = nil
	}
}

// startWatching watches file and shared place until the cache is closed. It starts with the first Watch, so that short-lived
// programs are spared the work.
func (c *Cache) startWatching() {
	if c.file != nil {
		c.tasks.Go(func() {
			c.keepWatching(c.file.Watch, func() {
				if err := c.reload(c.life); err != nil && c.life.Err() == nil {
					c.reportFailure("read", err)
				}
			})
		})
	}
	if c.shared != nil {
		c.tasks.Go(func() { c.keepWatching(c.shared.backend.Watch, c.shared.refresh) })
	}
}

// keepWatching watches until the cache is closed, and tries again after a while if a watch ends.
func (c *Cache) keepWatching(watch func(context.Context, func()) error, f func()) {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-c.life.Done():
			return
		case <-timer.C:
		}
		if err := watch(c.life, f); err != nil && c.life.Err() == nil {
			c.log.Debug("tool cache cannot be watched", "error", err)
		}
		timer.Reset(watchRetry)
	}
}

// notifyWatcher calls the watcher for each server whose entry another process has changed.
func (c *Cache) notifyWatcher() {
	c.notifyMu.Lock()
	defer c.notifyMu.Unlock()
	c.mu.Lock()
	servers := c.pendingNotices
	c.pendingNotices = nil
	c.mu.Unlock()
	slices.Sort(servers)
	for _, name := range slices.Compact(servers) {
		c.mu.Lock()
		f := c.watcher
		c.mu.Unlock()
		if f != nil {
			f(name)
		}
	}
}
