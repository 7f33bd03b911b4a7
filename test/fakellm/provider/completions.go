package provider

import (
	"encoding/json"
	"fmt"
	"regexp"
)

// completions is OpenAI's Chat Completions API. This file holds how its requests are read and its answers written.
var completions = dialect{
	name: Completions, tools: openAIName,
	read: completionsRead, whole: completionsWhole, frames: completionsFrames,
	listed:  openAIModels,
	problem: func(p problem) any { return object{"error": openAIError(p)} },
	broken:  func(p problem) frame { return frame{"", object{"error": openAIError(p)}} },
	end:     "data: [DONE]\n\n",
}

// openAIName matches the function names that OpenAI accepts.
var openAIName = regexp.MustCompile(`^[a-zA-Z0-9_-]{1,64}$`)

func openAIModels(models []string) any {
	list := []object{}
	for _, m := range models {
		list = append(list, object{"id": m, "object": "model", "created": 1767225600, "owned_by": "fake"})
	}
	return object{"object": "list", "data": list}
}

func openAIError(p problem) object {
	code := map[int]any{401: "invalid_api_key", 404: "model_not_found", 429: "rate_limit_exceeded"}[p.status]
	kind := "invalid_request_error"
	if p.status >= 500 {
		kind = "server_error"
	}
	if p.kind != "" {
		kind, code = p.kind, p.kind
	}
	return object{"message": p.message, "type": kind, "param": nil, "code": code}
}

func completionsRead(r *Request) error {
	var body struct {
		Model    string `json:"model"`
		Stream   bool   `json:"stream"`
		Messages []struct {
			Role       string `json:"role"`
			Content    blocks `json:"content"`
			ToolCallID string `json:"tool_call_id"`
			ToolCalls  []struct {
				ID       string `json:"id"`
				Function struct {
					Name      string `json:"name"`
					Arguments string `json:"arguments"`
				} `json:"function"`
			} `json:"tool_calls"`
		} `json:"messages"`
		Tools []struct {
			Function struct {
				Name        string          `json:"name"`
				Description string          `json:"description"`
				Parameters  json.RawMessage `json:"parameters"`
				Strict      bool            `json:"strict"`
			} `json:"function"`
		} `json:"tools"`
	}
	if err := json.Unmarshal(r.Body, &body); err != nil {
		return err
	}
	r.Model, r.Stream = body.Model, body.Stream
	for _, t := range body.Tools {
		f := t.Function
		r.Tools = append(r.Tools, Tool{Name: f.Name, Description: f.Description, Schema: f.Parameters, Strict: f.Strict})
	}
	for i, m := range body.Messages {
		msg := Message{Role: User, Text: m.Content.text()}
		switch m.Role {
		case "system", "developer":
			r.System += msg.Text
			continue
		case "user":
		case "assistant":
			msg.Role = Model
			for _, c := range m.ToolCalls {
				msg.Calls = append(msg.Calls, PastCall{ID: c.ID, Name: c.Function.Name, Args: arguments(c.Function.Arguments)})
			}
		case "tool":
			msg = Message{Role: User, Results: []Result{{ID: m.ToolCallID, Text: m.Content.text()}}}
		default:
			return fmt.Errorf("messages[%d].role: %q is unknown", i, m.Role)
		}
		r.Messages = append(r.Messages, msg)
	}
	return nil
}

// arguments returns the arguments that a model sent; text that is not JSON becomes a JSON string.
func arguments(text string) json.RawMessage {
	if json.Valid([]byte(text)) {
		return json.RawMessage(text)
	}
	quoted, _ := json.Marshal(text)
	return quoted
}

func (a answer) completionsReason() string {
	return a.reason("stop", "tool_calls", "length", "content_filter")
}

func (u Usage) completions() object {
	return object{
		"prompt_tokens": u.Input, "completion_tokens": u.Output, "total_tokens": u.Input + u.Output,
		"prompt_tokens_details": object{"cached_tokens": u.Cached},
	}
}

func completionsWhole(r *Request, a answer) any {
	message := object{"role": "assistant", "content": a.say, "refusal": nil}
	if a.think != "" {
		message["reasoning_content"] = a.think // as compatible servers have it
	}
	if a.say == "" && len(a.calls) > 0 {
		message["content"] = nil
	}
	var calls []object
	for _, c := range a.calls {
		calls = append(calls, object{"id": c.id, "type": "function", "function": object{"name": c.name, "arguments": c.args}})
	}
	if len(calls) > 0 {
		message["tool_calls"] = calls
	}
	return object{
		"id": "chatcmpl-" + a.id, "object": "chat.completion", "created": 1767225600, "model": r.Model,
		"choices": []object{{"index": 0, "message": message, "logprobs": nil, "finish_reason": a.completionsReason()}},
		"usage":   a.usage.completions(),
	}
}

func completionsFrames(r *Request, a answer) (frames []frame) {
	chunk := func(choices []object, usage any) {
		frames = append(frames, frame{"", object{
			"id": "chatcmpl-" + a.id, "object": "chat.completion.chunk", "created": 1767225600, "model": r.Model,
			"choices": choices, "usage": usage,
		}})
	}
	delta := func(d object) { chunk([]object{{"index": 0, "delta": d, "finish_reason": nil}}, nil) }
	delta(object{"role": "assistant", "content": ""})
	for _, p := range a.pieces(a.think) {
		delta(object{"reasoning_content": p})
	}
	for _, p := range a.pieces(a.say) {
		delta(object{"content": p})
	}
	for i, c := range a.calls {
		delta(object{"tool_calls": []object{{"index": i, "id": c.id, "type": "function", "function": object{"name": c.name, "arguments": ""}}}})
		for _, p := range a.pieces(c.args) {
			delta(object{"tool_calls": []object{{"index": i, "function": object{"arguments": p}}}})
		}
	}
	chunk([]object{{"index": 0, "delta": object{}, "finish_reason": a.completionsReason()}}, nil)
	var body struct {
		Options struct {
			Usage bool `json:"include_usage"`
		} `json:"stream_options"`
	}
	if json.Unmarshal(r.Body, &body) == nil && body.Options.Usage {
		chunk([]object{}, a.usage.completions())
	}
	return frames
}
