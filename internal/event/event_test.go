package event_test

import (
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"collie/internal/event"
)

// drain closes s and returns the events that were still queued.
func drain(s *event.Subscription[int]) []int {
	s.Close()
	var got []int
	for v := range s.C() {
		got = append(got, *v)
	}
	return got
}

// A subscriber gets what is published between its Subscribe and its Close.
func TestSubscribersReceiveInOrder(t *testing.T) {
	t.Parallel()
	var bus event.Bus[int]
	bus.Publish(0) // nobody hears it
	a, b := bus.Subscribe(8), bus.Subscribe(8)
	bus.Publish(1)
	b.Close()
	bus.Publish(2)
	if diff := cmp.Diff([]int{1, 2}, drain(a)); diff != "" {
		t.Errorf("first subscriber (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]int{1}, drain(b)); diff != "" {
		t.Errorf("second subscriber (-want +got):\n%s", diff)
	}
	if bus.Watched() {
		t.Error("Watched() = true after all have closed")
	}
}

func TestSubscriberPicks(t *testing.T) {
	t.Parallel()
	var bus event.Bus[int]
	even := bus.SubscribeTo(8, func(n *int) bool { return *n%2 == 0 })
	for n := range 6 {
		bus.Publish(n)
	}
	if diff := cmp.Diff([]int{0, 2, 4}, drain(even)); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
}

// A full queue loses its oldest events and counts them, for its own subscriber only.
func TestFullQueueLosesTheOldest(t *testing.T) {
	t.Parallel()
	var bus event.Bus[int]
	slow, fast := bus.Subscribe(3), bus.Subscribe(10)
	for i := range 10 {
		bus.Publish(i)
	}
	if diff := cmp.Diff([]int{7, 8, 9}, drain(slow)); diff != "" {
		t.Errorf("queue (-want +got):\n%s", diff)
	}
	if got := slow.Dropped(); got != 7 {
		t.Errorf("Dropped() = %d, want 7", got)
	}
	if got := fast.Dropped(); got != 0 {
		t.Errorf("another subscriber's Dropped() = %d, want 0", got)
	}
}

func TestQueueHoldsAtLeastOne(t *testing.T) {
	t.Parallel()
	var bus event.Bus[int]
	s := bus.Subscribe(-1)
	bus.Publish(1)
	bus.Publish(2)
	if diff := cmp.Diff([]int{2}, drain(s)); diff != "" {
		t.Errorf("queue (-want +got):\n%s", diff)
	}
}

func TestCloseTwice(t *testing.T) {
	t.Parallel()
	var bus event.Bus[int]
	s := bus.Subscribe(1)
	s.Close()
	s.Close()
	bus.Publish(1)
	if v, open := <-s.C(); open {
		t.Errorf("received %d after Close", *v)
	}
}

// Under concurrent use each event is either received or counted as dropped.
func TestConcurrentUseLosesNothingUncounted(t *testing.T) {
	t.Parallel()
	var bus event.Bus[int]
	const publishers, each = 8, 500
	s := bus.Subscribe(16)
	received := make(chan int)
	go func() {
		n := 0
		for range s.C() {
			n++
		}
		received <- n
	}()
	var wg sync.WaitGroup
	for range publishers {
		wg.Go(func() {
			for i := range each {
				bus.Publish(i)
			}
		})
		wg.Go(func() {
			for range each {
				bus.Subscribe(1).Close()
			}
		})
	}
	wg.Wait()
	s.Close()
	if got := <-received + int(s.Dropped()); got != publishers*each {
		t.Errorf("received and dropped %d events, want %d", got, publishers*each)
	}
}

// Not parallel: it counts allocations.
func TestPublishWithoutSubscribersAllocatesNothing(t *testing.T) {
	var bus event.Bus[[4]string]
	if n := testing.AllocsPerRun(100, func() { bus.Publish([4]string{"a"}) }); n != 0 {
		t.Errorf("Publish allocates %v times, want 0", n)
	}
}

func BenchmarkPublish(b *testing.B) {
	b.Run("nobody", func(b *testing.B) {
		var bus event.Bus[int]
		for b.Loop() {
			bus.Publish(1)
		}
	})
	b.Run("full queue", func(b *testing.B) {
		var bus event.Bus[int]
		defer bus.Subscribe(64).Close()
		for b.Loop() {
			bus.Publish(1)
		}
	})
}
