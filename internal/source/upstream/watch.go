package upstream

import (
	"sync"

	"collie/internal/tool"
)

// watchers are told of a server's changes, one after the other.
type watchers struct {
	mu   sync.Mutex
	next int
	list map[int]func(tool.Change)

	deliver sync.Mutex
}

func (w *watchers) add(f func(tool.Change)) (stop func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.list == nil {
		w.list = map[int]func(tool.Change){}
	}
	w.next++
	id := w.next
	w.list[id] = f
	return func() {
		w.mu.Lock()
		delete(w.list, id)
		w.mu.Unlock()
		w.deliver.Lock() // a call that is under way ends first
		w.deliver.Unlock()
	}
}

func (w *watchers) tell(ch tool.Change) {
	w.deliver.Lock()
	defer w.deliver.Unlock()
	w.mu.Lock()
	list := make([]func(tool.Change), 0, len(w.list))
	for _, f := range w.list {
		list = append(list, f)
	}
	w.mu.Unlock()
	for _, f := range list {
		f(ch)
	}
}
