package upstream

import (
	"context"
	"math/rand/v2"
	"os"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"collie/internal/source/upstream/entry"
	"collie/internal/source/upstream/toolcache"
	"collie/internal/tool"
)

// This file decides which servers start with the gateway, from what the cache knows, and refreshes lists in the
// background.

// cachedServer is the verdict on a server's cache entry, and the reason for it.
type cachedServer struct {
	verdict toolcache.Verdict
	why     string
}

// recallFirst publishes what the cache knows of the server before its first start. It returns the zero value for a
// server that cannot be used.
func (s *Server) recallFirst(quick bool) (r cachedServer) {
	if s.checkUsable() == nil {
		r.verdict, r.why = s.listing.Recall(quick)
	}
	return r
}

// shouldStartNow decides from the cache's verdict whether to start the server now. chosen means that its tools are
// needed now, all that this is the start of a gateway. If endLease is not nil, the caller must call it when the
// lists have arrived.
func (s *Server) shouldStartNow(known cachedServer, chosen, all bool) (starts bool, endLease func()) {
	if s.checkUsable() != nil || !chosen {
		return false, nil
	}
	conf, policy := s.settings(), s.set.opts.Policy
	if all && s.runsOn() {
		return true, nil
	}
	switch known.verdict {
	case toolcache.Hit:
		return all && policy.Warmup == "all", nil
	case toolcache.Stale:
		if !all {
			return false, nil
		}
		early := policy.Warmup == "all" || policy.Warmup == "stale" || policy.RefreshStale == "start" ||
			conf.Transport != entry.Stdio || known.why == "fingerprint" && conf.Lifecycle == entry.Auto
		if !early {
			return false, nil
		}
		endLease, starts = s.lease()
		return starts, endLease
	case toolcache.Expired, toolcache.Miss:
	}
	if conf.Lifecycle == entry.Lazy && all && policy.Warmup == "off" {
		return false, nil
	}
	return true, nil
}

// recallAll publishes what the cache knows of servers, in parallel on all processors, since decoding is most of the
// time a start takes. It returns the results in the order of servers.
func recallAll(servers []*Server) []cachedServer {
	out := make([]cachedServer, len(servers))
	var next atomic.Int64
	var wg sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), len(servers)) {
		wg.Go(func() {
			for {
				i := int(next.Add(1)) - 1
				if i >= len(servers) {
					return
				}
				out[i] = servers[i].recallFirst(true)
			}
		})
	}
	wg.Wait()
	return out
}

// flushTime bounds how long a list may take to be written where other gateways look for it.
const flushTime = 5 * time.Second

// lease takes the right to refresh the server's list. ok is false if another gateway has it or has just used it. The
// caller ends it with release, which first waits until the new list is where other gateways look.
func (s *Server) lease() (release func(), ok bool) {
	end, ok := s.set.cache().Lease(s.life.ctx, s.name)
	if !ok {
		return nil, false
	}
	if w := s.listing.Want(); w != nil {
		if _, v, _ := s.set.cache().Lookup(*w); v == toolcache.Hit {
			s.listing.Recall(false)
			end()
			return nil, false
		}
	}
	return func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(s.life.ctx), flushTime)
		defer cancel()
		if err := s.set.cache().Flush(ctx); err != nil {
			s.log.Debug("tool cache not written", "error", err)
		}
		end()
	}, true
}

// refreshOften fetches lists again every RefreshEvery. It ends with the set.
func (s *Set) refreshOften() {
	p := s.opts.Policy
	for sleepFor(s.life, nil, withJitter(p.RefreshEvery)) {
		for _, srv := range s.Servers() {
			remote := srv.settings().Transport != entry.Stdio
			switch {
			case s.life.Err() != nil || srv.checkUsable() != nil || srv.refreshBackoff.mustWait(time.Now()):
			case srv.listing.Live():
				for _, kind := range []tool.ChangeKind{tool.ToolsChanged, tool.ResourcesChanged, tool.PromptsChanged} {
					srv.listing.Ask(kind)
				}
			case srv.needsPerson() || srv.stoppedByPerson():
			case remote || p.RefreshStarts:
				s.refreshing.Go(func() {
					release, ok := s.cache().Lease(s.life, srv.name)
					if !ok {
						return
					}
					defer release()
					_, err := srv.connection(s.life)
					srv.refreshBackoff.record(time.Now(), p.RefreshEvery, err)
					if err != nil {
						s.log.Debug("list not refreshed", "server", srv.name, "error", err)
					}
				})
			}
		}
	}
}

// connectForLists connects to a remote server without a connection, which makes it send its lists again. It starts no
// process for that, and it contacts no server whose next attempt is not due: the longer a server fails, the less
// often it is tried.
func (s *Server) connectForLists(now time.Time) {
	conf := s.settings()
	if conf.Transport == entry.Stdio || conf.Lifecycle == entry.Lazy || s.checkUsable() != nil || s.needsPerson() || s.refreshBackoff.mustWait(now) {
		return
	}
	p := s.pool.lock()
	defer s.pool.unlock()
	at := s.supervisor.Condition()
	if p.closed || p.primary != nil || p.opening[slot{}] != nil || at.NextRetry.After(now) || at.Reason == reasonStopped {
		return
	}
	o := s.startOpening(p, slot{}, 0)
	s.life.wg.Go(func() { // ends with the start
		<-o.done
		s.refreshBackoff.record(time.Now(), listedAgain, o.err)
	})
}

// listedAgain is the first wait after a remote server could not be reached for its lists.
const listedAgain = 5 * time.Minute

// reasonStopped is the reason of a server that a person has stopped, until it is called again.
const reasonStopped = "user_stop"

func (s *Server) stoppedByPerson() bool { return s.supervisor.Condition().Reason == reasonStopped }

// needsPerson reports whether the server has failed for a reason that a retry cannot fix.
func (s *Server) needsPerson() bool {
	st := s.supervisor.Condition().State
	return st == tool.StateFailed || st == tool.StateNeedsAuth
}

// refreshBackoff makes refreshes of a failing server ever rarer.
type refreshBackoff struct {
	mu    sync.Mutex
	until time.Time
	wait  time.Duration
}

// longestPostponement bounds the wait between two refreshes of a failing server.
const longestPostponement = 6 * time.Hour

// mustWait reports whether the next refresh has to wait at the time now.
func (p *refreshBackoff) mustWait(now time.Time) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return now.Before(p.until)
}

// record records the result of a refresh. Each failure doubles the wait, which begins with every; a success ends it.
func (p *refreshBackoff) record(now time.Time, every time.Duration, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if err == nil {
		p.until, p.wait = time.Time{}, 0
		return
	}
	p.wait = min(max(2*p.wait, every), max(longestPostponement, every))
	p.until = now.Add(p.wait)
}

// withJitter returns d plus or minus up to a fifth, at random.
func withJitter(d time.Duration) time.Duration {
	return time.Duration(float64(d) * (0.8 + 0.4*rand.Float64())) // spreads load
}

// Peek publishes what the cache knows of all servers and starts none, for commands that only look.
func (s *Set) Peek() {
	recallAll(s.Servers())
}

// identity returns the hash that identifies a server in cache and pins.
func (s *Set) identity(e *entry.Entry) string {
	if s.opts.Portable {
		return e.PortableHash(s.opts.Key)
	}
	return e.ConfigHash(s.opts.Key)
}

// fingerprint returns a digest of the files behind the command, to notice updates.
func (s *Server) fingerprint() string {
	return s.settings().Fingerprint(s.set.opts.Environ, entry.EnvironmentOptions{Deny: s.set.opts.Deny, IsDir: s.set.folders.isDir})
}

// folders caches for a moment which folders exist, since all servers of a start ask for the same ones.
type folders struct {
	mu    sync.Mutex
	since time.Time
	known map[string]bool
}

// foldersFor is how long an answer stays valid.
const foldersFor = 2 * time.Second

func (f *folders) isDir(dir string) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if now := time.Now(); now.Sub(f.since) > foldersFor {
		f.since, f.known = now, map[string]bool{}
	}
	is, known := f.known[dir]
	if !known {
		info, err := os.Stat(dir)
		is = err == nil && info.IsDir()
		f.known[dir] = is
	}
	return is
}
