package source

import (
	"sync"
	"time"

	"collie/internal/tool"
)

// This file delivers notices of changes, several changes of a list as one.

// changeNotifier delivers changes to watchers. Changes of lists are gathered for a while; all others are delivered at
// once.
type changeNotifier struct {
	quiet  time.Duration
	change func(tool.ChangeKind) tool.Change // the notice of changed lists

	mu       sync.Mutex
	next     int
	watchers map[int]func(tool.Change)
	pending  map[tool.ChangeKind]bool
	timer    *time.Timer
	closed   bool

	deliver sync.Mutex // held while watchers are called, so that calls are serial
}

// watch calls f for each notice until stop is called. stop returns when a call of f in progress has ended.
func (n *changeNotifier) watch(f func(tool.Change)) (stop func()) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.watchers == nil {
		n.watchers = map[int]func(tool.Change){}
	}
	n.next++
	id := n.next
	n.watchers[id] = f
	return func() {
		n.mu.Lock()
		delete(n.watchers, id)
		n.mu.Unlock()
		n.deliver.Lock()
		n.deliver.Unlock() //nolint:staticcheck // a call that is under way ends first
	}
}

// send calls all watchers with one notice, one after the other.
func (n *changeNotifier) send(ch tool.Change) {
	n.deliver.Lock()
	defer n.deliver.Unlock()
	n.mu.Lock()
	list := make([]func(tool.Change), 0, len(n.watchers))
	for _, f := range n.watchers {
		list = append(list, f)
	}
	n.mu.Unlock()
	for _, f := range list {
		f(ch)
	}
}

// list records that a list has changed. Watchers hear of it when the quiet time has passed since the first change that
// they have not heard of; all changes until then are one notice for each kind.
func (n *changeNotifier) list(kind tool.ChangeKind) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.closed {
		return
	}
	if n.pending == nil {
		n.pending = map[tool.ChangeKind]bool{}
	}
	n.pending[kind] = true
	if n.timer == nil {
		n.timer = time.AfterFunc(n.quiet, n.flush)
	}
}

func (n *changeNotifier) all() {
	for _, kind := range []tool.ChangeKind{tool.ToolsChanged, tool.ResourcesChanged, tool.PromptsChanged} {
		n.list(kind)
	}
}

// flush sends the gathered notices when the timer fires.
func (n *changeNotifier) flush() {
	n.mu.Lock()
	pending := n.pending
	n.pending, n.timer = nil, nil
	closed := n.closed
	n.mu.Unlock()
	if closed {
		return
	}
	for _, kind := range []tool.ChangeKind{tool.ToolsChanged, tool.ResourcesChanged, tool.PromptsChanged} {
		if pending[kind] {
			n.send(n.change(kind))
		}
	}
}

func (n *changeNotifier) close() {
	n.mu.Lock()
	n.closed = true
	if n.timer != nil {
		n.timer.Stop()
	}
	n.watchers = nil
	n.mu.Unlock()
	n.deliver.Lock()
	n.deliver.Unlock() //nolint:staticcheck // a call that is under way ends first
}
