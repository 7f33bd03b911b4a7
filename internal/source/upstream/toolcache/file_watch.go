package toolcache

import (
	"context"
	"path/filepath"
	"time"

	"github.com/fsnotify/fsnotify"
)

// watchPoll finds what the system does not tell, on network drives for example; settle lets a
// writer finish.
const (
	watchPoll   = 1500 * time.Millisecond
	watchSettle = 50 * time.Millisecond
)

// Watch calls tell after each change of the file that is not our own: by another process, by a
// person who edits or removes it.
func (f *File) Watch(ctx context.Context, tell func()) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(f.closed, cancel)()
	events, failures, stop := f.notify()
	defer stop()
	poll := time.NewTicker(watchPoll)
	defer poll.Stop()
	settle := time.NewTimer(0)
	defer settle.Stop()
	var told stamp
	base := filepath.Base(resolve(f.path))
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case e := <-events:
			if filepath.Base(e.Name) == base {
				settle.Reset(watchSettle)
			}
			continue
		case <-failures: //nolint:errcheck // an overflow, for example: polling finds what was lost
			continue
		case <-poll.C:
		case <-settle.C:
		}
		if now, foreign := f.peek(ctx); foreign && !now.equal(told) {
			told = now
			tell()
		}
	}
}

// peek takes the file's stamp and says whether it is another one than we know.
func (f *File) peek(ctx context.Context) (now stamp, foreign bool) {
	type seen struct {
		stamp
		foreign bool
	}
	s, err := within(ctx, f, f.opts.limit, func() (seen, error) {
		f.opts.before("peek")
		if f.target == "" {
			f.target = resolve(f.path)
		}
		now, err := f.look()
		return seen{now, !now.equal(f.stamp)}, err
	})
	return s.stamp, s.foreign && err == nil
}

// notify asks the system for events in the file's folder. Where that is not possible, polling
// has to do: the channels are nil.
func (f *File) notify() (events <-chan fsnotify.Event, failures <-chan error, stop func()) {
	w, err := fsnotify.NewWatcher()
	if err != nil {
		return nil, nil, func() {}
	}
	stop = func() { _ = w.Close() }
	if err := w.Add(filepath.Dir(resolve(f.path))); err != nil {
		stop()
		return nil, nil, func() {}
	}
	return w.Events, w.Errors, stop
}
