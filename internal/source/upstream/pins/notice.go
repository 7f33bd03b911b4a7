package pins

import (
	"os"
	"path/filepath"
	"time"

	"github.com/fsnotify/fsnotify"

	"collie/internal/atomicfile"
)

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
