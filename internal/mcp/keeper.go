package mcp

import (
	"container/list"
	"sync"
	"sync/atomic"
)

// defaultKept bounds the streams kept for clients that may come back, in bytes.
const defaultKept = 64 << 20

// replayBudget bounds the bytes of the answers that all sessions together keep, so that a client that lost its
// connection can come back for them (2025-11-25, Resumability). Streams that are being read count but are
// never dropped. Of the others, those that were written to their end go first, then those that have not been
// read for the longest time. A nil keeper does nothing.
type keeper struct {
	max  int64
	held atomic.Int64

	mu    sync.Mutex
	whole list.List // *events that nobody reads and that were written to their end
	part  list.List // other *events that nobody reads
	place map[*events]*list.Element
}

func newKeeper(limit int64) *keeper {
	return &keeper{max: limit, place: map[*events]*list.Element{}}
}

// grow records that a stream holds n more bytes.
func (k *keeper) grow(n int) {
	if k != nil && n != 0 && k.held.Add(int64(n)) > k.max && n > 0 {
		k.evict()
	}
}

// put adds a stream whose reader has left. whole says that it was written to its end.
func (k *keeper) put(s *events, whole bool) {
	if k == nil {
		return
	}
	k.mu.Lock()
	if k.place[s] == nil {
		if whole {
			k.place[s] = k.whole.PushBack(s)
		} else {
			k.place[s] = k.part.PushBack(s)
		}
	}
	k.mu.Unlock()
	if k.held.Load() > k.max {
		k.evict()
	}
}

// lend takes a stream out because a client is reading it.
func (k *keeper) take(s *events) {
	if k == nil {
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.remove(s)
}

func (k *keeper) remove(s *events) {
	if at := k.place[s]; at != nil {
		k.whole.Remove(at) // the element is in one of the two lists; removing it from the other does nothing
		k.part.Remove(at)
		delete(k.place, s)
	}
}

// forget removes a stream that its session no longer keeps.
func (k *keeper) forget(s *events) {
	if k == nil {
		return
	}
	k.mu.Lock()
	k.remove(s)
	k.mu.Unlock()
	n, _ := s.drop(true)
	k.held.Add(-int64(n))
}

// evict drops streams until the total is within the limit or all others are being read.
func (k *keeper) evict() {
	for k.held.Load() > k.max {
		k.mu.Lock()
		at := k.whole.Front()
		if at == nil {
			at = k.part.Front()
		}
		if at == nil {
			k.mu.Unlock()
			return
		}
		s := at.Value.(*events) //nolint:forcetypeassert // the lists hold nothing else
		k.remove(s)
		k.mu.Unlock()
		if n, ok := s.drop(false); ok {
			k.held.Add(-int64(n))
			s.by.forgetStream(s)
		}
	}
}
