package admin

import (
	"context"
	"time"

	"collie/internal/source/upstream/signin"
	"collie/internal/tool"
)

// This file lets a page sign in at a server.

// signInTimeout is the limit for a sign-in; a person has five minutes of it.
const signInTimeout = 6 * time.Minute

// signingIn is a sign-in that is in progress or has ended.
type signingIn struct {
	cancel  context.CancelFunc
	answers chan string   // URLs that a person pasted
	ended   chan struct{} // closed at the end
	address string
	err     error // valid after ended is closed
}

// SigningIn is the state of a sign-in.
type SigningIn struct {
	// State is waiting, done, failed or none.
	State string `json:"state"`
	// Address is the URL at which the person signs in; empty if no person is needed.
	Address string `json:"address,omitempty"`
	Problem string `json:"problem,omitempty"` // why it failed
}

// SignIn begins a sign-in at a server, which replaces one in progress, and returns the URL for the person. The browser
// is redirected to 127.0.0.1. If it cannot reach that, the person passes the URL to [Editor.Answer].
func (e *Editor) SignIn(_ context.Context, name string) (SigningIn, error) {
	ctx, cancel := context.WithTimeout(context.Background(), signInTimeout) // it outlives the request
	s := &signingIn{cancel: cancel, answers: make(chan string), ended: make(chan struct{})}
	e.mu.Lock()
	for before := e.signing[name]; before != nil && !before.isOver(); before = e.signing[name] { // another may have begun meanwhile
		before.cancel()
		e.mu.Unlock()
		<-before.ended // then its port is free
		e.mu.Lock()
	}
	e.signing[name] = s
	e.mu.Unlock()
	shown := make(chan string, 1)
	go func() {
		defer cancel()
		defer close(s.ended)
		s.err = SignIn(ctx, e.opts.Config(), e.opts.Env, name, SignInOptions{LoginOptions: signin.LoginOptions{
			ShowURL: func(address string, _ bool) { shown <- address },
			Answer:  s.answer,
		}})
		if s.err != nil {
			return
		}
		if s.err = e.opts.Changed(ctx, "mcp auth", map[string]any{"server": name}); s.err == nil {
			_, s.err = e.opts.Restart(ctx, name)
		}
	}()
	select {
	case address := <-shown:
		e.mu.Lock()
		s.address = address
		e.mu.Unlock()
		return SigningIn{State: "waiting", Address: address}, nil
	case <-s.ended:
		return e.Signing(name), s.err
	}
}

func (s *signingIn) isOver() bool {
	select {
	case <-s.ended:
		return true
	default:
		return false
	}
}

// answer waits for the URL that a person pastes.
func (s *signingIn) answer(ctx context.Context, _ string) (string, error) {
	select {
	case text := <-s.answers:
		return text, nil
	case <-ctx.Done():
		return "", context.Cause(ctx)
	}
}

// Signing returns the state of the last sign-in at a server.
func (e *Editor) Signing(name string) SigningIn {
	e.mu.Lock()
	defer e.mu.Unlock()
	s := e.signing[name]
	if s == nil {
		return SigningIn{State: "none"}
	}
	switch {
	case !s.isOver():
		return SigningIn{State: "waiting", Address: s.address}
	case s.err != nil:
		return SigningIn{State: "failed", Problem: s.err.Error()}
	}
	return SigningIn{State: "done"}
}

// Answer passes the URL to which the browser was redirected to a sign-in in progress.
func (e *Editor) Answer(ctx context.Context, name, text string) error {
	e.mu.Lock()
	s := e.signing[name]
	e.mu.Unlock()
	if s != nil {
		select {
		case s.answers <- text:
			return nil
		case <-s.ended:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	return &tool.Error{Op: "mcp auth", Kind: tool.NotFound, Subject: name, Message: "no sign-in is waiting", Hint: "begin one"}
}

// SignOut revokes and deletes the tokens of a server. revoked is false if the server could not be reached.
func (e *Editor) SignOut(ctx context.Context, name string) (revoked bool, err error) {
	revoked, err = SignOut(ctx, e.opts.Config(), e.opts.Env, name, SignInOptions{})
	if err == nil {
		err = e.opts.Changed(ctx, "mcp logout", map[string]any{"server": name, "revoked": revoked})
	}
	return revoked, err
}
