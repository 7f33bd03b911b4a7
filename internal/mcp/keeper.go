package mcp

import (
	"container/list"
	"sync"
	"sync/atomic"
)

// This file bounds the memory for answers that are kept for clients that may come back.

// defaultKept bounds the streams kept for clients that may come back, in bytes.
const defaultKept = 64 << 20

// replayBudget bounds the bytes of the answers that all sessions together keep, so that a client that lost its
// connection can come back for them (2025-11-25, Resumability). Streams that are being read count but are
// never dropped. Of the others, those that were written to their end go first, then those that have not been
// read for the longest time. A nil replayBudget does nothing.
type replayBudget struct {
	max  int64
	held atomic.Int64

	mu         sync.Mutex
	complete   list.List // each a *eventStream without a reader that was written to its end
	incomplete list.List // the other streams without a reader
	place      map[*eventStream]*list.Element
}

func newReplayBudget(limit int64) *replayBudget {
	return &replayBudget{max: limit, place: map[*eventStream]*list.Element{}}
}

// grow records that a stream holds n more bytes.
func (k *replayBudget) grow(n int) {
	if k != nil && n != 0 && k.held.Add(int64(n)) > k.max && n > 0 {
		k.evict()
	}
}

// addUnread adds a stream whose reader has left. complete says that it was written to its end.
func (k *replayBudget) addUnread(s *eventStream, complete bool) {
	if k == nil {
		return
	}
	k.mu.Lock()
	if k.place[s] == nil {
		if complete {
			k.place[s] = k.complete.PushBack(s)
		} else {
			k.place[s] = k.incomplete.PushBack(s)
		}
	}
	k.mu.Unlock()
	if k.held.Load() > k.max {
		k.evict()
	}
}

// takeForReading takes a stream out because a client is reading it.
func (k *replayBudget) takeForReading(s *eventStream) {
	if k == nil {
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.remove(s)
}

func (k *replayBudget) remove(s *eventStream) {
	if at := k.place[s]; at != nil {
		k.complete.Remove(at) // the element is in one of the two lists; removing it from the other does nothing
		k.incomplete.Remove(at)
		delete(k.place, s)
	}
}

// forget removes a stream that its session no longer keeps.
func (k *replayBudget) forget(s *eventStream) {
	if k == nil {
		return
	}
	k.mu.Lock()
	k.remove(s)
	k.mu.Unlock()
	n, _ := s.dropKept(true)
	k.held.Add(-int64(n))
}

// evict drops streams until the total is within the limit or all others are being read.
func (k *replayBudget) evict() {
	for k.held.Load() > k.max {
		k.mu.Lock()
		at := k.complete.Front()
		if at == nil {
			at = k.incomplete.Front()
		}
		if at == nil {
			k.mu.Unlock()
			return
		}
		s := at.Value.(*eventStream) //nolint:forcetypeassert // the lists hold nothing else
		k.remove(s)
		k.mu.Unlock()
		if n, ok := s.dropKept(false); ok {
			k.held.Add(-int64(n))
			s.session.forgetStream(s)
		}
	}
}
