package agent

import (
	"context"
	"encoding/json"
	"slices"

	"github.com/tidwall/gjson"

	"collie/internal/chat"
	"collie/internal/llm"
	"collie/internal/tool"
)

// This file connects the calls of a turn with the person behind it: progress, questions of servers and of the gate, and
// sampling.

// caller is the [tool.Caller] of a call in a turn. It reports to the conversation, and passes questions on to the
// person of the turn. A question of the gate needs no person if the settings of the turn allow the action; without a
// person all other questions fail.
type caller struct {
	agent *Agent
	turn  *chat.Turn
	sink  chat.Sink
	call  string // id of the call in the conversation
	name  string // name of the tool called
	wait  *stopwatch
	also  tool.Caller // also receives progress; nil: none
}

var _ tool.Caller = (*caller)(nil)

// ID returns the id of the session.
func (c *caller) ID() string { return c.turn.Session }

// Supports reports whether the person of the turn, or the turn itself, can do what a Source or the gate may ask for.
func (c *caller) Supports(what tool.Capability) bool {
	switch what {
	case tool.CanElicit:
		return c.turn.Ask != nil
	case tool.CanSample:
		return c.canSample()
	case tool.CanConfirm:
		return c.turn.Ask != nil || len(c.turn.Config.Allow) > 0
	case tool.WantsProgress:
		return true
	case tool.CanRoots, tool.TakesInputRequired, tool.Attends, tool.TakesAnyRequest, tool.SpeaksForPerson:
	}
	return false
}

// Capabilities returns what the person can do, as MCP client capabilities.
func (c *caller) Capabilities() json.RawMessage {
	if c.turn.Ask == nil {
		return json.RawMessage(`{}`)
	}
	if c.canSample() {
		return json.RawMessage(`{"elicitation":{"form":{},"url":{}},"sampling":{}}`)
	}
	return json.RawMessage(`{"elicitation":{"form":{},"url":{}}}`)
}

// canSample reports whether servers may use sampling: that takes a model, and a person to agree.
func (c *caller) canSample() bool {
	_, _, err := c.model()
	return c.turn.Ask != nil && err == nil
}

// model returns the model of the turn.
func (c *caller) model() (llm.Model, Info, error) {
	return c.agent.opts.Models.Model(modelRef(&c.turn.Config), c.turn.Config.FallbackModels)
}

// Notify shows progress in the conversation. Other notifications are dropped; messages of servers are in their logs.
func (c *caller) Notify(ctx context.Context, method string, params json.RawMessage) {
	if method != "notifications/progress" {
		return
	}
	if c.also != nil {
		c.also.Notify(ctx, method, params)
	}
	p := gjson.ParseBytes(params)
	c.sink.Progress(c.call, p.Get("progress").Float(), p.Get("total").Float(), p.Get("message").String())
}

// Ask passes a question to the person, or a sampling request to the model.
func (c *caller) Ask(ctx context.Context, method string, params json.RawMessage) (json.RawMessage, error) {
	if method == tool.MethodConfirm {
		q := gjson.ParseBytes(params)
		if q.Get("name").String() == "" && isAllowed(c.turn.Config.Allow, q.Get("tool").String()+"."+q.Get("action").String()) {
			return json.RawMessage(`{"confirm":true,"beforehand":true}`), nil
		}
	}
	switch {
	case c.turn.Ask == nil:
		return nil, &tool.Error{Op: "ask", Kind: tool.Unconfirmed, Message: "there is nobody to ask"}
	case method == methodSample:
		return c.sample(ctx, params)
	}
	return c.askPerson(ctx, method, params)
}

// askPerson asks the person. The time limit of the turn is paused meanwhile.
func (c *caller) askPerson(ctx context.Context, method string, params json.RawMessage) (json.RawMessage, error) {
	asked, err := c.sink.Asking(ctx, c.call)
	if err != nil {
		return nil, err
	}
	c.wait.pause()
	defer func() {
		c.wait.resume()
		asked()
	}()
	return c.turn.Ask.Ask(ctx, method, params)
}

// isAllowed reports whether list contains name, which is TOOL.ACTION, or TOOL.*.
func isAllowed(list []string, name string) bool {
	return slices.ContainsFunc(list, func(a string) bool {
		return a == name || len(a) > 2 && a[len(a)-2:] == ".*" && len(name) >= len(a) && name[:len(a)-1] == a[:len(a)-1]
	})
}
