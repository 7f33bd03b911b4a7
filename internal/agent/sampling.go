package agent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/tidwall/gjson"

	"collie/internal/llm"
	"collie/internal/tool"
)

// This file answers sampling requests, with which an MCP server asks for an answer of the model.

const (
	methodSample     = "sampling/createMessage"
	maxSampledTokens = 4096 // tokens of one answer to a server
	maxShownBytes    = 1800 // bytes of a server's request shown to the person
)

// JSON-RPC error codes, and the code that MCP suggests for a person who declines.
const (
	codeInvalid  = -32602
	codeInternal = -32603
	codeRejected = -1
)

// sample answers a server's sampling request (MCP, sampling/createMessage) with the model of the turn, after the person
// has agreed to this request. The model sees only the server's messages, not the conversation, and gets no tools. Usage
// counts for the turn, and a notice says that it happened.
func (c *caller) sample(ctx context.Context, params json.RawMessage) (json.RawMessage, error) {
	req, err := parseSampling(params)
	if err != nil {
		return nil, err
	}
	model, info, err := c.model()
	if err != nil {
		return nil, tool.NewProtocolError(codeInternal, "no model can be asked: "+err.Error(), nil)
	}
	req.Model, req.Session = info.Name, c.turn.Session
	shown := string(params)
	q, err := json.Marshal(tool.Question{
		Tool: c.name, Action: "sampling", Args: shown[:cutPoint(shown, maxShownBytes)],
		Effect: fmt.Sprintf("its server has %s write up to %d tokens, which you pay for, and reads what it wrote", info.Name, req.MaxOutput),
	})
	if err != nil {
		return nil, err
	}
	reply, err := c.askPerson(ctx, tool.MethodConfirm, q)
	if err != nil {
		return nil, err
	}
	if gjson.GetBytes(reply, "confirm").Type != gjson.True {
		return nil, tool.NewProtocolError(codeRejected, "the person said no", nil)
	}
	who := llm.Event{Provider: info.Provider, Model: info.Name}
	var text strings.Builder
	var used llm.Usage
	finish := llm.FinishStop
	for e, failed := range model.Stream(ctx, req) {
		if failed != nil {
			return nil, tool.NewProtocolError(codeInternal, "the model did not answer: "+failed.Error(), nil)
		}
		switch e.Kind {
		case llm.EventStart:
			who = e
		case llm.EventText:
			text.WriteString(e.Text)
		case llm.EventUsage:
			used = e.Usage
		case llm.EventFinish:
			finish = e.Finish
		case llm.EventReasoning, llm.EventToolStart, llm.EventToolArgs, llm.EventToolEnd, llm.EventRetry, llm.EventNotice:
		}
	}
	cost := int64(-1)
	if info.Cost != nil {
		cost = info.Cost(who.Provider, who.Model, used)
	}
	c.sink.Usage(who.Provider, who.Model, who.Key, used, cost)
	c.sink.Notice("sampling", fmt.Sprintf("%s had %s write %d bytes", c.name, who.Model, text.Len()))
	reason := "endTurn"
	if finish == llm.FinishLength {
		reason = "maxTokens"
	}
	return json.Marshal(map[string]any{
		"role": "assistant", "content": map[string]string{"type": "text", "text": text.String()}, "model": who.Model, "stopReason": reason,
	})
}

// parseSampling parses a sampling request. It refuses what is not supported instead of ignoring it.
func parseSampling(params json.RawMessage) (*llm.Request, error) {
	p := gjson.ParseBytes(params)
	req := &llm.Request{System: p.Get("systemPrompt").String(), MaxOutput: maxSampledTokens}
	if n := p.Get("maxTokens").Int(); n > 0 && n < maxSampledTokens {
		req.MaxOutput = int(n)
	}
	if t := p.Get("temperature"); t.Type == gjson.Number {
		value := t.Float()
		req.Temperature = &value
	}
	for _, s := range p.Get("stopSequences").Array() {
		req.Stop = append(req.Stop, s.String())
	}
	err := error(nil)
	if len(p.Get("tools").Array()) > 0 {
		err = errors.New("tools: they cannot be used here")
	}
	for i, m := range p.Get("messages").Array() {
		content := m.Get("content").Array()
		if m.Get("content").IsObject() {
			content = []gjson.Result{m.Get("content")}
		}
		message := llm.Message{Role: llm.Role(m.Get("role").String())}
		if message.Role != llm.RoleUser && message.Role != llm.RoleAssistant {
			err = fmt.Errorf("messages/%d/role: expected user or assistant", i)
		}
		for _, part := range content {
			if part.Get("type").String() != "text" {
				err = fmt.Errorf("messages/%d/content: expected text, there is %q", i, part.Get("type").String())
			}
			message.Parts = append(message.Parts, llm.Part{Kind: llm.PartText, Text: part.Get("text").String()})
		}
		req.Messages = append(req.Messages, message)
	}
	if len(req.Messages) == 0 {
		err = errors.New("messages: there are none")
	}
	if err != nil {
		return nil, tool.NewProtocolError(codeInvalid, err.Error(), nil)
	}
	return req, nil
}
