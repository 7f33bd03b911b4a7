package toolcache

import (
	"context"
	"sync"
	"time"
)

const (
	leaseFor   = 60 * time.Second
	leaseRenew = leaseFor / 3
)

// Lease reports whether this gateway may refresh a server now, and how to end that. Without a
// shared place, or while that does not answer, it always may. The lease is renewed until release
// is called, which may happen twice.
func (c *Cache) Lease(ctx context.Context, server string) (release func(), ok bool) {
	if c == nil || c.shared == nil || c.shared.skipped() {
		return func() {}, true
	}
	c.mu.Lock()
	w := c.wants[server]
	c.mu.Unlock()
	name := sharedName(server, w.Hash, w.Principal)
	ok, err := c.shared.lease(ctx, name, leaseFor, sharedOpenLimit)
	if err != nil {
		c.shared.failed("shared_lease", err)
		return func() {}, true
	}
	if !ok {
		return func() {}, false
	}
	c.shared.refresh() // who had it before may have fetched the list since we looked
	ended := make(chan struct{})
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.closed {
		c.tasks.Go(func() { c.hold(name, ended) })
	}
	return sync.OnceFunc(func() { close(ended) }), true
}

func (s *shared) lease(ctx context.Context, name string, d, limit time.Duration) (bool, error) {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	return s.backend.Lease(ctx, name, s.cache.opts.Instance, d)
}

// hold renews a lease until it ends, and gives it back.
func (c *Cache) hold(name string, ended <-chan struct{}) {
	renew := time.NewTicker(leaseRenew)
	defer renew.Stop()
	for {
		select {
		case <-renew.C:
			if _, err := c.shared.lease(c.life, name, leaseFor, sharedLimit); err != nil {
				c.log.Debug("lease not renewed", "lease", name, "error", err)
			}
			continue
		case <-ended:
		case <-c.life.Done():
		}
		if _, err := c.shared.lease(context.Background(), name, 0, sharedOpenLimit); err != nil {
			c.log.Debug("lease not given back, it runs out by itself", "lease", name, "error", err)
		}
		return
	}
}
