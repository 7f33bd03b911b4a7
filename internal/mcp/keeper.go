package mcp

import (
	"container/list"
	"sync"
	"sync/atomic"
)

// defaultKept bounds the streams kept for clients that may come back.
const defaultKept = 64 << 20

// keeper bounds what all sessions together keep of answers, so that a client which lost its
// connection can come back for them (2025-11-25, Resumability). What is being read counts and is
// never dropped. Of the rest, streams that were written to their end go first, then those that
// nobody has read for the longest time. A nil keeper keeps no count.
type keeper struct {
	max  int64
	held atomic.Int64

	mu    sync.Mutex
	whole list.List // of *events that nobody reads and that were written to their end
	part  list.List // of other *events that nobody reads
	place map[*events]*list.Element
}

func newKeeper(limit int64) *keeper {
	return &keeper{max: limit, place: map[*events]*list.Element{}}
}

// grow notes that a stream holds n bytes more.
func (k *keeper) grow(n int) {
	if k != nil && n != 0 && k.held.Add(int64(n)) > k.max && n > 0 {
		k.evict()
	}
}

// put takes in a stream whose reader has left.
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

// lend gives a stream out to a reader.
func (k *keeper) lend(s *events) {
	if k == nil {
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.remove(s)
}

func (k *keeper) remove(s *events) {
	if at := k.place[s]; at != nil {
		k.whole.Remove(at) // it is of one of the two, and the other one does nothing
		k.part.Remove(at)
		delete(k.place, s)
	}
}

// forget is told of a stream that its session does not keep any more.
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

// evict drops streams until what is left is little enough, or all that is left is being read.
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
		s := at.Value.(*events) //nolint:forcetypeassert // there is nothing else in them
		k.remove(s)
		k.mu.Unlock()
		if n, ok := s.drop(false); ok {
			k.held.Add(-int64(n))
			s.by.unkeep(s)
		}
	}
}
