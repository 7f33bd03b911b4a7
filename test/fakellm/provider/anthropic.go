package provider

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"
)

// object is a JSON object to be written.
type object = map[string]any

// anthropic is Anthropic's Messages API. This file holds how its requests are read and its answers written.
var anthropic = dialect{
	name: Anthropic, tools: regexp.MustCompile(`^[a-zA-Z0-9_-]{1,128}$`),
	read: anthropicRead, whole: anthropicWhole, frames: anthropicFrames,
	counted: func(n int) any { return object{"input_tokens": n} },
	listed: func(models []string) any {
		list := []object{}
		for _, m := range models {
			list = append(list, object{"type": "model", "id": m, "display_name": m, "created_at": "2026-01-01T00:00:00Z"})
		}
		return object{"data": list, "has_more": false, "first_id": models[0], "last_id": models[len(models)-1]}
	},
	problem: func(p problem) any { return anthropicProblem(p) },
	broken:  func(p problem) frame { return frame{"error", anthropicProblem(p)} },
}

// block is a content block. Unknown types are ignored.
type block struct {
	Type      string          `json:"type"`
	Text      string          `json:"text"`
	ID        string          `json:"id"`
	Name      string          `json:"name"`
	Input     json.RawMessage `json:"input"`
	ToolUseID string          `json:"tool_use_id"`
	Content   blocks          `json:"content"`
	IsError   bool            `json:"is_error"`
	Signature string          `json:"signature"`
}

// blocks is content; it may be written as a single string.
type blocks []block

// UnmarshalJSON implements [json.Unmarshaler].
func (b *blocks) UnmarshalJSON(data []byte) error {
	if len(data) > 0 && data[0] == '"' {
		*b = blocks{{Type: "text"}}
		return json.Unmarshal(data, &(*b)[0].Text)
	}
	if len(data) > 0 && data[0] == '{' { // the result of a tool that the provider runs
		*b = nil
		return nil
	}
	return json.Unmarshal(data, (*[]block)(b))
}

// text joins the parts that are text.
func (b blocks) text() string {
	var texts []string
	for _, one := range b {
		if one.Text != "" {
			texts = append(texts, one.Text)
		}
	}
	return strings.Join(texts, "\n")
}

// check refuses what the real API refuses: reasoning without a signature, and results after other content.
func (b blocks) check(role string) error {
	behind := false
	for i, one := range b {
		switch {
		case one.Type == "thinking" && one.Signature == "":
			return fmt.Errorf("%d.thinking.signature: Field required", i)
		case one.Type == "thinking" && role != "assistant", one.Type == "tool_use" && role != "assistant", one.Type == "tool_result" && role != "user":
			return fmt.Errorf("%d: `%s` blocks can not be in `%s` messages", i, one.Type, role)
		case one.Type == "tool_result" && behind:
			return fmt.Errorf("%d: `tool_result` blocks must come before other content", i)
		}
		behind = behind || one.Type != "tool_result"
	}
	return nil
}

func anthropicRead(r *Request) error {
	var body struct {
		Model     string `json:"model"`
		MaxTokens int    `json:"max_tokens"`
		Stream    bool   `json:"stream"`
		System    blocks `json:"system"`
		Tools     []struct {
			Type        string          `json:"type"`
			Name        string          `json:"name"`
			Description string          `json:"description"`
			Schema      json.RawMessage `json:"input_schema"`
			Strict      bool            `json:"strict"`
		} `json:"tools"`
		Messages []struct {
			Role    string `json:"role"`
			Content blocks `json:"content"`
		} `json:"messages"`
	}
	if err := json.Unmarshal(r.Body, &body); err != nil {
		return err
	}
	if r.Header.Get("Anthropic-Version") == "" {
		return errors.New("anthropic-version: header is required")
	}
	if body.MaxTokens <= 0 && !r.Counts {
		return errors.New("max_tokens: field required")
	}
	r.Model, r.Stream, r.System = body.Model, body.Stream, body.System.text()
	for _, t := range body.Tools {
		r.Tools = append(r.Tools, Tool{Name: t.Name, Description: t.Description, Schema: t.Schema, Strict: t.Strict})
	}
	for i, m := range body.Messages {
		if err := m.Content.check(m.Role); err != nil {
			return fmt.Errorf("messages.%d.content.%w", i, err)
		}
		switch m.Role {
		case "user":
			r.Messages = append(r.Messages, anthropicMessage(User, m.Content))
		case "assistant":
			r.Messages = append(r.Messages, anthropicMessage(Model, m.Content))
		case "system": // in mid-conversation
			r.Messages = append(r.Messages, Message{Role: "system", Text: m.Content.text()})
		default:
			return fmt.Errorf("messages[%d].role: %q is neither user nor assistant", i, m.Role)
		}
	}
	return nil
}

func anthropicMessage(role string, content blocks) Message {
	m := Message{Role: role, Text: content.text()}
	for _, b := range content {
		switch b.Type {
		case "tool_use":
			m.Calls = append(m.Calls, PastCall{ID: b.ID, Name: b.Name, Args: b.Input})
		case "tool_result":
			m.Results = append(m.Results, Result{ID: b.ToolUseID, Text: b.Content.text(), Error: b.IsError})
		}
	}
	return m
}

func (a answer) anthropicReason() string {
	return a.reason("end_turn", "tool_use", "max_tokens", "refusal")
}

func (u Usage) anthropic(output int) object {
	return object{"input_tokens": u.Input - u.Cached, "cache_read_input_tokens": u.Cached, "cache_creation_input_tokens": 0, "output_tokens": output}
}

// anthropicBlock is one content block: its start, its deltas, and the complete block.
type anthropicBlock struct {
	start  object
	deltas []object
	whole  object
}

func (a answer) anthropicBlocks() (list []anthropicBlock) {
	if a.think != "" {
		b := anthropicBlock{
			start: object{"type": "thinking", "thinking": "", "signature": ""},
			whole: object{"type": "thinking", "thinking": a.think, "signature": "c2lnbmVk"},
		}
		for _, p := range a.pieces(a.think) {
			b.deltas = append(b.deltas, object{"type": "thinking_delta", "thinking": p})
		}
		b.deltas = append(b.deltas, object{"type": "signature_delta", "signature": "c2lnbmVk"})
		list = append(list, b)
	}
	if a.say != "" || len(a.calls) == 0 {
		b := anthropicBlock{start: object{"type": "text", "text": ""}, whole: object{"type": "text", "text": a.say}}
		for _, p := range a.pieces(a.say) {
			b.deltas = append(b.deltas, object{"type": "text_delta", "text": p})
		}
		list = append(list, b)
	}
	for _, c := range a.calls {
		b := anthropicBlock{
			start: object{"type": "tool_use", "id": "toolu_" + c.id, "name": c.name, "input": object{}},
			whole: object{"type": "tool_use", "id": "toolu_" + c.id, "name": c.name, "input": c.object()},
		}
		for _, p := range a.pieces(c.args) {
			b.deltas = append(b.deltas, object{"type": "input_json_delta", "partial_json": p})
		}
		list = append(list, b)
	}
	return list
}

func anthropicWhole(r *Request, a answer) any {
	content := []object{}
	for _, b := range a.anthropicBlocks() {
		content = append(content, b.whole)
	}
	return object{
		"id": "msg_" + a.id, "type": "message", "role": "assistant", "model": r.Model, "content": content,
		"stop_reason": a.anthropicReason(), "stop_sequence": nil, "usage": a.usage.anthropic(a.usage.Output),
	}
}

func anthropicFrames(r *Request, a answer) (frames []frame) {
	add := func(kind string, data object) {
		data["type"] = kind
		frames = append(frames, frame{kind, data})
	}
	add("message_start", object{"message": object{
		"id": "msg_" + a.id, "type": "message", "role": "assistant", "model": r.Model, "content": []any{},
		"stop_reason": nil, "stop_sequence": nil, "usage": a.usage.anthropic(1),
	}})
	for i, b := range a.anthropicBlocks() {
		add("content_block_start", object{"index": i, "content_block": b.start})
		if i == 0 {
			add("ping", object{})
		}
		for _, d := range b.deltas {
			add("content_block_delta", object{"index": i, "delta": d})
		}
		add("content_block_stop", object{"index": i})
	}
	add("message_delta", object{
		"delta": object{"stop_reason": a.anthropicReason(), "stop_sequence": nil},
		"usage": object{"output_tokens": a.usage.Output},
	})
	add("message_stop", object{})
	return frames
}

func anthropicProblem(p problem) object {
	kind := map[int]string{
		400: "invalid_request_error", 401: "authentication_error", 402: "billing_error", 403: "permission_error", 404: "not_found_error",
		413: "request_too_large", 429: "rate_limit_error", 504: "timeout_error", 529: "overloaded_error",
	}[p.status]
	return object{
		"type": "error", "request_id": p.requestID,
		"error": object{"type": orDefault(p.kind, orDefault(kind, "api_error")), "message": p.message},
	}
}
