package access

import (
	"context"
	"sync"
	"time"

	"collie/internal/tool"
)

// This file shares one reading of a file among callers that ask at about the same time.

// sharedReading shares one reading among many callers. One caller reads at a time; those who wait get its result, errors
// included. Later callers get it while it is fresh, unless it is an error. Make it with newSharedReading.
type sharedReading[T any] struct {
	readToken chan struct{} // holds a token while nobody reads

	mu                sync.Mutex
	started, finished uint64        // numbers of the last reading begun and the last ended
	inProgress        chan struct{} // closed when the current reading ends; nil if there is none
	epoch             uint64        // incremented by invalidate
	last              outcome[T]
}

// outcome is the result of a reading. Number 0 means that there is none.
type outcome[T any] struct {
	value  T
	err    error
	number uint64
	epoch  uint64
	at     time.Time // when the reading began
}

func newSharedReading[T any]() *sharedReading[T] {
	l := &sharedReading[T]{readToken: make(chan struct{}, 1)}
	l.readToken <- struct{}{}
	return l
}

// get returns the result of read, or an earlier result that is younger than maxAge. With anew it returns only a
// result whose reading began after this call.
//
// If the caller that reads gives up, its canceled reading is not shared: the next caller in line reads.
func (l *sharedReading[T]) get(
	ctx context.Context, maxAge time.Duration, anew bool, read func(context.Context) (T, error),
) (T, error) {
	o, floor, ok := l.freshOutcome(maxAge, anew)
	for !ok {
		l.mu.Lock()
		ended := l.inProgress
		l.mu.Unlock()
		select {
		case <-l.readToken:
			defer func() { l.readToken <- struct{}{} }()
			if o, ok = l.newerThan(floor); !ok {
				o, ok = l.readAndStore(ctx, read), true
			}
		case <-ended: // nil, and so never ready, while nobody reads
			o, ok = l.newerThan(floor)
		case <-ctx.Done():
			o.err, ok = &tool.Error{Op: "ask SiYuan", Kind: tool.Canceled, Err: context.Cause(ctx)}, true
		}
	}
	return o.value, o.err
}

// freshOutcome returns a fresh outcome. If there is none, floor is the number of the last reading that is too old for
// this caller.
func (l *sharedReading[T]) freshOutcome(maxAge time.Duration, anew bool) (o outcome[T], floor uint64, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if anew {
		return o, l.started, false
	}
	if o := l.last; o.number > 0 && o.err == nil && o.epoch == l.epoch && time.Since(o.at) < maxAge {
		return o, 0, true
	}
	return o, l.finished, false // a reading in progress will do
}

// validFor returns how long fresh will go on to return the current outcome with the same maxAge; 0 if it does not.
func (l *sharedReading[T]) validFor(maxAge time.Duration) time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	if o := l.last; o.number > 0 && o.err == nil && o.epoch == l.epoch {
		return max(0, maxAge-time.Since(o.at))
	}
	return 0
}

// newerThan returns the last outcome if its reading is later than floor.
func (l *sharedReading[T]) newerThan(floor uint64) (o outcome[T], ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.last.number > floor && l.last.epoch == l.epoch {
		return l.last, true
	}
	return o, false
}

// readAndStore reads and stores the outcome. The caller holds the readToken.
func (l *sharedReading[T]) readAndStore(ctx context.Context, read func(context.Context) (T, error)) outcome[T] {
	l.mu.Lock()
	l.started++
	o := outcome[T]{number: l.started, epoch: l.epoch, at: time.Now()}
	l.inProgress = make(chan struct{})
	l.mu.Unlock()

	o.value, o.err = read(ctx)

	l.mu.Lock()
	defer l.mu.Unlock()
	l.finished = o.number
	close(l.inProgress)
	l.inProgress = nil
	if o.err == nil || ctx.Err() == nil {
		l.last = o
	}
	return o
}

// invalidate makes all readings that have begun so far too old for later callers.
func (l *sharedReading[T]) invalidate() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.epoch++
}
