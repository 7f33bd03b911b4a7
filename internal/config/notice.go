package config

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/fsnotify/fsnotify"

	"collie/internal/atomicfile"
)

// run reads when the files have changed and are quiet, until ctx ends.
func (r *reader) run(ctx context.Context, w *WatchOptions) {
	n := newNotices(w)
	defer n.close()
	n.follow(r.files())
	if r.seen.update(r.files()) { // since they were read; what changes from here on is seen
		r.readAndFollow(n)
	}
	poll := time.NewTicker(n.every(w.Poll))
	defer poll.Stop()
	quiet := time.NewTimer(w.Debounce)
	quiet.Stop()
	defer quiet.Stop()
	var since time.Time // of the first change that was not read; zero if there is none
	for {
		select {
		case <-ctx.Done():
			return
		case <-poll.C:
		case _, ok := <-n.events():
			if !ok {
				n.close() // the system gave up; polling goes on
				poll.Reset(n.every(w.Poll))
				continue
			}
		case err := <-n.errors():
			w.Logger.Debug("notices of file changes", "error", err)
		case <-quiet.C:
			since = time.Time{}
			r.readAndFollow(n)
			poll.Reset(n.every(w.Poll))
		case done := <-w.Now:
			r.readAndFollow(n)
			poll.Reset(n.every(w.Poll))
			done()
		}
		if !r.seen.update(r.files()) {
			continue
		}
		if since.IsZero() {
			since = time.Now()
		}
		if time.Since(since) < 10*w.Debounce {
			quiet.Reset(w.Debounce)
		}
	}
}

// readAndFollow reads, and follows the files that count now. With new ones among them it reads once more: they may have changed
// before they were followed.
func (r *reader) readAndFollow(n *notices) {
	for more := true; more; {
		r.read()
		files := r.files()
		n.follow(files)
		more = r.seen.meet(files)
	}
}

// looks are how files looked last, by path; nil is one that does not exist.
type looks map[string]fs.FileInfo

// update looks again and reports whether anything has changed. A file that was never looked at
// counts as unchanged: it is read with those that name it.
func (l looks) update(files []string) (changed bool) {
	for _, file := range files {
		info, err := os.Stat(file)
		if err != nil {
			info = nil
		}
		old, known := l[file]
		changed = changed || known && !sameLook(old, info)
		l[file] = info
	}
	return changed
}

// meet looks at files that were never looked at, and reports whether there are any.
func (l looks) meet(files []string) (some bool) {
	for _, file := range files {
		if _, known := l[file]; !known {
			l.update([]string{file})
			some = true
		}
	}
	return some
}

func sameLook(a, b fs.FileInfo) bool {
	if a == nil || b == nil {
		return a == nil && b == nil
	}
	return os.SameFile(a, b) && a.Size() == b.Size() && a.ModTime().Equal(b.ModTime())
}

// notices tell that something happened in the folders of files. Which file it was does not
// matter, since a link may hide it: a look at the files is cheap.
type notices struct {
	watcher *fsnotify.Watcher // nil if there is none
	folders map[string]bool   // those followed, and whether their changes are told
	all     bool              // nothing happens to the files that is not told
}

// seldom is how much longer files are left alone where all changes are told. Those of folders far above are not.
const seldom = 15

// every is how often files are looked at.
func (n *notices) every(poll time.Duration) time.Duration {
	if n.watcher != nil && n.all {
		return seldom * poll
	}
	return poll
}

func newNotices(w *WatchOptions) *notices {
	n := &notices{folders: map[string]bool{}}
	if w.PollOnly {
		return n
	}
	watcher, err := fsnotify.NewWatcher()
	if err != nil {
		w.Logger.Debug("no notices of file changes, files are looked at instead", "error", err)
		return n
	}
	n.watcher = watcher
	return n
}

// follow watches the folders of files and of what links lead to. One that does not exist is left
// to polling: what lies above it may be anybody's, and large.
func (n *notices) follow(files []string) {
	if n.watcher == nil {
		return
	}
	wanted := map[string]bool{}
	for _, file := range files {
		if abs, err := filepath.Abs(file); err == nil {
			wanted[filepath.Dir(abs)] = true
		}
		if real, err := filepath.EvalSymlinks(file); err == nil {
			wanted[filepath.Dir(real)] = true
		}
	}
	for dir := range n.folders {
		if !wanted[dir] {
			_ = n.watcher.Remove(dir) // it may be gone
			delete(n.folders, dir)
		}
	}
	n.all = true
	for dir := range wanted {
		// A folder that was removed and made again has to be added again, which does no harm to
		// one that was not.
		_, err := os.Stat(dir)
		n.folders[dir] = err == nil && n.watcher.Add(dir) == nil
		n.all = n.all && n.folders[dir] && atomicfile.Noticed(dir)
	}
}

func (n *notices) events() <-chan fsnotify.Event {
	if n.watcher == nil {
		return nil
	}
	return n.watcher.Events
}

func (n *notices) errors() <-chan error {
	if n.watcher == nil {
		return nil
	}
	return n.watcher.Errors
}

func (n *notices) close() {
	if n.watcher != nil {
		_ = n.watcher.Close() // nothing is lost
		n.watcher = nil
	}
}
