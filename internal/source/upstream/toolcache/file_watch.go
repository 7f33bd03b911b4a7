package toolcache

import (
	"context"
	"path/filepath"
	"time"

	"github.com/fsnotify/fsnotify"

	"collie/internal/atomicfile"
)

// watchPoll finds what the system does not tell, on network drives for example; watchQuiet lets a
// writer finish.
const (
	watchPoll   = 1500 * time.Millisecond
	watchSeldom = 30 * time.Second // where the system tells all
	watchQuiet  = 50 * time.Millisecond
)

// Watch calls tell after each change of the file that is not our own: by another process, by a
// person who edits or removes it.
func (f *file) Watch(ctx context.Context, tell func()) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(f.closed, cancel)()
	n, err := within(ctx, f, f.limit, "watch", func() (notices, error) {
		return f.notify(ctx), nil
	})
	if err != nil {
		return err
	}
	poll := time.NewTicker(n.every)
	defer poll.Stop()
	quiet := time.NewTimer(0)
	defer quiet.Stop()
	var told stamp
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case e, ok := <-n.events:
			if !ok { // the system gave up
				n.events = nil
				poll.Reset(watchPoll)
			} else if filepath.Base(e.Name) == n.base {
				quiet.Reset(watchQuiet)
			}
			continue
		case _, ok := <-n.failures: // an overflow, for example: something was lost
			if !ok {
				n.failures = nil
			}
		case <-poll.C:
		case <-quiet.C:
		}
		if now, foreign := f.peek(ctx); foreign && !now.equal(told) {
			told = now
			tell()
		}
	}
}

// peek takes the file's stamp and says whether it is another one than we know.
func (f *file) peek(ctx context.Context) (now stamp, foreign bool) {
	type seen struct {
		stamp
		foreign bool
	}
	s, err := within(ctx, f, f.limit, "peek", func() (seen, error) {
		now, err := f.look()
		return seen{now, !now.equal(f.stamp)}, err
	})
	return s.stamp, s.foreign && err == nil
}

// notices are what the system tells of the file that is called base. Where it tells nothing,
// polling has to do: the channels are nil.
type notices struct {
	base     string
	every    time.Duration // how often to look all the same
	events   <-chan fsnotify.Event
	failures <-chan error
}

// notify asks the system for events in the file's folder, until ctx ends.
func (f *file) notify(ctx context.Context) notices {
	n := notices{base: filepath.Base(f.target), every: watchPoll}
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
	if f.target == f.path && atomicfile.Noticed(filepath.Dir(f.target)) { // a link can be made to lead elsewhere
		n.every = watchSeldom
	}
	return n
}
