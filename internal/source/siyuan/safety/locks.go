package safety

import (
	"context"
	"fmt"
	"hash/fnv"
	"path/filepath"
	"slices"
	"sync"

	"collie/internal/atomicfile"
	"collie/internal/source/siyuan/action"
	"collie/internal/source/siyuan/kernel"
)

// lockCount is the number of locks. Each document uses the one that a hash of its id selects.
const lockCount = 64

// locks serialize writes to the same document, within this process and among all processes that share the folder.
type locks struct {
	dir   string
	local [lockCount]chan struct{}
	once  sync.Once
}

// lock waits until nobody else writes to the documents of r's targets, or to the workspace if r has no targets. If
// waited is true, the documents may have changed in the meantime.
func (l *locks) lock(ctx context.Context, r *action.Request) (unlock func(), waited bool, err error) {
	l.once.Do(func() {
		for i := range l.local {
			l.local[i] = make(chan struct{}, 1)
		}
	})
	var held []func()
	release := func() {
		for _, f := range slices.Backward(held) {
			f()
		}
	}
	for _, n := range lockIndexes(r) { // in rising order, so that two writes never wait for each other
		select {
		case l.local[n] <- struct{}{}:
		default:
			waited = true
			select {
			case l.local[n] <- struct{}{}:
			case <-ctx.Done():
				release()
				return nil, waited, context.Cause(ctx)
			}
		}
		held = append(held, func() { <-l.local[n] })
		path := filepath.Join(l.dir, "locks", fmt.Sprintf("%02d.lock", n))
		unlock, free, err := atomicfile.TryLock(path)
		if err == nil && !free {
			waited = true
			unlock, err = atomicfile.Lock(ctx, path)
		}
		if err != nil {
			release()
			return nil, waited, err
		}
		held = append(held, unlock)
	}
	return release, waited, nil
}

func lockIndexes(r *action.Request) []int {
	var keys []kernel.ID
	for _, t := range r.WritableTargets() {
		switch {
		case t.Root != "":
			keys = append(keys, t.Root)
		case t.ID != "":
			keys = append(keys, t.ID)
		default:
			keys = append(keys, t.Notebook)
		}
	}
	if len(keys) == 0 {
		keys = append(keys, "")
	}
	var out []int
	for _, k := range keys {
		h := fnv.New32a()
		_, _ = h.Write([]byte(k)) // never fails
		if n := int(h.Sum32() % lockCount); !slices.Contains(out, n) {
			out = append(out, n)
		}
	}
	slices.Sort(out)
	return out
}
