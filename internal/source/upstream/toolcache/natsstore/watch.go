package natsstore

import (
	"context"
	"errors"
	"os"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

// Pauses between two attempts to watch after the connection was lost.
const (
	firstPause = 250 * time.Millisecond
	lastPause  = 5 * time.Second
)

// answerLag is how long a notice waits for the answer of a commit that may have caused it.
const answerLag = time.Second

// Watch is told of manifests by the server and is silent about commits of this Store. It
// returns an error if it cannot begin; a connection that is lost later is waited for, and what
// happened meanwhile is told.
func (s *Store) Watch(ctx context.Context, f func()) error {
	const op = "watch shared tool cache"
	ctx, leave, err := s.enter(ctx, op)
	if err != nil {
		return err
	}
	defer leave()
	told := s.seen.Load()
	tell := func(revision uint64) {
		if revision != told && !s.own.Covers(ctx, told, revision, answerLag) {
			f()
		}
		told = revision
	}
	for began, pauses := false, firstPause; ; began = true {
		heard, err := s.listen(ctx, tell)
		switch cause := context.Cause(ctx); {
		case errors.Is(cause, os.ErrClosed):
			return closedError(op)
		case cause != nil:
			return cause
		case !began && !heard:
			return s.explain(ctx, op, err)
		case heard:
			pauses = firstPause
		default:
			pauses = min(2*pauses, lastPause)
		}
		_ = pause(ctx, pauses) // whether ctx has ended is asked above
	}
}

// errReconnected ends a watch: what it missed is in the first notice of the next one.
var errReconnected = errors.New("the connection was made again")

// listen watches until that fails or the connection is another one; heard means that it began.
func (s *Store) listen(ctx context.Context, tell func(revision uint64)) (heard bool, err error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	s.mu.Lock()
	back := s.connected
	s.mu.Unlock()
	b, err := s.bucket(ctx)
	if err != nil {
		return false, err
	}
	w, err := b.kv.Watch(ctx, manifestKey)
	if err != nil {
		s.forget(b)
		return false, err
	}
	defer func() { _ = w.Stop() }()
	var newest uint64
	for {
		select {
		case e, ok := <-w.Updates():
			switch {
			case !ok:
				return heard, errors.New("the server ended the watch")
			case e == nil && newest == 0:
				tell(0) // there is none
			case e == nil:
			case e.Operation() != jetstream.KeyValuePut:
				newest = e.Revision()
				tell(0)
			default:
				newest = e.Revision()
				tell(newest)
			}
			heard = true
		case <-back:
			s.forget(b) // the server may be an empty one
			return heard, errReconnected
		case <-ctx.Done():
			return heard, context.Cause(ctx)
		}
	}
}
