// Package event delivers events between parts of one process. It knows none of our types and stores nothing:
// an event without subscribers is lost. Each publisher documents what it publishes. The entry point is [Bus].
package event

import (
	"slices"
	"sync"
	"sync/atomic"
)

// Bus carries events of one type from its publishers to all its subscribers. The zero value
// is ready; a Bus must not be copied, starts no goroutine and needs no Close. All methods
// are safe for concurrent use.
type Bus[T any] struct {
	// subs is replaced as a whole, so that Publish needs no lock. It is nil while there is no subscriber.
	subs atomic.Pointer[[]*Subscription[T]]
	mu   sync.Mutex // held while subs is replaced
}

// Publish hands v to every subscriber and never waits for one: a subscriber whose queue is
// full loses its oldest event. Without subscribers it costs one atomic load.
func (b *Bus[T]) Publish(v T) {
	subs := b.subs.Load()
	if subs == nil {
		return
	}
	shared := v // escapes to the heap, so it is made only if somebody subscribes
	for _, s := range *subs {
		if s.wants == nil || s.wants(&shared) {
			s.put(&shared)
		}
	}
}

// Watched reports whether there is a subscriber, for publishers whose events are expensive to make.
func (b *Bus[T]) Watched() bool { return b.subs.Load() != nil }

// Subscribe returns a Subscription to all events published from now on. buffer is the length of its queue, at
// least 1. The caller closes it.
func (b *Bus[T]) Subscribe(buffer int) *Subscription[T] { return b.SubscribeTo(buffer, nil) }

// SubscribeTo is like Subscribe for the events for which wants returns true. Publishers call wants, so that a
// subscriber is not woken for other events; it must be quick and safe for concurrent use.
func (b *Bus[T]) SubscribeTo(buffer int, wants func(*T) bool) *Subscription[T] {
	s := &Subscription[T]{bus: b, wants: wants, c: make(chan *T, max(buffer, 1))}
	b.replace(func(subs []*Subscription[T]) []*Subscription[T] { return append(subs, s) })
	return s
}

func (b *Bus[T]) replace(edit func([]*Subscription[T]) []*Subscription[T]) {
	b.mu.Lock()
	defer b.mu.Unlock()
	var subs []*Subscription[T]
	if old := b.subs.Load(); old != nil {
		subs = slices.Clone(*old)
	}
	if subs = edit(subs); len(subs) == 0 {
		b.subs.Store(nil)
		return
	}
	b.subs.Store(&subs)
}

// Subscription is one subscriber's queue. All methods are safe for concurrent use.
type Subscription[T any] struct {
	bus     *Bus[T]
	wants   func(*T) bool // nil for all
	dropped atomic.Uint64

	mu     sync.Mutex
	closed bool
	c      chan *T // sent to and closed with mu held
}

// C delivers events in the order they were published. All subscribers receive the same pointer, so nobody may
// change the event. Close closes the channel; events still queued can be received after that.
func (s *Subscription[T]) C() <-chan *T { return s.c }

// Dropped counts the events this subscriber lost because its queue was full.
func (s *Subscription[T]) Dropped() uint64 { return s.dropped.Load() }

// Close ends the Subscription. Closing twice is harmless.
func (s *Subscription[T]) Close() {
	s.bus.replace(func(subs []*Subscription[T]) []*Subscription[T] {
		return slices.DeleteFunc(subs, func(o *Subscription[T]) bool { return o == s })
	})
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.closed {
		s.closed = true
		close(s.c)
	}
}

// put queues v and drops the oldest event if the queue is full. The loop ends because only the holder of mu
// sends.
func (s *Subscription[T]) put(v *T) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for !s.closed {
		select {
		case s.c <- v:
			return
		default:
		}
		select {
		case <-s.c:
			s.dropped.Add(1)
		default:
		}
	}
}
