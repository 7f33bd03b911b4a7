package listing

import (
	"context"
	"maps"
	"sync"
	"time"

	"collie/internal/tool"
)

// This file fetches lists again after a server says that they have changed.

// How long list changes are gathered before the lists are fetched again, and the longest wait after failures.
const (
	quietLists  = 250 * time.Millisecond
	longestWait = time.Minute
)

// refresher fetches lists again after a server announced a change: changes within 250 ms are handled together, and
// one refresh runs at a time.
type refresher struct {
	listing *Listing

	mu      sync.Mutex
	pending map[tool.ChangeKind]bool
	timer   *time.Timer
	running bool
	failed  int // failed refreshes in a row
	closed  bool
	wg      sync.WaitGroup
}

// noteFailure marks lists that could not be fetched. [refresher.run], in which this happens, starts the timer for the next
// attempt when it ends.
func (r *refresher) noteFailure(changed map[tool.ChangeKind]bool) {
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

// retryDelay returns how long to wait before a refresh after that many failures in a row; after none it is the time for
// which changes are gathered.
func retryDelay(failed int) time.Duration {
	d := quietLists
	for range min(failed, 12) {
		d *= 2
	}
	return min(d, longestWait)
}

// ask adds a kind to the pending ones and starts the timer, unless it or a refresh is running.
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

// run fetches the pending lists when the timer fires, and starts the timer again for those that came meanwhile or failed.
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
	before := r.failed
	r.mu.Unlock()
	defer r.wg.Done()
	r.listing.refetch(changed)
	r.mu.Lock()
	r.running = false
	if r.failed == before {
		r.failed = 0
	}
	if len(r.pending) > 0 && !r.closed {
		r.timer = time.AfterFunc(retryDelay(r.failed), r.run)
	}
	r.mu.Unlock()
}

// close stops refreshing. A refresh in progress ends with the server's life.
func (r *refresher) close() {
	r.mu.Lock()
	r.closed = true
	if r.timer != nil {
		r.timer.Stop()
	}
	r.mu.Unlock()
	r.wg.Wait()
}

// Ask plans a refresh of the lists of a kind. Further changes within a moment join it.
func (l *Listing) Ask(kind tool.ChangeKind) { l.refresh.ask(kind) }

// refetch fetches the lists of some kinds again. If one fails, the old list stays.
func (l *Listing) refetch(changed map[tool.ChangeKind]bool) {
	starting := l.opts.Starting() // before Feed: if the start ends in between, its connection is there
	f := l.Feed()
	connected := f != nil && f.Alive()
	if !connected && starting { // the start may have fetched the lists before they changed
		for kind := range changed {
			l.Ask(kind)
		}
		return
	}
	if connected && !l.Refresh(l.opts.Life, f, changed) {
		l.refresh.noteFailure(changed)
	}
}

// Refresh fetches the lists of some kinds from a live server, in parallel, and removes those that succeeded from
// changed. If one fails, the old list stays.
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
	fetched := maps.Clone(changed)
	for i, err := range errs {
		if err == nil {
			continue
		}
		ok = false
		kind := Kind(i).change()
		delete(fetched, kind)
		if f.Alive() && ctx.Err() == nil { // otherwise the failure says nothing about the list
			l.opts.Log.Warn("list not refreshed, the old one stays", "kind", string(kind), "error", err)
			l.opts.Cache.Failed(l.opts.Name, "list_failed")
		}
	}
	for kind := range fetched {
		delete(changed, kind)
	}
	if len(fetched) > 0 && !changed[tool.ToolsChanged] { // not if the tools failed, since an entry records when they were confirmed
		l.keep(f)
	}
	return ok
}
