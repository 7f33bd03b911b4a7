package access

import (
	"context"
	"sync"
	"time"

	"collie/internal/tool"
)

// latest shares what a reading brings: one caller reads at a time, those who wait for it take
// its outcome, errors included, and later ones take it while it is fresh. The zero value is not
// usable; see newLatest.
type latest[T any] struct {
	turn chan struct{} // holds a token while nobody reads

	mu           sync.Mutex
	begun, ended uint64        // number of the last reading that began, and of the last that ended
	ending       chan struct{} // closed when the reading that is under way ends; nil if none is
	epoch        uint64        // raised by forget
	last         outcome[T]
}

// outcome is what a reading brought. Number 0 stands for none.
type outcome[T any] struct {
	value  T
	err    error
	number uint64
	epoch  uint64
	at     time.Time // when it began
}

func newLatest[T any]() *latest[T] {
	l := &latest[T]{turn: make(chan struct{}, 1)}
	l.turn <- struct{}{}
	return l
}

// get returns what read brings, or what it brought less than maxAge ago. With anew the reading
// has begun after this call, and is shared only with those who waited for one as well.
//
// A reading that its caller gave up is nobody else's outcome: the next one in the line reads.
func (l *latest[T]) get(
	ctx context.Context, maxAge time.Duration, anew bool, read func(context.Context) (T, error),
) (T, error) {
	o, floor, ok := l.remembered(maxAge, anew)
	for !ok {
		l.mu.Lock()
		ended := l.ending
		l.mu.Unlock()
		select {
		case <-l.turn:
			defer func() { l.turn <- struct{}{} }()
			if o, ok = l.since(floor); !ok {
				o, ok = l.run(ctx, read), true
			}
		case <-ended: // nil while nobody reads
			o, ok = l.since(floor)
		case <-ctx.Done():
			o.err, ok = &tool.Error{Op: "ask SiYuan", Kind: tool.Canceled, Err: context.Cause(ctx)}, true
		}
	}
	return o.value, o.err
}

// remembered returns an outcome that is fresh, else the number of a reading that is too old for
// one who asks now.
func (l *latest[T]) remembered(maxAge time.Duration, anew bool) (o outcome[T], floor uint64, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if anew {
		return o, l.begun, false
	}
	if o := l.last; o.number > 0 && o.err == nil && o.epoch == l.epoch && time.Since(o.at) < maxAge {
		return o, 0, true
	}
	return o, l.ended, false // one that is under way will do
}

// left is for how long remembered returns what there is, with the same maxAge; 0 where it returns nothing.
func (l *latest[T]) left(maxAge time.Duration) time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	if o := l.last; o.number > 0 && o.err == nil && o.epoch == l.epoch {
		return max(0, maxAge-time.Since(o.at))
	}
	return 0
}

// since returns the last outcome if its reading is a later one than floor.
func (l *latest[T]) since(floor uint64) (o outcome[T], ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.last.number > floor && l.last.epoch == l.epoch {
		return l.last, true
	}
	return o, false
}

// run reads; the caller has the turn.
func (l *latest[T]) run(ctx context.Context, read func(context.Context) (T, error)) outcome[T] {
	l.mu.Lock()
	l.begun++
	o := outcome[T]{number: l.begun, epoch: l.epoch, at: time.Now()}
	l.ending = make(chan struct{})
	l.mu.Unlock()

	o.value, o.err = read(ctx)

	l.mu.Lock()
	defer l.mu.Unlock()
	l.ended = o.number
	close(l.ending)
	l.ending = nil
	if o.err == nil || ctx.Err() == nil {
		l.last = o
	}
	return o
}

// forget makes every reading that has begun so far too old for those who ask from now on.
func (l *latest[T]) forget() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.epoch++
}
