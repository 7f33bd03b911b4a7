package secret

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/zalando/go-keyring"
)

// This file bounds how long a keyring may take to answer.

// errNoAnswer is in the chain of the error if a keyring did not answer in time. Usually it is locked and
// shows a prompt on a screen that nobody sees.
var errNoAnswer = errors.New("the keyring does not answer: unlock it, or choose the file instead")

// timedRing accesses a keyring one call at a time, and waits for each at most limit.
type timedRing struct {
	ring  keyring.Keyring
	limit time.Duration
	turn  *ringTurn
}

// ringTurn lets one caller at a time access the keyring. Copies of a timedRing share it.
type ringTurn struct {
	token   chan struct{} // holds a token while nobody accesses the keyring
	isStuck atomic.Bool   // a call timed out and has not returned yet
}

func newTurn() *ringTurn {
	t := &ringTurn{token: make(chan struct{}, 1)}
	t.token <- struct{}{}
	return t
}

// ringAnswer is the result of a call to a keyring.
type ringAnswer struct {
	text string
	err  error
}

// ask calls question with the keyring. If that takes too long, ask returns and the call goes on, because a
// call to a keyring cannot be interrupted.
func (p *timedRing) ask(ctx context.Context, question func(keyring.Keyring) (string, error)) (string, error) {
	if p.turn.isStuck.Load() {
		return "", errNoAnswer
	}
	timer := time.NewTimer(p.limit)
	defer timer.Stop()
	select {
	case <-p.turn.token:
	case <-timer.C:
		return "", errNoAnswer
	case <-ctx.Done():
		return "", context.Cause(ctx)
	}
	done := make(chan ringAnswer, 1)
	go func() { // ends when the keyring answers
		text, err := question(p.ring)
		done <- ringAnswer{text, err}
		p.turn.isStuck.Store(false)
		p.turn.token <- struct{}{}
	}()
	select {
	case a := <-done:
		return a.text, a.err
	case <-timer.C:
		p.turn.markStuck(done)
		return "", fmt.Errorf("%w (waited %v)", errNoAnswer, p.limit)
	case <-ctx.Done():
		p.turn.markStuck(done)
		return "", context.Cause(ctx)
	}
}

// markStuck makes further calls fail at once, until the abandoned call has returned.
func (t *ringTurn) markStuck(done <-chan ringAnswer) {
	t.isStuck.Store(true)
	select {
	case <-done: // it returned just now and may already have cleared the state
		t.isStuck.Store(false)
	default:
	}
}

// systemKeyring is the keyring of the operating system.
type systemKeyring struct{}

// Get is [keyring.Get].
func (systemKeyring) Get(service, user string) (string, error) { return keyring.Get(service, user) }

// Set is [keyring.Set].
func (systemKeyring) Set(service, user, password string) error {
	return keyring.Set(service, user, password)
}

// Delete is [keyring.Delete].
func (systemKeyring) Delete(service, user string) error { return keyring.Delete(service, user) }

// DeleteAll is [keyring.DeleteAll].
func (systemKeyring) DeleteAll(service string) error { return keyring.DeleteAll(service) }
