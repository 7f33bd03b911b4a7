package upstream

import (
	"context"
	"maps"
	"sync"
	"time"

	"collie/internal/tool"
)

// refresher fetches lists again when a server says that they changed: gathered for 250 ms,
// one at a time (7.3).
type refresher struct {
	server *Server

	mu      sync.Mutex
	pending map[tool.ChangeKind]bool
	timer   *time.Timer
	running bool
	failed  int // refreshes in a row
	closed  bool
	wg      sync.WaitGroup
}

// again asks for what could not be fetched, later and later (7.3).
func (r *refresher) again(kinds map[tool.ChangeKind]bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.pending == nil {
		r.pending = map[tool.ChangeKind]bool{}
	}
	for kind := range kinds {
		r.pending[kind] = true
	}
	r.failed++
}

// wait is how long changes are gathered, or how long a failed refresh rests. r.mu is held.
func (r *refresher) wait() time.Duration {
	d := quietLists
	for range min(r.failed, 12) {
		d *= 2
	}
	return min(d, lastWait)
}

func (r *refresher) ask(kind tool.ChangeKind) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return
	}
	if r.pending == nil {
		r.pending = map[tool.ChangeKind]bool{}
	}
	r.pending[kind] = true
	if r.timer == nil && !r.running {
		r.timer = time.AfterFunc(quietLists, r.run)
	}
}

func (r *refresher) run() {
	r.mu.Lock()
	kinds := r.pending
	r.pending, r.timer = nil, nil
	if r.closed {
		r.mu.Unlock()
		return
	}
	r.running = true
	r.wg.Add(1)
	r.mu.Unlock()
	defer r.wg.Done()
	r.mu.Lock()
	before := r.failed
	r.mu.Unlock()
	r.server.relearn(kinds)
	r.mu.Lock()
	r.running = false
	if r.failed == before {
		r.failed = 0
	}
	if len(r.pending) > 0 && !r.closed {
		r.timer = time.AfterFunc(r.wait(), r.run)
	}
	r.mu.Unlock()
}

// close stops refreshing; a refresh under way ends with the server's life.
func (r *refresher) close() {
	r.mu.Lock()
	r.closed = true
	if r.timer != nil {
		r.timer.Stop()
	}
	r.mu.Unlock()
	r.wg.Wait()
}

// relearn fetches the lists of some kinds again. What fails keeps the old list.
func (s *Server) relearn(kinds map[tool.ChangeKind]bool) {
	s.mu.Lock()
	c, starting := s.teacher, len(s.opening) > 0
	s.mu.Unlock()
	standing := c != nil && c.alive()
	if !standing && starting { // the lists may have been fetched before they changed
		for kind := range kinds {
			s.lists.ask(kind)
		}
		return
	}
	if standing && !s.refresh(s.life, c, kinds) {
		s.lists.again(kinds)
	}
}

// refresh fetches the lists of some kinds from a live server, side by side, and takes those that
// came off kinds. What fails keeps the old list.
func (s *Server) refresh(ctx context.Context, c *conn, kinds map[tool.ChangeKind]bool) (ok bool) {
	ctx, cancel := context.WithTimeout(ctx, listLimit)
	defer cancel()
	var errs [allLists]error
	var wg sync.WaitGroup
	for l := range allLists {
		if kinds[l.kind()] {
			wg.Go(func() { errs[l] = s.fetch(ctx, c, l) })
		}
	}
	wg.Wait()
	ok = true
	came := maps.Clone(kinds)
	for l, err := range errs {
		if err == nil {
			continue
		}
		ok = false
		delete(came, list(l).kind())
		if c.alive() && ctx.Err() == nil { // else it says nothing about the list
			s.log.Warn("list not refreshed, the old one stays", "kind", string(list(l).kind()), "error", err)
			s.set.cache().Failed(s.name, "list_failed")
		}
	}
	for kind := range came {
		delete(kinds, kind)
	}
	if len(came) > 0 && !kinds[tool.ToolsChanged] { // what is kept says when its tools were confirmed
		s.remember(c)
	}
	return ok
}

// kind is what changes when a list does.
func (l list) kind() tool.ChangeKind {
	return [allLists]tool.ChangeKind{tool.ToolsChanged, tool.ResourcesChanged, tool.ResourcesChanged, tool.PromptsChanged}[l]
}
