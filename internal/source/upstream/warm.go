package upstream

import (
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"collie/internal/source/upstream/entry"
	"collie/internal/source/upstream/toolcache"
	"collie/internal/tool"
)

// begin1st publishes what the cache knows and reports whether the server is to be started now
// (4.8, 8.7). chosen says that its tools are wanted now; all that this is a whole gateway.
func (s *Server) begin1st(chosen, all bool) bool {
	if s.usable() != nil {
		return false
	}
	v, why := s.verdict, s.verdictWhy
	if v == "" {
		v, why = s.recall()
	}
	conf, policy := s.settings(), s.set.opts.Policy
	switch {
	case !chosen:
		return false
	case all && (conf.Lifecycle == entry.Eager || conf.Lifecycle == entry.KeepAlive):
		return true
	}
	switch v {
	case toolcache.Hit:
		return all && policy.Warmup == "all"
	case toolcache.Stale:
		if !all {
			return false
		}
		early := policy.Warmup == "all" || policy.Warmup == "stale" || policy.RefreshStale == "start" ||
			conf.Transport != entry.Stdio || why == "fingerprint" && conf.Lifecycle == entry.Auto
		return early && s.leased()
	case toolcache.Expired, toolcache.Miss:
	}
	if conf.Lifecycle == entry.Lazy && all && policy.Warmup == "off" {
		return false
	}
	return true
}

// recallAll publishes what the cache knows of servers, on as many processors as there are: it
// is most of what a start takes.
func recallAll(servers []*Server) {
	var next atomic.Int64
	var wg sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), len(servers)) {
		wg.Go(func() {
			for {
				i := int(next.Add(1)) - 1
				if i >= len(servers) {
					return
				}
				if srv := servers[i]; srv.usable() == nil {
					srv.verdict, srv.verdictWhy = srv.recall()
				}
			}
		})
	}
	wg.Wait()
}

// leased reports whether this gateway is the one to refresh the server's list. The right lasts
// until the server's start is over.
func (s *Server) leased() bool {
	release, ok := s.set.cache().Lease(s.life, s.name)
	if ok {
		go func() { // the start has a limit
			<-s.started
			release()
		}()
	}
	return ok
}

// refreshOften fetches lists again every now and then (8.13). It ends with the set.
func (s *Set) refreshOften() {
	p := s.opts.Policy
	for pauseFor(s.life, nil, jittered(p.RefreshEvery)) {
		for _, srv := range s.Servers() {
			remote := srv.settings().Transport != entry.Stdio
			switch {
			case s.life.Err() != nil || srv.usable() != nil:
			case srv.up.Load():
				for _, kind := range []tool.ChangeKind{tool.ToolsChanged, tool.ResourcesChanged, tool.PromptsChanged} {
					srv.lists.ask(kind)
				}
			case remote || p.RefreshStarts:
				s.refreshing.Go(func() {
					release, ok := s.cache().Lease(s.life, srv.name)
					if !ok {
						return
					}
					defer release()
					if _, err := srv.connection(s.life); err != nil {
						s.log.Debug("list not refreshed", "server", srv.name, "error", err)
					}
				})
			}
		}
	}
}

// jittered is d, a fifth more or less.
func jittered(d time.Duration) time.Duration {
	return time.Duration(float64(d) * (0.8 + 0.4*rand.Float64())) //nolint:gosec // it spreads load, it keeps no secret
}

// Peek publishes what the cache knows of all servers and starts nothing, for those who only
// look.
func (s *Set) Peek() {
	recallAll(s.Servers())
}
