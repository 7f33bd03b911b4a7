package tooltest

import (
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"collie/internal/tool"
)

// This file tests that a source reports its changes.

// watched watches a source and records the changes that it reports.
type watched struct {
	source tool.Source
	stop   func()
	inside atomic.Int32
	twice  atomic.Bool // set if two calls overlapped
	after  atomic.Bool // set if a call came after stop had returned
	over   atomic.Bool

	mu      sync.Mutex
	changes []tool.Change
	offers  []*tool.Offer // the offer at the time of each change
	more    chan struct{}
}

func watch(s tool.Source) *watched {
	w := &watched{source: s, more: make(chan struct{}, 1)}
	w.stop = s.Watch(w.changed)
	return w
}

func (w *watched) changed(ch tool.Change) {
	if w.inside.Add(1) > 1 {
		w.twice.Store(true)
	}
	defer w.inside.Add(-1)
	if w.over.Load() {
		w.after.Store(true)
	}
	w.mu.Lock()
	w.changes = append(w.changes, ch)
	w.offers = append(w.offers, w.source.Offer())
	w.mu.Unlock()
	select {
	case w.more <- struct{}{}:
	default:
	}
}

// find returns the changes of a kind and the offers at those times.
func (w *watched) find(kind tool.ChangeKind) (changes []tool.Change, offers []*tool.Offer) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for i, ch := range w.changes {
		if ch.Kind == kind {
			changes, offers = append(changes, ch), append(offers, w.offers[i])
		}
	}
	return changes, offers
}

// await waits for a change of a kind and returns the first one, with the offer at that time.
func (w *watched) await(t *testing.T, kind tool.ChangeKind) (tool.Change, *tool.Offer) {
	t.Helper()
	limit := time.After(waitLimit)
	for {
		if changes, offers := w.find(kind); len(changes) > 0 {
			return changes[0], offers[0]
		}
		select {
		case <-w.more:
		case <-limit:
			t.Fatalf("nobody was told of %q within %v", kind, waitLimit)
		}
	}
}

func testWatch(t *testing.T, f Fixture) {
	if f.Change == nil {
		t.Skip("the source does not change")
	}
	before := f.Source.Offer()
	one, two := watch(f.Source), watch(f.Source)
	defer two.stop()
	f.Change()
	for _, w := range []*watched{one, two} {
		ch, offer := w.await(t, tool.ToolsChanged)
		if ch.Source != f.Source.Name() {
			t.Errorf("the change names source %q, want %q", ch.Source, f.Source.Name())
		}
		if offer == before {
			t.Error("a change was told before Offer returned something new")
		}
		if w.twice.Load() {
			t.Error("two calls of one watcher at once")
		}
	}
	one.stop()
	one.over.Store(true)
	before = f.Source.Offer()
	f.Change()
	for f.Source.Offer() == before {
		two.awaitMore(t)
	}
	if one.after.Load() {
		t.Error("a watcher was called after it had stopped")
	}
}

func (w *watched) awaitMore(t *testing.T) {
	t.Helper()
	select {
	case <-w.more:
	case <-time.After(waitLimit):
		t.Fatal("nothing was told of a change")
	}
}

// testStop stops a watcher while the source is reporting a change.
func testStop(t *testing.T, f Fixture) {
	if f.Change == nil {
		t.Skip("the source does not change")
	}
	tell := f.Change
	if r, ok := f.Source.(tool.Peer); ok && f.Touch != nil {
		tell = f.Touch // updates are not merged, unlike list changes
		if err := r.Subscribe(t.Context(), f.URI); err != nil {
			t.Fatal(err)
		}
	}
	for range 10 {
		var telling sync.WaitGroup
		w := watch(f.Source)
		for range 3 {
			telling.Go(tell)
		}
		w.awaitMore(t)
		w.stop()
		w.over.Store(true)
		telling.Wait()
		if w.after.Load() || w.twice.Load() {
			t.Fatalf("called after stop: %t; two calls at once: %t", w.after.Load(), w.twice.Load())
		}
	}
}

func testSubscriptions(t *testing.T, f Fixture) {
	peer, ok := f.Source.(tool.Peer)
	if !ok || f.Touch == nil {
		t.Skip("the source takes no subscriptions")
	}
	w := watch(f.Source)
	defer w.stop()
	for range 2 { // the second round changes nothing
		if err := peer.Subscribe(t.Context(), f.URI); err != nil {
			t.Fatalf("subscribe: %v", err)
		}
	}
	f.Touch()
	ch, _ := w.await(t, tool.ResourceUpdated)
	if ch.URI != f.URI || ch.Source != f.Source.Name() || ch.Method != "notifications/resources/updated" {
		t.Errorf("told of %+v, want an update of %s", ch, f.URI)
	}
	checkObject(t, "params of an update", ch.Params)
	for range 2 {
		if err := peer.Unsubscribe(t.Context(), f.URI); err != nil {
			t.Fatalf("unsubscribe: %v", err)
		}
	}
	f.Touch()
	if f.Change != nil { // this change arrives later than anything that Touch could have caused
		f.Change()
		w.await(t, tool.ToolsChanged)
	}
	if changes, _ := w.find(tool.ResourceUpdated); len(changes) != 1 {
		t.Errorf("%d updates, want the one between subscribe and unsubscribe", len(changes))
	}
}
