package atomicfile

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/gofrs/flock"
)

// lockPoll is how often Lock retries. It polls because a blocking lock call could not be cancelled.
const lockPoll = 10 * time.Millisecond

// Lock waits until the caller holds the lock at path, exclusively among all processes and goroutines, or
// until ctx ends. The lock file is created with mode 0600, missing folders with 0700, and is never removed.
// The kernel releases the lock of a process that dies. Lock a separate file, never one that [Write] replaces:
// the lock would stay on the old file.
//
// The caller calls unlock; calling it twice is harmless.
func Lock(ctx context.Context, path string) (unlock func(), err error) {
	if err := makeParent(path); err != nil {
		return nil, err
	}
	l := flock.New(path)
	if _, err := l.TryLockContext(ctx, lockPoll); err != nil {
		return nil, fmt.Errorf("lock %q: %w", path, err)
	}
	return unlocker(l), nil
}

// TryLock is like [Lock] without waiting: ok says whether the lock was free. When it was not,
// unlock is nil.
func TryLock(path string) (unlock func(), ok bool, err error) {
	if err := makeParent(path); err != nil {
		return nil, false, err
	}
	l := flock.New(path)
	ok, err = l.TryLock()
	if err != nil {
		return nil, false, fmt.Errorf("lock %q: %w", path, err)
	}
	if !ok {
		return nil, false, nil
	}
	return unlocker(l), true, nil
}

func unlocker(l *flock.Flock) func() {
	return sync.OnceFunc(func() { _ = l.Unlock() }) // closing the file unlocks in any case
}
