package client

import (
	"context"
	"errors"
	"iter"
	"time"

	"collie/internal/llm"
	"collie/internal/llm/keypool"
	"collie/internal/llm/transform"
)

// This file answers a request by trying keys and models in turn, until one begins to answer.

// Pauses before each further attempt.
var (
	transientWaits  = []time.Duration{500 * time.Millisecond, 2 * time.Second}
	overloadedWaits = []time.Duration{time.Second, 2 * time.Second, 4 * time.Second, 8 * time.Second}
)

// model is a model with its fallbacks.
type model struct {
	client  *Client
	targets []target
}

// Stream implements [llm.Model].
func (m *model) Stream(ctx context.Context, r *llm.Request) iter.Seq2[llm.Event, error] {
	return func(yield func(llm.Event, error) bool) {
		s := &stream{client: m.client, request: *r, yield: yield}
		var err *llm.Error
		for i := range m.targets {
			t := &m.targets[i]
			if i > 0 {
				s.retry(llm.Retry{Reason: err.Class, From: err.Key, Model: t.Name + "/" + t.model})
			}
			if err = s.askModel(ctx, t); err == nil || s.stopped || s.answerBegun || !otherModelMayHelp(err.Class) {
				break
			}
		}
		if err != nil && !s.stopped {
			yield(llm.Event{}, err)
		}
	}
}

// otherModelMayHelp reports whether a fallback model may succeed after a failure of class c.
func otherModelMayHelp(c llm.Class) bool {
	switch c {
	case llm.ClassCaller, llm.ClassContext, llm.ClassCanceled, llm.ClassUnknown:
		return false
	case llm.ClassRateLimit, llm.ClassOverloaded, llm.ClassQuota, llm.ClassCredential, llm.ClassPermission, llm.ClassModelAccess,
		llm.ClassTransient, llm.ClassRegion, llm.ClassNoTools, llm.ClassAllCooling, llm.ClassNoProvider:
	}
	return true
}

// stream is one answer in progress.
type stream struct {
	client  *Client
	request llm.Request
	yield   func(llm.Event, error) bool

	held        []llm.Event // events before the answer proper, which a retry can still discard
	notices     []llm.Event
	answerBegun bool // a part of the answer has been emitted, so no retry is possible
	stopped     bool // the consumer left the loop
	sent        int  // number of requests
}

func (s *stream) emit(e llm.Event) {
	if !s.stopped {
		s.stopped = !s.yield(e, nil)
	}
}

func (s *stream) retry(r llm.Retry) {
	r.Attempt = s.sent + 1
	s.emit(llm.Event{Kind: llm.EventRetry, Retry: r})
}

// askModel asks one model, with one key after the other, until it answers or fails for good.
func (s *stream) askModel(ctx context.Context, t *target) *llm.Error {
	pool := s.client.opts.Pool
	keyRequest := keypool.Request{Provider: t.Name, Model: t.model, Session: s.request.Session}
	a := &attempts{stream: s, target: t, waitLeft: s.client.opts.MaxWait}
	for {
		lease, err := pool.ResolveAPIKeyForRequest(ctx, &keyRequest)
		if err != nil {
			e := asError(err)
			if e.Class == llm.ClassAllCooling && e.RetryAfter <= a.waitLeft && keyRequest.Tried() < keypool.MaxKeys {
				a.waitLeft -= e.RetryAfter
				s.retry(llm.Retry{Wait: e.RetryAfter, Reason: e.Class, From: a.label})
				if s.stopped || !waitFor(ctx, e.RetryAfter) {
					return canceledError(ctx, t)
				}
				keyRequest.RetryKeys()
				continue
			}
			if a.last != nil && e.Class != llm.ClassAllCooling {
				return a.last
			}
			e.Err = errorOf(a.last)
			return e
		}
		if a.last != nil {
			s.retry(llm.Retry{Reason: a.last.Class, From: a.label, To: lease.Label})
		}
		a.label = lease.Label
		if e, final := a.tryKey(ctx, lease); final {
			return e
		}
	}
}

// errorOf returns e as an error, a nil interface for nil.
func errorOf(e *llm.Error) error {
	if e == nil {
		return nil
	}
	return e
}

// attempts is the state of asking one model.
type attempts struct {
	*stream
	target   *target
	label    string        // of the key that was tried last
	last     *llm.Error    // the last failure; nil before the first
	waitLeft time.Duration // of [Options.MaxWait]

	transient, overloaded, regions int // failures of these classes
}

// tryKey sends the request with one key, repeatedly if that may help. final is false if another key should be tried, and
// true if the request has succeeded (err is nil) or failed for good.
func (a *attempts) tryKey(ctx context.Context, l keypool.Lease) (err *llm.Error, final bool) {
	pool := a.client.opts.Pool
	for {
		if a.stopped || ctx.Err() != nil {
			pool.MarkKeyError(ctx, &l, &llm.Error{Class: llm.ClassCanceled})
			return canceledError(ctx, a.target), true
		}
		e := a.attempt(ctx, l)
		if e == nil {
			return nil, true
		}
		if a.stopped {
			e.Class = llm.ClassCanceled
		}
		next := pool.MarkKeyError(ctx, &l, e)
		switch {
		case a.answerBegun || a.stopped:
			return e, true
		case e.Class == llm.ClassNoTools && len(a.request.Tools) > 0:
			a.request.Tools = nil
			a.notices = append(a.notices, llm.Event{
				Kind: llm.EventNotice, Code: "model_without_tools", Text: "this model cannot call tools, so it answers without them",
			})
			continue
		}
		a.last = e
		var waits []time.Duration
		var count *int
		switch next {
		case keypool.Stop:
			return e, true
		case keypool.OtherKey:
			a.regions += oneIf(e.Class == llm.ClassRegion)
			return e, a.regions > 1 // two keys were refused for the region: it is that of this machine
		case keypool.SameKey:
			if e.Class == llm.ClassCredential { // the secret was replaced, and l holds the new one
				continue
			}
			waits, count = transientWaits, &a.transient
		case keypool.Overload:
			waits, count = overloadedWaits, &a.overloaded
		}
		if *count == len(waits) {
			return e, true
		}
		wait := max(waits[*count], min(e.RetryAfter, a.waitLeft))
		wait += time.Duration(a.client.opts.Jitter() * float64(wait) / 4) // up to a quarter more, so that clients do not return together
		*count++
		a.retry(llm.Retry{Wait: wait, Reason: e.Class, From: l.Label, To: l.Label})
		if !a.stopped && !waitFor(ctx, wait) {
			return canceledError(ctx, a.target), true
		}
	}
}

func oneIf(b bool) int {
	if b {
		return 1
	}
	return 0
}

// attempt sends the request once and emits the answer. It tells the pool about success, not about failure.
func (a *attempts) attempt(ctx context.Context, l keypool.Lease) (failed *llm.Error) {
	t, c := a.target, a.client
	h, err := t.headers(ctx)
	if err != nil {
		return asError(err)
	}
	draft, err := c.chains.Draft(transform.Options{Provider: t.Name, Kind: t.Kind, BaseURL: t.BaseURL, Model: t.metadata, ID: t.model}, &a.request)
	if err != nil {
		return asError(err)
	}
	a.sent++
	a.held = a.held[:0]
	begun := false
	var used llm.Usage
	defer func() {
		outcome := answered
		if failed != nil {
			outcome = string(failed.Class)
		}
		c.countRequest(t, outcome, used)
	}()
	for e, err := range c.wire.Stream(ctx, t.codec, endpoint(t.provider, l, h), draft) {
		if err != nil {
			return asError(err)
		}
		switch e.Kind {
		case llm.EventStart:
			e.Provider, e.Key = t.Name, l.Label
			if e.Model == "" {
				e.Model = t.model
			}
		case llm.EventUsage:
			used = e.Usage
		case llm.EventText, llm.EventReasoning, llm.EventToolStart, llm.EventToolArgs, llm.EventToolEnd, llm.EventRetry, llm.EventNotice, llm.EventFinish:
		}
		if !a.answerBegun && !isShown(e) {
			a.held = append(a.held, e)
			continue
		}
		if !begun {
			begun = true
			c.opts.Pool.MarkKeySuccess(l)
			a.release()
		}
		if a.emit(e); a.stopped {
			return canceledError(ctx, t)
		}
	}
	return nil
}

// isShown reports whether an event is part of the answer proper, after which no retry is possible.
func isShown(e llm.Event) bool {
	switch e.Kind {
	case llm.EventText, llm.EventReasoning:
		return e.Text != ""
	case llm.EventToolStart, llm.EventToolArgs, llm.EventToolEnd, llm.EventFinish:
		return true
	case llm.EventStart, llm.EventUsage, llm.EventRetry, llm.EventNotice:
	}
	return false
}

// release emits the held events, with the notices after the start event.
func (a *attempts) release() {
	a.answerBegun = true
	for i, e := range a.held {
		if a.emit(e); i == 0 {
			a.emitNotices()
		}
	}
	a.held = a.held[:0]
	a.emitNotices()
}

func (a *attempts) emitNotices() {
	for _, n := range a.notices {
		a.emit(n)
	}
	a.notices = nil
}

// asError converts err to an [*llm.Error].
func asError(err error) *llm.Error {
	if e, ok := errors.AsType[*llm.Error](err); ok {
		return e
	}
	return &llm.Error{Class: llm.ClassUnknown, Message: err.Error(), Err: err}
}

func canceledError(ctx context.Context, t *target) *llm.Error {
	return &llm.Error{Class: llm.ClassCanceled, Provider: t.Name, Model: t.model, Message: "cancelled", Err: context.Cause(ctx)}
}

// waitFor waits for d, and returns false if ctx ended first.
func waitFor(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}
