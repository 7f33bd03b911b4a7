package session

import (
	"cmp"
	"context"
	"sync"

	"golang.org/x/sync/semaphore"
)

// Starts bounds how many servers start at once. It is safe for concurrent use.
type Starts struct {
	all, runners *semaphore.Weighted
	packages     keyedTurns
}

// NewStarts returns Starts that let as many servers start at once as all says, and as many of those by package runners
// such as npx as runners says; 0 means 64 and 4.
func NewStarts(all, runners int64) *Starts {
	return &Starts{all: semaphore.NewWeighted(cmp.Or(max(0, all), 64)), runners: semaphore.NewWeighted(cmp.Or(max(0, runners), 4))}
}

// acquire waits for permission to start a server. release gives it back, and may be called more than once.
func (s *Starts) acquire(ctx context.Context, runner bool) (release func(), err error) {
	if err := s.all.Acquire(ctx, 1); err != nil {
		return nil, context.Cause(ctx)
	}
	if runner {
		if err := s.runners.Acquire(ctx, 1); err != nil {
			s.all.Release(1)
			return nil, context.Cause(ctx)
		}
	}
	return sync.OnceFunc(func() {
		s.all.Release(1)
		if runner {
			s.runners.Release(1)
		}
	}), nil
}

// keyedTurns lets one start of each package through at a time, since two downloads of one package into one cache disturb
// each other.
type keyedTurns struct {
	mu   sync.Mutex
	busy map[string]chan struct{}
}

// acquire waits for the turn of the package name; done passes it on. An empty name does not wait.
func (t *keyedTurns) acquire(ctx context.Context, name string) (done func(), err error) {
	if name == "" {
		return func() {}, nil
	}
	for {
		t.mu.Lock()
		wait := t.busy[name]
		if wait == nil {
			if t.busy == nil {
				t.busy = map[string]chan struct{}{}
			}
			mine := make(chan struct{})
			t.busy[name] = mine
			t.mu.Unlock()
			return func() {
				t.mu.Lock()
				delete(t.busy, name)
				t.mu.Unlock()
				close(mine)
			}, nil
		}
		t.mu.Unlock()
		select {
		case <-wait:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}
