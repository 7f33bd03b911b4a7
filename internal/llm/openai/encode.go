// Package openai implements the chat completions API of OpenAI, and of the many servers compatible with it, as a
// [wire.Codec]. Servers deviate in details, so decoding accepts everything whose meaning is clear.
package openai

import (
	"encoding/base64"
	"encoding/json"
	"net/http"
	"strings"

	"collie/internal/llm"
	"collie/internal/llm/wire"
)

// Codec returns the codec of chat completions.
func Codec() *wire.Codec {
	return &wire.Codec{
		Kind: "openai", DefaultBaseURL: "https://api.openai.com", Version: "/v1", VersionAtRootOnly: true,
		Authorize: setBearer, Encode: encode,
		Decode:   func(names map[string]string) wire.Decoder { return &decoder{answer: wire.Answer{Names: names}} },
		ListPath: "/models", ReadList: readModelList, InfoPages: []wire.InfoPage{{Path: "/api/v0/models", Read: readLMStudio}, {Path: "/props", Read: readLlamaCpp}},
	}
}

// setBearer sets the Authorization header.
func setBearer(h http.Header, key string) {
	if key != "" {
		h.Set("Authorization", "Bearer "+key)
	}
}

type object = map[string]any

type message struct {
	Role       string `json:"role"`
	Content    any    `json:"content"`
	ToolCalls  []call `json:"tool_calls,omitempty"`
	ToolCallID string `json:"tool_call_id,omitempty"`
	// reasoning is encoded as the member that field names.
	reasoning string
	details   json.RawMessage
	field     string
}

// MarshalJSON implements [json.Marshaler].
func (m message) MarshalJSON() ([]byte, error) {
	type plain message
	extra := map[string]json.RawMessage{}
	if m.reasoning != "" && m.field != "" {
		extra[m.field], _ = json.Marshal(m.reasoning)
	}
	if m.details != nil {
		extra["reasoning_details"] = m.details
	}
	return wire.Merge(plain(m), extra)
}

type call struct {
	ID       string   `json:"id"`
	Type     string   `json:"type"`
	Function function `json:"function"`
}

type function struct {
	Name string `json:"name"`
	Args string `json:"arguments"`
}

// opaque holds data of a provider that has to be sent back with its reasoning.
type opaque struct {
	Details json.RawMessage `json:"reasoning_details,omitempty"`
}

// encode returns the path below the base URL and the body of a request.
func encode(d *wire.Draft) (string, []byte, error) {
	body := object{"model": d.Model, "stream": true, "stream_options": object{"include_usage": true}}
	var messages []message
	if d.System != "" {
		messages = append(messages, message{Role: d.Style.SystemRole, Content: d.System})
	}
	for _, m := range d.Messages {
		var err error
		if messages, err = appendMessages(messages, m, d); err != nil {
			return "", nil, err
		}
	}
	if d.Style.CacheMarks {
		markForCache(messages)
	}
	body["messages"] = messages
	if len(d.Tools) > 0 {
		var tools []object
		for _, t := range d.Tools {
			tools = append(tools, object{"type": "function", "function": object{"name": t.Name, "description": t.Description, "parameters": t.Schema}})
		}
		body["tools"] = tools
		if d.NoTools {
			body["tool_choice"] = "none"
		}
	}
	if d.MaxOutput > 0 {
		body[d.Style.MaxOutputField] = d.MaxOutput
	}
	if d.Temperature != nil && d.Style.Sampling {
		body["temperature"] = *d.Temperature
	}
	if len(d.Stop) > 0 {
		body["stop"] = d.Stop
	}
	requestReasoning(body, d)
	raw, err := wire.Merge(body, d.Extra)
	return "/chat/completions", raw, err
}

// requestReasoning sets the fields that ask for reasoning, in the style of the provider.
func requestReasoning(body object, d *wire.Draft) {
	effort := string(d.Effort)
	if effort == "" {
		return
	}
	off := d.Effort == llm.EffortOff
	if off {
		effort = d.Style.ThinkOff
	}
	switch d.Style.Thinking {
	case wire.ThinkEffort:
		if effort != "" {
			body["reasoning_effort"] = effort
		}
	case wire.ThinkNested:
		if off {
			body["reasoning"] = object{"enabled": false}
		} else {
			body["reasoning"] = object{"effort": effort}
		}
	case wire.ThinkSwitch:
		body["thinking"] = object{"type": map[bool]string{true: "disabled", false: "enabled"}[off]}
	}
}

// appendMessages appends m to the list; tool results become a message each.
func appendMessages(to []message, m llm.Message, d *wire.Draft) ([]message, error) {
	switch m.Role {
	case llm.RoleUser:
		content, err := encodeParts(m.Parts)
		if err != nil {
			return nil, err
		}
		return append(to, message{Role: "user", Content: content}), nil
	case llm.RoleTool:
		for _, p := range m.Parts {
			text := p.Text
			if p.IsError && !strings.HasPrefix(text, "Error") {
				text = "Error: " + text
			}
			to = append(to, message{Role: "tool", ToolCallID: p.Call, Content: text})
		}
		return to, nil
	}
	out := message{Role: "assistant", field: d.Style.KeepReasoning}
	var text strings.Builder
	for _, p := range m.Parts {
		switch p.Kind {
		case llm.PartText:
			text.WriteString(p.Text)
		case llm.PartReasoning:
			out.reasoning += p.Text
			var o opaque
			if json.Unmarshal(p.Opaque, &o) == nil && o.Details != nil {
				out.details = o.Details
			}
		case llm.PartToolCall:
			out.ToolCalls = append(out.ToolCalls, call{ID: p.Call, Type: "function", Function: function{p.Name, string(wire.ArgsObject(p.Args))}})
		}
	}
	if text.Len() > 0 || len(out.ToolCalls) == 0 {
		out.Content = text.String()
	}
	return append(to, out), nil
}

// encodeParts encodes content, as a plain string if it is a single text.
func encodeParts(from []llm.Part) (any, error) {
	if len(from) == 1 && from[0].Kind == llm.PartText {
		return from[0].Text, nil
	}
	var out []object
	for _, p := range from {
		if p.Kind == llm.PartText {
			out = append(out, object{"type": "text", "text": p.Text})
			continue
		}
		if p.Kind != llm.PartFile {
			continue
		}
		switch kind, f := wire.FileKind(p.File), p.File; kind {
		case wire.FileImage:
			out = append(out, object{"type": "image_url", "image_url": object{"url": dataURL(f)}})
		case wire.FileText:
			out = append(out, object{"type": "text", "text": wire.FileAsText(f)})
		case wire.FilePDF:
			out = append(out, object{"type": "file", "file": object{"filename": f.Name, "file_data": dataURL(f)}})
		default:
			return nil, wire.UnsupportedFileError(f)
		}
	}
	return out, nil
}

// dataURL encodes a file as a data: URL.
func dataURL(f *llm.File) string {
	return "data:" + f.MIME + ";base64," + base64.StdEncoding.EncodeToString(f.Data)
}

// markForCache asks providers behind a router to cache the system prompt and the last two user messages.
func markForCache(messages []message) {
	left := 2
	for i := len(messages) - 1; i >= 0; i-- {
		m := &messages[i]
		text, ok := m.Content.(string)
		switch {
		case !ok || text == "":
			continue
		case m.Role == "user" && left > 0:
			left--
		case m.Role != "system":
			continue
		}
		m.Content = []object{{"type": "text", "text": text, "cache_control": object{"type": "ephemeral"}}}
	}
}

// readModelList reads the answer to a request for the list of models, as OpenAI sends it and as servers with more details do.
func readModelList(body []byte) ([]wire.ListedModel, error) {
	var answer struct {
		Data []struct {
			ID            string `json:"id"`
			ContextLength int    `json:"context_length"` // OpenRouter and others
			MaxModelLen   int    `json:"max_model_len"`  // vLLM
			MaxContext    int    `json:"max_context_length"`
			Meta          struct {
				Context int `json:"n_ctx"` // llama.cpp
				Train   int `json:"n_ctx_train"`
			} `json:"meta"`
			TopProvider struct {
				Output int `json:"max_completion_tokens"`
			} `json:"top_provider"`
		} `json:"data"`
	}
	if err := json.Unmarshal(body, &answer); err != nil {
		return nil, err
	}
	var list []wire.ListedModel
	for _, m := range answer.Data {
		l := wire.ListedModel{ID: m.ID, Output: m.TopProvider.Output}
		for _, n := range []int{m.Meta.Train, m.Meta.Context, m.MaxContext, m.MaxModelLen, m.ContextLength} {
			if n > 0 {
				l.Context = n
			}
		}
		list = append(list, l)
	}
	return list, nil
}
