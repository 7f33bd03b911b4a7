package provider

import (
	"encoding/json"
	"fmt"
	"regexp"
)

// ollama is the chat API of Ollama. This file holds how its requests are read and its answers written.
var ollama = dialect{
	name: Ollama, tools: regexp.MustCompile(`^.+$`), lines: true,
	read: ollamaRead, whole: ollamaWhole, frames: ollamaFrames,
	listed: func(models []string) any {
		list := []object{}
		for _, m := range models {
			list = append(list, object{"name": m, "model": m, "modified_at": ollamaTime, "size": 1, "digest": "fake", "details": object{"family": "fake"}})
		}
		return object{"models": list}
	},
	problem: func(p problem) any { return object{"error": p.message} },
	broken:  func(p problem) frame { return frame{"", object{"error": p.message}} },
}

const ollamaTime = "2026-01-01T00:00:00Z"

// ollamaShown describes every model.
var ollamaShown = object{
	"capabilities": []string{"completion", "tools", "thinking"}, "details": object{"family": "fake"},
	"model_info": object{"general.architecture": "fake", "fake.context_length": 8192},
}

func ollamaRead(r *Request) error {
	var body struct {
		Model    string `json:"model"`
		Stream   *bool  `json:"stream"`
		Messages []struct {
			Role     string `json:"role"`
			Content  string `json:"content"`
			ToolName string `json:"tool_name"`
			CallID   string `json:"tool_call_id"`
			Calls    []struct {
				ID       string `json:"id"`
				Function struct {
					Name string         `json:"name"`
					Args map[string]any `json:"arguments"`
				} `json:"function"`
			} `json:"tool_calls"`
		} `json:"messages"`
		Tools []struct {
			Function struct {
				Name        string          `json:"name"`
				Description string          `json:"description"`
				Parameters  json.RawMessage `json:"parameters"`
			} `json:"function"`
		} `json:"tools"`
	}
	if err := json.Unmarshal(r.Body, &body); err != nil {
		return err
	}
	r.Model, r.Stream = body.Model, body.Stream == nil || *body.Stream
	for _, t := range body.Tools {
		r.Tools = append(r.Tools, Tool{Name: t.Function.Name, Description: t.Function.Description, Schema: t.Function.Parameters})
	}
	for i, m := range body.Messages {
		switch m.Role {
		case "system":
			r.System += m.Content
		case "user":
			r.Messages = append(r.Messages, Message{Role: User, Text: m.Content})
		case "assistant":
			msg := Message{Role: Model, Text: m.Content}
			for _, c := range m.Calls {
				args, _ := json.Marshal(c.Function.Args)
				msg.Calls = append(msg.Calls, PastCall{ID: c.ID, Name: c.Function.Name, Args: args})
			}
			r.Messages = append(r.Messages, msg)
		case "tool":
			r.Messages = append(r.Messages, Message{Role: User, Results: []Result{{ID: m.CallID, Name: m.ToolName, Text: m.Content}}})
		default:
			return fmt.Errorf("messages[%d].role: %q is unknown", i, m.Role)
		}
	}
	return nil
}

// line is one line of an answer.
func (a answer) line(r *Request, message object, done bool) object {
	message["role"] = "assistant"
	if message["content"] == nil {
		message["content"] = ""
	}
	line := object{"model": r.Model, "created_at": ollamaTime, "message": message, "done": done}
	if done {
		line["done_reason"] = a.reason("stop", "stop", "length", "stop")
		line["prompt_eval_count"], line["eval_count"] = a.usage.Input, a.usage.Output
		line["total_duration"], line["load_duration"] = 1, 1
	}
	return line
}

// ollamaCalls returns the calls, complete and without ids, as the API sends them.
func (a answer) ollamaCalls() (calls []object) {
	for i, c := range a.calls {
		calls = append(calls, object{"function": object{"index": i, "name": c.name, "arguments": c.object()}})
	}
	return calls
}

func ollamaWhole(r *Request, a answer) any {
	message := object{"content": a.say}
	if a.think != "" {
		message["thinking"] = a.think
	}
	if len(a.calls) > 0 {
		message["tool_calls"] = a.ollamaCalls()
	}
	return a.line(r, message, true)
}

func ollamaFrames(r *Request, a answer) (frames []frame) {
	add := func(message object, done bool) { frames = append(frames, frame{"", a.line(r, message, done)}) }
	for _, p := range a.pieces(a.think) {
		add(object{"thinking": p}, false)
	}
	for _, p := range a.pieces(a.say) {
		add(object{"content": p}, false)
	}
	for _, c := range a.ollamaCalls() {
		add(object{"tool_calls": []object{c}}, false)
	}
	add(object{}, true)
	return frames
}
