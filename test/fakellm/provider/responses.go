package provider

import (
	"encoding/json"
	"errors"
	"fmt"
)

// responses is OpenAI's Responses API. This file holds how its requests are read and its answers written.
var responses = dialect{
	name: Responses, tools: openAIName,
	read: responsesRead, whole: responsesWhole, frames: responsesFrames,
	listed:  openAIModels,
	problem: func(p problem) any { return object{"error": openAIError(p)} },
	broken: func(p problem) frame {
		e := openAIError(p)
		e["type"] = "error"
		return frame{"error", e}
	},
}

// item is one item of the input. Unknown types are ignored.
type item struct {
	Type      string `json:"type"`
	Role      string `json:"role"`
	Content   blocks `json:"content"`
	CallID    string `json:"call_id"`
	Name      string `json:"name"`
	Namespace string `json:"namespace"`
	Arguments string `json:"arguments"`
	Output    blocks `json:"output"`
}

// function is a tool, or a namespace of tools.
type function struct {
	Type        string          `json:"type"`
	Name        string          `json:"name"`
	Description string          `json:"description"`
	Parameters  json.RawMessage `json:"parameters"`
	Strict      bool            `json:"strict"`
	Tools       []function      `json:"tools"`
}

func responsesRead(r *Request) error {
	var body struct {
		Model        string          `json:"model"`
		Stream       bool            `json:"stream"`
		Instructions string          `json:"instructions"`
		Previous     string          `json:"previous_response_id"`
		Input        json.RawMessage `json:"input"`
		Tools        []function      `json:"tools"`
	}
	if err := json.Unmarshal(r.Body, &body); err != nil {
		return err
	}
	if body.Previous != "" {
		return errors.New("previous_response_id: this fake keeps nothing, send the whole input")
	}
	r.Model, r.Stream, r.System = body.Model, body.Stream, body.Instructions
	for _, t := range body.Tools {
		r.Tools = append(r.Tools, t.tools("")...)
	}
	var text string
	if json.Unmarshal(body.Input, &text) == nil {
		r.Messages = []Message{{Role: User, Text: text}}
		return nil
	}
	var items []item
	if err := json.Unmarshal(body.Input, &items); err != nil {
		return fmt.Errorf("input: %w", err)
	}
	for _, it := range items {
		r.addItem(it)
	}
	return nil
}

// tools returns the functions in f, or f itself. Tools that the provider runs itself are left out.
func (f function) tools(namespace string) (list []Tool) {
	switch f.Type {
	case "function":
		list = append(list, Tool{Namespace: namespace, Name: f.Name, Description: f.Description, Schema: f.Parameters, Strict: f.Strict})
	case "namespace":
		for _, t := range f.Tools {
			list = append(list, t.tools(f.Name)...)
		}
	}
	return list
}

// addItem adds an item of the input to the history.
func (r *Request) addItem(it item) {
	switch {
	case it.Type == "function_call":
		r.Messages = append(r.Messages, Message{Role: Model, Calls: []PastCall{{ID: it.CallID, Name: it.Namespace + it.Name, Args: arguments(it.Arguments)}}})
	case it.Type == "function_call_output":
		r.Messages = append(r.Messages, Message{Role: User, Results: []Result{{ID: it.CallID, Text: it.Output.text()}}})
	case it.Role == "assistant":
		r.Messages = append(r.Messages, Message{Role: Model, Text: it.Content.text()})
	case it.Role == "system", it.Role == "developer":
		r.System += it.Content.text()
	case it.Role == "user":
		r.Messages = append(r.Messages, Message{Role: User, Text: it.Content.text()})
	}
}

// responsesItem is one item of the output, and the events that build it.
type responsesItem struct {
	whole, start object
	events       []frame
}

// responsesItems returns the output. Their events lack index and number, which the stream adds.
func (a answer) responsesItems() (items []responsesItem) {
	if a.think != "" {
		items = append(items, a.reasoning())
	}
	if a.say != "" || len(a.calls) == 0 {
		items = append(items, a.message())
	}
	for _, c := range a.calls {
		items = append(items, a.functionCall(c))
	}
	return items
}

func (a answer) reasoning() responsesItem {
	id, part := "rs_"+a.id, object{"type": "summary_text", "text": a.think}
	it := responsesItem{
		start: object{"type": "reasoning", "id": id, "summary": []any{}},
		whole: object{"type": "reasoning", "id": id, "summary": []any{part}},
	}
	it.add("response.reasoning_summary_part.added", id, object{"summary_index": 0, "part": object{"type": "summary_text", "text": ""}})
	for _, p := range a.pieces(a.think) {
		it.add("response.reasoning_summary_text.delta", id, object{"summary_index": 0, "delta": p})
	}
	it.add("response.reasoning_summary_text.done", id, object{"summary_index": 0, "text": a.think})
	it.add("response.reasoning_summary_part.done", id, object{"summary_index": 0, "part": part})
	return it
}

func (a answer) message() responsesItem {
	text := func(s string) object { return object{"type": "output_text", "text": s, "annotations": []any{}} }
	id := "msg_" + a.id
	it := responsesItem{
		start: object{"type": "message", "id": id, "role": "assistant", "status": "in_progress", "content": []any{}},
		whole: object{"type": "message", "id": id, "role": "assistant", "status": "completed", "content": []any{text(a.say)}},
	}
	it.add("response.content_part.added", id, object{"content_index": 0, "part": text("")})
	for _, p := range a.pieces(a.say) {
		it.add("response.output_text.delta", id, object{"content_index": 0, "delta": p, "logprobs": []any{}})
	}
	it.add("response.output_text.done", id, object{"content_index": 0, "text": a.say, "logprobs": []any{}})
	it.add("response.content_part.done", id, object{"content_index": 0, "part": text(a.say)})
	return it
}

func (a answer) functionCall(c resolvedCall) responsesItem {
	id := "fc_" + c.id
	item := func(args, status string) object {
		o := object{"type": "function_call", "id": id, "call_id": c.id, "name": c.name, "arguments": args, "status": status}
		if c.namespace != "" {
			o["namespace"] = c.namespace
		}
		return o
	}
	it := responsesItem{start: item("", "in_progress"), whole: item(c.args, "completed")}
	for _, p := range a.pieces(c.args) {
		it.add("response.function_call_arguments.delta", id, object{"delta": p})
	}
	it.add("response.function_call_arguments.done", id, object{"name": c.name, "arguments": c.args})
	return it
}

func (it *responsesItem) add(kind, id string, data object) {
	data["item_id"] = id
	it.events = append(it.events, frame{kind, data})
}

// response is the object around the output.
func (a answer) response(r *Request, status string, output []object) object {
	o := object{
		"id": "resp_" + a.id, "object": "response", "created_at": 1767225600, "status": status, "model": r.Model,
		"output": output, "error": nil, "incomplete_details": nil, "instructions": nil, "metadata": object{},
		"parallel_tool_calls": true, "temperature": 1, "top_p": 1, "tool_choice": "auto", "tools": []any{}, "usage": nil,
	}
	if status != "in_progress" {
		o["usage"] = object{
			"input_tokens": a.usage.Input, "input_tokens_details": object{"cached_tokens": a.usage.Cached},
			"output_tokens": a.usage.Output, "output_tokens_details": object{"reasoning_tokens": 0}, "total_tokens": a.usage.Input + a.usage.Output,
		}
	}
	if status == "incomplete" {
		o["incomplete_details"] = object{"reason": a.reason("", "", "max_output_tokens", "content_filter")}
	}
	return o
}

func responsesWhole(r *Request, a answer) any {
	output := []object{}
	for _, it := range a.responsesItems() {
		output = append(output, it.whole)
	}
	return a.response(r, a.reason("completed", "completed", "incomplete", "incomplete"), output)
}

func responsesFrames(r *Request, a answer) (frames []frame) {
	add := func(kind string, data object) {
		data["type"], data["sequence_number"] = kind, len(frames)
		frames = append(frames, frame{kind, data})
	}
	add("response.created", object{"response": a.response(r, "in_progress", []object{})})
	add("response.in_progress", object{"response": a.response(r, "in_progress", []object{})})
	output := []object{}
	for i, it := range a.responsesItems() {
		add("response.output_item.added", object{"output_index": i, "item": it.start})
		for _, e := range it.events {
			data := e.data.(object)
			data["output_index"] = i
			add(e.event, data)
		}
		add("response.output_item.done", object{"output_index": i, "item": it.whole})
		output = append(output, it.whole)
	}
	status := a.reason("completed", "completed", "incomplete", "incomplete")
	add("response."+status, object{"response": a.response(r, status, output)})
	return frames
}
