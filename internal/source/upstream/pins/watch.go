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

// Watch calls f with the name of each server whose pins or pending changes are not what they
// were, whoever changed them, until stop is called: at once for changes of this process,
// within [Options.Poll] for those of others. Calls are serial, from one goroutine, and none
// is made once stop or Close has returned; f may call the Store, but not stop or Close.
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
	if len(b.pins) > 0 { // else the file is read when run begins: Watch does not wait for it
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

// look tells f what has changed since the last look.
func (w *watcher) look() {
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

// copy is a copy of the maps of all pins.
func (b *book) copy() state {
	out := make(state, len(b.pins))
	for server, tools := range b.pins {
		out[server] = maps.Clone(tools)
	}
	return out
}

// seldom is how much longer the file is left alone where the system tells of each change.
const seldom = 15

// notices are what the system tells of the folder of the file. Where it tells nothing, polling has to do: the channels
// are nil.
type notices struct {
	base     string
	every    time.Duration // how often to look all the same
	events   <-chan fsnotify.Event
	failures <-chan error
	close    func()
}

// notify asks for notices. The folder is watched, not the file, in whose place each write puts another one.
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
	if info, err := os.Lstat(s.file.Path); atomicfile.Noticed(dir) && (err != nil || info.Mode().IsRegular()) { // else it may be a link
		n.every = seldom * s.opts.Poll
	}
	return n
}
