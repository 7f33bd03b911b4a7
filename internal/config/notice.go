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

// This file notices changes of settings files, from the file system where it reports them and by looking again
// otherwise.

// run reads the files again whenever they have changed and are quiet, until ctx ends.
func (r *reader) run(ctx context.Context, w *WatchOptions) {
	n := newFolderWatcher(w)
	defer n.close()
	n.follow(r.files())
	if r.seen.update(r.files()) { // changed since they were read; n reports later changes
		r.readAndFollow(n)
	}
	poll := time.NewTicker(n.every(w.Poll))
	defer poll.Stop()
	quiet := time.NewTimer(w.Debounce)
	quiet.Stop()
	defer quiet.Stop()
	var since time.Time // time of the first change not read yet; zero if there is none
	for {
		select {
		case <-ctx.Done():
			return
		case <-poll.C:
		case _, ok := <-n.events():
			if !ok {
				n.close() // the system stopped sending notices; polling goes on
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

// readAndFollow reads the settings and follows the files that matter now. If some of those are new, it reads
// once more, because they may have changed before they were followed.
func (r *reader) readAndFollow(n *folderWatcher) {
	for more := true; more; {
		r.read()
		files := r.files()
		n.follow(files)
		more = r.seen.addFiles(files)
	}
}

// fileStates holds the last known state of files, by path; nil means that a file does not exist.
type fileStates map[string]fs.FileInfo

// update looks at the files again and reports whether any has changed. A file seen for the first time does
// not count as changed: it is read together with the file that names it.
func (l fileStates) update(files []string) (changed bool) {
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

// addFiles looks at files not seen before and reports whether there were any.
func (l fileStates) addFiles(files []string) (some bool) {
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

// folderWatcher reports that something happened in the folders of files. It does not say which file, since a
// symbolic link may hide that; looking at the files is cheap.
type folderWatcher struct {
	watcher *fsnotify.Watcher // nil if there is none
	folders map[string]bool   // the folders that files need; the value says whether the system watches the folder
	all     bool              // the system watches all of them, and reports every change in them
}

// slowPollFactor is the factor by which polling is slower if all changes are reported. Polling is still needed,
// because changes to folders further up are not reported.
const slowPollFactor = 15

// every returns how often to look at the files.
func (n *folderWatcher) every(poll time.Duration) time.Duration {
	if n.watcher != nil && n.all {
		return slowPollFactor * poll
	}
	return poll
}

// newFolderWatcher returns a watcher that follows no folder yet. Without notices of the system, all is left to polling.
func newFolderWatcher(w *WatchOptions) *folderWatcher {
	n := &folderWatcher{folders: map[string]bool{}}
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

// follow watches the folders of files and of the targets of links. It leaves a missing folder to polling,
// rather than watch a folder above it that may be large and belong to others.
func (n *folderWatcher) follow(files []string) {
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
			_ = n.watcher.Remove(dir) // the folder may be gone, so the error does not matter
			delete(n.folders, dir)
		}
	}
	n.all = true
	for dir := range wanted {
		// A folder that was deleted and created again has to be added again. Adding a folder twice is
		// harmless.
		_, err := os.Stat(dir)
		n.folders[dir] = err == nil && n.watcher.Add(dir) == nil
		n.all = n.all && n.folders[dir] && atomicfile.NotifiesChanges(dir)
	}
}

func (n *folderWatcher) events() <-chan fsnotify.Event {
	if n.watcher == nil {
		return nil
	}
	return n.watcher.Events
}

func (n *folderWatcher) errors() <-chan error {
	if n.watcher == nil {
		return nil
	}
	return n.watcher.Errors
}

// close stops the notices of the system. Polling is not affected.
func (n *folderWatcher) close() {
	if n.watcher != nil {
		_ = n.watcher.Close() // nothing is lost, so the error does not matter
		n.watcher = nil
	}
}
