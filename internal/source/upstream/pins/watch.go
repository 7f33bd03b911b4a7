package pins

import (
	"maps"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/fsnotify/fsnotify"

	"collie/internal/atomicfile"
)

// This file notices when another process changes pins.

// Watch calls f with the name of each server whose pins or pending definitions have changed, until stop is called: at
// once for changes by this process, within [Options.Poll] for those by others. One goroutine makes all calls, one at
// a time, and none after stop or Close has returned. f may call the Store, but not stop or Close.
func (s *Store) Watch(f func(server string)) (stop func()) {
	if s == nil {
		return func() {}
	}
	b := s.lock()
	defer s.mu.Unlock()
	if b.closed {
		return func() {}
	}
	w := &watcher{store: s, f: f, wake: make(chan struct{}, 1), ended: make(chan struct{}), done: make(chan struct{})}
	b.wake[w.wake] = struct{}{}
	if len(b.pins) > 0 { // else run reads the file when it begins, so that Watch need not wait
		w.known, w.at = b.copy(), b.changed
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

	known state  // the state that f was last called about
	at    uint64 // pinBook.changed at that time
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
	w.notifyChanges() // changes from before the notices
	tick := time.NewTicker(n.every)
	defer tick.Stop()
	for {
		select {
		case e, ok := <-n.events:
			if !ok {
				n.events = nil
				tick.Reset(w.store.opts.Poll)
			} else if filepath.Base(e.Name) != n.base {
				continue // about another file in the folder
			}
		case _, ok := <-n.failures: // an overflow, for example: notices were lost
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
		w.notifyChanges()
	}
}

// begin reads the file for the first time, which does not count as a change.
func (w *watcher) begin() {
	s := w.store
	b := s.lock()
	defer s.mu.Unlock()
	if w.known == nil {
		b.refresh()
		w.known, w.at = b.copy(), b.changed
	}
}

func (w *watcher) leave() {
	b := w.store.lock()
	defer w.store.mu.Unlock()
	delete(b.wake, w.wake)
}

// notifyChanges calls f with the changes since the last call.
func (w *watcher) notifyChanges() {
	s := w.store
	b := s.lock()
	b.refresh()
	if b.changed == w.at {
		s.mu.Unlock()
		return
	}
	before := w.known
	w.known, w.at = b.copy(), b.changed
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

// copy returns a copy of the maps of all pins.
func (b *pinBook) copy() state {
	out := make(state, len(b.pins))
	for server, tools := range b.pins {
		out[server] = maps.Clone(tools)
	}
	return out
}

// slowPollFactor is how many times less often the file is polled if the system reports its changes.
const slowPollFactor = 15

// notices are the system's reports about the file's folder. If there are none, the channels are nil and only polling
// finds changes.
type notices struct {
	base     string
	every    time.Duration // interval of polling
	events   <-chan fsnotify.Event
	failures <-chan error
	close    func()
}

// notify asks the system for notices. It watches the folder, since each write replaces the file.
func (s *Store) notify() notices {
	n := notices{base: filepath.Base(s.file.Path), every: s.opts.Poll, close: func() {}}
	if s.file.Path == "" || s.opts.PollOnly {
		return n
	}
	dir := filepath.Dir(s.file.Path)
	w, err := fsnotify.NewWatcher()
	if err != nil {
		s.log.Debug("no notices of changed pins, the file is looked at instead", "error", err)
		return n
	}
	if err := w.Add(dir); err != nil {
		_ = w.Close()
		return n
	}
	n.events, n.failures = w.Events, w.Errors
	n.close = func() { _ = w.Close() }
	if info, err := os.Lstat(s.file.Path); atomicfile.NotifiesChanges(dir) && (err != nil || info.Mode().IsRegular()) { // a symbolic link would change in another folder
		n.every = slowPollFactor * s.opts.Poll
	}
	return n
}
