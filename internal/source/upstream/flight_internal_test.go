package upstream

import (
	"context"
	"encoding/json"
	"errors"
	"testing"
	"time"

	"collie/internal/source/upstream/entry"
	"collie/internal/tool"
)

// patientCaller can be asked and does not answer.
type patientCaller struct {
	nobody
	asked chan struct{}
}

func (patientCaller) Supports(tool.Capability) bool { return true }

func (p patientCaller) Ask(ctx context.Context, _ string, _ json.RawMessage) (json.RawMessage, error) {
	close(p.asked)
	<-ctx.Done()
	return nil, context.Cause(ctx)
}

// A question ends with the call it was asked for: its caller may not be used after that.
func TestQuestionEndsWithItsCall(t *testing.T) {
	t.Parallel()
	e, _ := entry.Parse("s", json.RawMessage(`{"command":"true"}`), entry.Options{})
	set := NewSet([]Spec{{Entry: e}}, Options{})
	defer set.Close(t.Context())
	c := &conn{server: set.servers[0], calls: map[uint64]*flight{}}
	p := patientCaller{asked: make(chan struct{})}
	_, f, token, _ := c.board(t.Context(), &tool.Call{Kind: tool.KindCall, Caller: p}, time.Hour)
	done := make(chan error, 1)
	go func() { // ends with the question
		_, err := c.askBack(t.Context(), f, "elicitation/create", nil)
		done <- err
	}()
	<-p.asked
	c.land(f, token)
	select {
	case err := <-done:
		if err == nil || errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("the question ended with %v", err)
		}
	case <-time.After(5 * time.Second):
		t.Error("the question outlives its call")
	}
}
