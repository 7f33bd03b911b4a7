package secret

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/zalando/go-keyring"
)

// errNoAnswer is in the chain of an error about a keyring that did not answer in time: it is
// locked, as a rule, and asks on a screen that nobody looks at.
var errNoAnswer = errors.New("the keyring does not answer: unlock it, or choose the file instead")

// timedRing asks a keyring one question at a time, and waits for each no longer than limit.
type timedRing struct {
	ring  keyring.Keyring
	limit time.Duration
	turn  *turn
}

type turn struct {
	free  chan struct{} // holds a token while nobody asks
	stuck atomic.Bool   // a question was given up and is not answered yet
}

func newTurn() *turn {
	t := &turn{free: make(chan struct{}, 1)}
	t.free <- struct{}{}
	return t
}

// answer is what a keyring says.
type answer struct {
	text string
	err  error
}

// ask calls question with the keyring. A question that takes too long is left to itself: no
// keyring can be told to stop.
func (p *timedRing) ask(ctx context.Context, question func(keyring.Keyring) (string, error)) (string, error) {
	if p.turn.stuck.Load() {
		return "", errNoAnswer
	}
	timer := time.NewTimer(p.limit)
	defer timer.Stop()
	select {
	case <-p.turn.free:
	case <-timer.C:
		return "", errNoAnswer
	case <-ctx.Done():
		return "", context.Cause(ctx)
	}
	done := make(chan answer, 1)
	go func() { // ends with the answer
		text, err := question(p.ring)
		done <- answer{text, err}
		p.turn.stuck.Store(false)
		p.turn.free <- struct{}{}
	}()
	select {
	case a := <-done:
		return a.text, a.err
	case <-timer.C:
		p.turn.givenUp(done)
		return "", fmt.Errorf("%w (waited %v)", errNoAnswer, p.limit)
	case <-ctx.Done():
		p.turn.givenUp(done)
		return "", context.Cause(ctx)
	}
}

// givenUp makes the next questions fail at once, until the one that nobody waits for any more
// is answered.
func (t *turn) givenUp(done <-chan answer) {
	t.stuck.Store(true)
	select {
	case <-done: // it was answered just now, and may have said so before us
		t.stuck.Store(false)
	default:
	}
}

// system is the keyring of the operating system.
type system struct{}

// Get is [keyring.Get].
func (system) Get(service, user string) (string, error) { return keyring.Get(service, user) }

// Set is [keyring.Set].
func (system) Set(service, user, password string) error { return keyring.Set(service, user, password) }

// Delete is [keyring.Delete].
func (system) Delete(service, user string) error { return keyring.Delete(service, user) }

// DeleteAll is [keyring.DeleteAll].
func (system) DeleteAll(service string) error { return keyring.DeleteAll(service) }
