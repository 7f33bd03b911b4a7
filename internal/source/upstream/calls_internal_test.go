package upstream

import (
	"context"
	"encoding/json"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"collie/internal/mcp"
	"collie/internal/source/upstream/entry"
	"collie/internal/source/upstream/inflight"
	"collie/internal/tool"
)

// nobody is a caller that cannot be asked.
type nobody struct{}

func (nobody) Supports(tool.Capability) bool                   { return false }
func (nobody) ID() string                                      { return "" }
func (nobody) Capabilities() json.RawMessage                   { return json.RawMessage("{}") }
func (nobody) Notify(context.Context, string, json.RawMessage) {}
func (nobody) Ask(context.Context, string, json.RawMessage) (json.RawMessage, error) {
	return nil, tool.NewProtocolError(mcp.CodeMethodNotFound, "nobody can be asked", nil)
}

// silentCaller can be asked but never answers.
type silentCaller struct {
	nobody
	asked chan struct{}
}

func (silentCaller) Supports(tool.Capability) bool { return true }

func (p silentCaller) Ask(ctx context.Context, _ string, _ json.RawMessage) (json.RawMessage, error) {
	close(p.asked)
	<-ctx.Done()
	return nil, context.Cause(ctx)
}

// A question ends with its call, since the call's Caller may not be used after that.
func TestQuestionEndsWithItsCall(t *testing.T) {
	t.Parallel()
	e, _ := entry.Parse("s", json.RawMessage(`{"command":"true"}`), entry.Options{})
	set := NewSet([]Spec{{Entry: e}}, Options{})
	defer set.Close(t.Context())
	c := &conn{server: set.servers[0], calls: inflight.New(time.Now())}
	p := silentCaller{asked: make(chan struct{})}
	_, f := c.calls.Add(t.Context(), &tool.Call{Request: tool.Request{Kind: tool.KindCall, Caller: p}}, time.Hour)
	done := make(chan error, 1)
	go func() { // ends with the question
		_, err := c.answerQuestion(t.Context(), f, "elicitation/create", nil)
		done <- err
	}()
	<-p.asked
	c.calls.Remove(f)
	select {
	case err := <-done:
		if err == nil || errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("the question ended with %v", err)
		}
	case <-time.After(5 * time.Second):
		t.Error("the question outlives its call")
	}
}

// attending is a caller that answers questions while it reads. A test can make it stop reading.
type attending struct {
	nobody
	name    string
	answers bool
	reads   atomic.Bool
	asked   chan string
}

func (a *attending) Supports(what tool.Capability) bool {
	return what == tool.CanElicit || what == tool.Attends && a.reads.Load()
}

func (a *attending) Ask(ctx context.Context, _ string, _ json.RawMessage) (json.RawMessage, error) {
	a.asked <- a.name
	if a.answers {
		return json.RawMessage(`{"action":"cancel"}`), nil
	}
	<-ctx.Done()
	return nil, context.Cause(ctx)
}

// If a question could belong to several calls of one session, it goes to the newest whose client reads, and moves to
// another if that one stops. With calls of several sessions in flight no client is guessed.
func TestQuestionsFollowTheReader(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		e, _ := entry.Parse("s", json.RawMessage(`{"command":"true"}`), entry.Options{})
		set := NewSet([]Spec{{Entry: e}}, Options{})
		defer set.Close(t.Context())
		c := &conn{server: set.servers[0], calls: inflight.New(time.Now())}
		asked := make(chan string, 9)
		join := func(name, session string, reads, answers bool) *attending {
			a := &attending{name: name, answers: answers, asked: asked}
			a.reads.Store(reads)
			_, f := c.calls.Add(t.Context(), &tool.Call{Request: tool.Request{Kind: tool.KindCall, Session: session, Caller: a}}, time.Hour)
			t.Cleanup(func() { c.calls.Remove(f) })
			return a
		}
		question := mcp.Message{ID: "1", Method: "elicitation/create", Params: json.RawMessage(`{}`)}
		join("old", "a", true, true)
		newer := join("newer", "a", true, false)
		join("newest", "a", false, false)
		done := make(chan error, 1)
		go func() { // ends with the question
			_, err := c.Request(t.Context(), question, nil)
			done <- err
		}()
		if got := <-asked; got != "newer" {
			t.Fatalf("asked %s first", got)
		}
		newer.reads.Store(false)
		if got := <-asked; got != "old" {
			t.Errorf("then asked %s", got)
		}
		if err := <-done; err != nil {
			t.Error(err)
		}
		join("stranger", "b", true, true)
		if _, err := c.Request(t.Context(), question, nil); err == nil || len(asked) != 0 {
			t.Errorf("asked somebody of two sessions: %v", err)
		}
	})
}
