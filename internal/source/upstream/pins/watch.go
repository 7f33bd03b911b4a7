package pins

import (
	"maps"
	"path/filepath"
	"sync"
	"time"
)

// Watch calls f with the name of each server whose pins or pending changes are not what they
// were, whoever changed them, until stop is called: at once for changes of this process,
// within [Options.Poll] for those of others. Calls are serial, from one goroutine, and none
// is made once stop or Close has returned; f may call the Store, but not stop or Close.
func (s *Store) Watch(f func(server string)) (stop func()) {
	if s == nil {
		return func() {}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return func() {}
	}
	w := &watcher{store: s, f: f, wake: make(chan struct{}, 1), ended: make(chan struct{}), done: make(chan struct{})}
	s.wake[w.wake] = struct{}{}
	if len(s.pins) > 0 { // else the file is read when run begins: Watch does not wait for it
		w.known, w.at = s.copy(), s.changed
	}
	s.wg.Go(w.run)
	return w.stop
}

// watcher is one Watch.
type watcher struct {
	store *Store
	f     func(server string)
	wake  chan struct{}
	once  sync.Once
	ended chan struct{} // closed by stop
	done  chan struct{} // closed when run has returned

	known state  // what f knows
	at    uint64 // Store.changed then
}

func (w *watcher) stop() {
	w.once.Do(func() { close(w.ended) })
	<-w.done
}

func (w *watcher) run() {
	defer close(w.done)
	w.begin()
	n := w.store.notify()
	defer n.close()
	w.look() // what came before the notices
	tick := time.NewTicker(n.every)
	defer tick.Stop()
	for {
		select {
		case e, ok := <-n.events:
			if !ok {
				n.events = nil
				tick.Reset(w.store.opts.Poll)
			} else if filepath.Base(e.Name) != n.base {
				continue // of another file in the folder
			}
		case _, ok := <-n.failures: // an overflow, for example: something was lost
			if !ok {
				n.failures = nil
			}
		case <-tick.C:
		case <-w.wake:
		case <-w.ended:
			w.leave()
			return
		case <-w.store.stop:
			return
		}
		w.look()
	}
}

// begin reads the file for the first time, which is not a change.
func (w *watcher) begin() {
	s := w.store
	s.mu.Lock()
	defer s.mu.Unlock()
	if w.known == nil {
		s.refresh()
		w.known, w.at = s.copy(), s.changed
	}
}

func (w *watcher) leave() {
	w.store.mu.Lock()
	defer w.store.mu.Unlock()
	delete(w.store.wake, w.wake)
}

// look tells f what has changed since the last look.
func (w *watcher) look() {
	s := w.store
	s.mu.Lock()
	s.refresh()
	if s.changed == w.at {
		s.mu.Unlock()
		return
	}
	before := w.known
	w.known, w.at = s.copy(), s.changed
	s.mu.Unlock()
	for server, tools := range w.known {
		if !sameTools(tools, before[server]) {
			w.f(server)
		}
	}
	for server := range before {
		if _, still := w.known[server]; !still {
			w.f(server)
		}
	}
}

// copy is a copy of the maps of all pins. The caller holds s.mu.
func (s *Store) copy() state {
	out := make(state, len(s.pins))
	for server, tools := range s.pins {
		out[server] = maps.Clone(tools)
	}
	return out
}
