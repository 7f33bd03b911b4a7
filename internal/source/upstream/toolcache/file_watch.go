package toolcache

import (
	"context"
	"path/filepath"
	"time"

	"github.com/fsnotify/fsnotify"

	"collie/internal/atomicfile"
)

// This file notices when somebody else changes the cache file.

// watchPoll is the polling interval, for changes that the system does not report, as on network drives; watchQuiet
// lets a writer finish.
const (
	watchPoll   = 1500 * time.Millisecond
	watchSeldom = 30 * time.Second // if the system reports all changes
	watchQuiet  = 50 * time.Millisecond
)

// Watch calls tell after each change of the file by somebody else: another process, or a person who edits or deletes
// it.
func (f *file) Watch(ctx context.Context, tell func()) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(f.closed, cancel)()
	n, err := withTimeout(ctx, f, f.limit, "watch", func() (folderNotices, error) {
		return f.watchFolder(ctx), nil
	})
	if err != nil {
		return err
	}
	poll := time.NewTicker(n.every)
	defer poll.Stop()
	quiet := time.NewTimer(0)
	defer quiet.Stop()
	var reported stamp
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case e, ok := <-n.events:
			if !ok { // the system stopped reporting
				n.events = nil
				poll.Reset(watchPoll)
			} else if filepath.Base(e.Name) == n.base {
				quiet.Reset(watchQuiet)
			}
			continue
		case _, ok := <-n.failures: // an overflow, for example: reports were lost
			if !ok {
				n.failures = nil
			}
		case <-poll.C:
		case <-quiet.C:
		}
		if now, foreign := f.checkForeign(ctx); foreign && !now.equal(reported) {
			reported = now
			tell()
		}
	}
}

// checkForeign returns the file's stamp, and whether it is a version that we did not read or write.
func (f *file) checkForeign(ctx context.Context) (now stamp, foreign bool) {
	type seen struct {
		stamp
		foreign bool
	}
	s, err := withTimeout(ctx, f, f.limit, "peek", func() (seen, error) {
		now, err := f.currentStamp()
		return seen{now, !now.equal(f.stamp)}, err
	})
	return s.stamp, s.foreign && err == nil
}

// folderNotices are the system's reports about the folder of the file base. If there are none, the channels are nil and
// only polling finds changes.
type folderNotices struct {
	base     string
	every    time.Duration // interval of polling
	events   <-chan fsnotify.Event
	failures <-chan error
}

// watchFolder asks the system for reports about the file's folder, until ctx ends, unless the options want polling only.
func (f *file) watchFolder(ctx context.Context) folderNotices {
	n := folderNotices{base: filepath.Base(f.target), every: watchPoll}
	if f.opts.PollOnly {
		return n
	}
	w, err := fsnotify.NewWatcher()
	if err != nil {
		return n
	}
	if err := w.Add(filepath.Dir(f.target)); err != nil {
		_ = w.Close()
		return n
	}
	context.AfterFunc(ctx, func() { _ = w.Close() })
	n.events, n.failures = w.Events, w.Errors
	if f.target == f.path && atomicfile.NotifiesChanges(filepath.Dir(f.target)) { // the target of a link could change in another folder
		n.every = watchSeldom
	}
	return n
}
