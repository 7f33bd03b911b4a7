package agent

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"time"

	"collie/internal/agent/acp"
	"collie/internal/chat"
	"collie/internal/llm"
)

// This file shows and records the calls that an agent of another program makes with its own tools.

// ownCall is a call of one of the agent's own tools.
type ownCall struct {
	acp.Call
	id     string // in the conversation
	start  time.Time
	shown  bool
	closed bool
}

// callName returns the name of a call for people, for the audit and for permissions.
func (f *foreignTurn) callName(c *acp.Call) string {
	return ownToolPrefix + f.files.agent.Name + "." + cmp.Or(c.Kind, "other")
}

// maxOwnCalls is the number of own calls that an agent may report in one turn.
const maxOwnCalls = 1000

// mergeCall merges u into what the agent reported before about the same call and returns the result, nil if there are too
// many calls. f.mu must be held.
func (f *foreignTurn) mergeCall(u acp.Call) *ownCall {
	c := f.own[u.ID]
	if c == nil {
		if len(f.own) >= maxOwnCalls {
			if len(f.own) == maxOwnCalls {
				f.sink.Notice("too_many_calls", fmt.Sprintf("%s has made %d calls; no more are shown", f.files.agent.Name, maxOwnCalls))
				f.own[""] = &ownCall{closed: true}
			}
			return nil
		}
		c = &ownCall{id: newCall(), start: time.Now(), Call: acp.Call{ID: u.ID}}
		f.own[u.ID] = c
	}
	if u.Title != "" {
		c.Title = u.Title
	}
	if u.Kind != "" && !c.shown {
		c.Kind = u.Kind
	}
	if u.Status != "" {
		c.Status = u.Status
	}
	if u.Input != nil {
		c.Input = u.Input
	}
	if u.Paths != nil {
		c.Paths = u.Paths
	}
	if u.Output != "" {
		c.Output = u.Output
	}
	return c
}

// argsJSON returns the arguments to show and record.
func (c *ownCall) argsJSON() json.RawMessage {
	args := map[string]any{"title": c.Title}
	if c.Input != nil {
		args["input"] = c.Input
	}
	if len(c.Paths) > 0 {
		args["paths"] = c.Paths
	}
	raw, err := json.Marshal(args)
	if err != nil { // the input is not JSON after all
		return json.RawMessage(`{}`)
	}
	return raw
}

// showOnce adds a call to the conversation, once. f.mu must be held.
func (f *foreignTurn) showOnce(c *ownCall) {
	if c.shown {
		return
	}
	c.shown = true
	f.sink.Proposed(0, chat.ToolCall{ID: c.id, Name: f.callName(&c.Call), Args: c.argsJSON()})
}

// closeCall adds the result of a call to the conversation. f.mu must be held.
func (f *foreignTurn) closeCall(c *ownCall, state chat.CallState, text string) {
	c.closed = true
	f.showOnce(c)
	result := llm.Part{Kind: llm.PartToolResult, Call: c.id, Name: f.callName(&c.Call), Text: text, IsError: state != chat.CallDone}
	f.sink.Answered(c.id, state, f.limitResult(context.Background(), result), time.Since(c.start).Milliseconds())
}

// endCalls closes the calls that the agent left open, and ignores everything that it sends afterwards.
func (f *foreignTurn) endCalls() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.ended = true
	f.showUsage()
	for _, c := range f.own {
		if c.shown && !c.closed {
			f.closeCall(c, chat.CallUnknown, "the turn ended while it ran")
		}
	}
}
