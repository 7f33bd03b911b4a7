package listing

import (
	"context"
	"maps"
	"sync"
	"time"

	"collie/internal/tool"
)

// The waits before lists are fetched again: after a change, and at most after failures.
const (
	quietLists  = 250 * time.Millisecond
	longestWait = time.Minute
)

// refresher fetches lists again when a server says that they changed: gathered for 250 ms,
// one at a time.
type refresher struct {
	listing *Listing

	mu      sync.Mutex
	pending map[tool.ChangeKind]bool
	timer   *time.Timer
	running bool
	failed  int // refreshes in a row
	closed  bool
	wg      sync.WaitGroup
}

// again asks for what could not be fetched, later and later.
func (r *refresher) again(changed map[tool.ChangeKind]bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.pending == nil {
		r.pending = map[tool.ChangeKind]bool{}
	}
	for kind := range changed {
		r.pending[kind] = true
	}
	r.failed++
}

// wait is how long changes are gathered, or how long is waited after so many refreshes that failed.
func wait(failed int) time.Duration {
	d := quietLists
	for range min(failed, 12) {
		d *= 2
	}
	return min(d, longestWait)
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
	changed := r.pending
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
	r.listing.relearn(changed)
	r.mu.Lock()
	r.running = false
	if r.failed == before {
		r.failed = 0
	}
	if len(r.pending) > 0 && !r.closed {
		r.timer = time.AfterFunc(wait(r.failed), r.run)
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

// Ask fetches lists of a kind again, soon: changes are gathered for a moment.
func (l *Listing) Ask(kind tool.ChangeKind) { l.refresh.ask(kind) }

// relearn fetches the lists of some kinds again. What fails keeps the old list.
func (l *Listing) relearn(changed map[tool.ChangeKind]bool) {
	starting := l.opts.Starting() // asked first: a start that ends in between has left its connection
	f := l.Feed()
	standing := f != nil && f.Alive()
	if !standing && starting { // the lists may have been fetched before they changed
		for kind := range changed {
			l.Ask(kind)
		}
		return
	}
	if standing && !l.Refresh(l.opts.Life, f, changed) {
		l.refresh.again(changed)
	}
}

// Refresh fetches the lists of some kinds from a live server, side by side, and takes those that
// came off changed. What fails keeps the old list.
func (l *Listing) Refresh(ctx context.Context, f *Feed, changed map[tool.ChangeKind]bool) (ok bool) {
	ctx, cancel := context.WithTimeout(ctx, listLimit)
	defer cancel()
	var errs [kinds]error
	var wg sync.WaitGroup
	for which := range Kind(kinds) {
		if changed[which.change()] {
			wg.Go(func() { errs[which] = l.fetch(ctx, f, which) })
		}
	}
	wg.Wait()
	ok = true
	came := maps.Clone(changed)
	for i, err := range errs {
		if err == nil {
			continue
		}
		ok = false
		kind := Kind(i).change()
		delete(came, kind)
		if f.Alive() && ctx.Err() == nil { // else it says nothing about the list
			l.opts.Log.Warn("list not refreshed, the old one stays", "kind", string(kind), "error", err)
			l.opts.Cache.Failed(l.opts.Name, "list_failed")
		}
	}
	for kind := range came {
		delete(changed, kind)
	}
	if len(came) > 0 && !changed[tool.ToolsChanged] { // what is kept says when its tools were confirmed
		l.Keep(f)
	}
	return ok
}
