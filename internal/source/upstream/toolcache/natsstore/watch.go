package natsstore

import (
	"context"
	"errors"
	"os"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

// This file reports changes that other gateways make in the bucket.

// Pauses between attempts to watch after the connection was lost.
const (
	firstPause = 250 * time.Millisecond
	lastPause  = 5 * time.Second
)

// Watch calls f when the server reports changed entries. It fails if it cannot begin. If the connection is lost
// later, it waits for it and then calls f, since entries may have changed meanwhile.
func (s *Store) Watch(ctx context.Context, f func()) error {
	const op = "watch shared tool cache"
	ctx, leave, err := s.beginCall(ctx, op)
	if err != nil {
		return err
	}
	defer leave()
	for began, wait := false, firstPause; ; {
		heard, err := s.listen(ctx, f, began)
		switch cause := context.Cause(ctx); {
		case errors.Is(cause, os.ErrClosed):
			return closedError(op)
		case cause != nil:
			return cause
		case heard:
			began, wait = true, firstPause
		case !began:
			return s.explain(ctx, op, err)
		default:
			wait = min(2*wait, lastPause)
		}
		timer := time.NewTimer(wait)
		select {
		case <-timer.C:
		case <-ctx.Done(): // the next listen fails at once, and the switch returns the cause
		}
		timer.Stop()
	}
}

var errReconnected = errors.New("the connection was made again")

// listen watches until that fails or the connection is replaced. heard reports whether the watch was
// established.
func (s *Store) listen(ctx context.Context, f func(), again bool) (heard bool, err error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	s.mu.Lock()
	reconnected := s.connected
	s.mu.Unlock()
	b, err := s.bucket(ctx)
	if err != nil {
		return false, err
	}
	w, err := b.watch(ctx, jetstream.MetaOnly())
	if err != nil {
		s.forget(b)
		return false, err
	}
	defer s.stopWatch(w)
	if again {
		f()
	}
	for {
		select {
		case e, ok := <-w.Updates():
			switch {
			case !ok:
				return true, errEnded
			case e != nil && e.Revision() > b.known.version(e.Key()[len(listPrefix):]).revision:
				f()
			}
		case <-reconnected:
			return true, errReconnected
		case <-ctx.Done():
			return true, context.Cause(ctx)
		}
	}
}
