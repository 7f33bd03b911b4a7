// Package ollama implements Ollama's own API as a [wire.Codec]. Unlike Ollama's OpenAI-compatible API, it sets the context
// length with which a model is loaded.
package ollama

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"

	"collie/internal/llm"
	"collie/internal/llm/wire"
)

// Codec returns the codec of Ollama's API.
func Codec() *wire.Codec {
	return &wire.Codec{
		Kind: "ollama", DefaultBaseURL: "http://127.0.0.1:11434", Version: "/api", JSONLines: true,
		Authorize: func(h http.Header, key string) {
			if key != "" {
				h.Set("Authorization", "Bearer "+key)
			}
		},
		Encode: encode, Decode: func(names map[string]string) wire.Decoder { return &decoder{answer: wire.Answer{Names: names}} },
		ListPath: "/tags", ReadList: readModelList, SetsContext: true, DescribePath: "/show", ReadDescription: readDescription,
	}
}

type object = map[string]any

type message struct {
	Role     string   `json:"role"`
	Content  string   `json:"content"`
	Thinking string   `json:"thinking,omitempty"`
	Images   [][]byte `json:"images,omitempty"`
	Calls    []object `json:"tool_calls,omitempty"`
	ToolName string   `json:"tool_name,omitempty"`
	CallID   string   `json:"tool_call_id,omitempty"`
}

// encode returns the path below the base URL and the body of a request.
func encode(d *wire.Draft) (string, []byte, error) {
	body := object{"model": d.Model, "stream": true}
	messages := []message{}
	if d.System != "" {
		messages = append(messages, message{Role: "system", Content: d.System})
	}
	for _, m := range d.Messages {
		var err error
		if messages, err = appendMessages(messages, m); err != nil {
			return "", nil, err
		}
	}
	body["messages"] = messages
	if len(d.Tools) > 0 && !d.NoTools { // the API has no other way to forbid calls
		var tools []object
		for _, t := range d.Tools {
			tools = append(tools, object{"type": "function", "function": object{"name": t.Name, "description": t.Description, "parameters": t.Schema}})
		}
		body["tools"] = tools
	}
	switch off := d.Effort == llm.EffortOff; {
	case d.Effort == "":
	case d.Style.Thinking == wire.ThinkSwitch:
		body["think"] = !off
	case d.Style.Thinking == wire.ThinkEffort && off:
		body["think"] = d.Style.ThinkOff
	case d.Style.Thinking == wire.ThinkEffort:
		body["think"] = d.Effort
	}
	options := object{}
	if d.Style.Context > 0 {
		options["num_ctx"] = d.Style.Context
	}
	if d.MaxOutput > 0 {
		options["num_predict"] = d.MaxOutput
	}
	if d.Temperature != nil {
		options["temperature"] = *d.Temperature
	}
	if len(d.Stop) > 0 {
		options["stop"] = d.Stop
	}
	body["options"] = options
	raw, err := wire.Merge(body, d.Extra)
	return "/chat", raw, err
}

// appendMessages appends m to the list; tool results become a message each.
func appendMessages(to []message, m llm.Message) ([]message, error) {
	out := message{Role: string(m.Role)}
	for _, p := range m.Parts {
		switch p.Kind {
		case llm.PartText:
			out.Content += p.Text
		case llm.PartReasoning:
			out.Thinking += p.Text
		case llm.PartToolCall:
			out.Calls = append(out.Calls, object{"id": p.Call, "function": object{"name": p.Name, "arguments": wire.ArgsObject(p.Args)}})
		case llm.PartToolResult:
			text := p.Text
			if p.IsError && !strings.HasPrefix(text, "Error") {
				text = "Error: " + text
			}
			to = append(to, message{Role: "tool", Content: text, ToolName: p.Name, CallID: p.Call})
		case llm.PartFile:
			switch wire.FileKind(p.File) {
			case wire.FileImage:
				out.Images = append(out.Images, p.File.Data)
			case wire.FileText:
				out.Content += "\n" + wire.FileAsText(p.File)
			default:
				return nil, wire.UnsupportedFileError(p.File)
			}
		}
	}
	if m.Role == llm.RoleTool {
		return to, nil
	}
	return append(to, out), nil
}

// readModelList reads the answer to a request for the list of models.
func readModelList(body []byte) ([]wire.ListedModel, error) {
	var answer struct {
		Models []struct {
			Name string `json:"name"`
		} `json:"models"`
	}
	if err := json.Unmarshal(body, &answer); err != nil {
		return nil, err
	}
	var list []wire.ListedModel
	for _, m := range answer.Models {
		list = append(list, wire.ListedModel{ID: m.Name})
	}
	return list, nil
}

// readDescription reads a model's capabilities and the length of its context. The field for the length begins with the
// name of the model's architecture.
func readDescription(body []byte, m *wire.ListedModel) error {
	var answer struct {
		Abilities []string                   `json:"capabilities"`
		Info      map[string]json.RawMessage `json:"model_info"`
	}
	if err := json.Unmarshal(body, &answer); err != nil {
		return err
	}
	for name, v := range answer.Info {
		if strings.HasSuffix(name, ".context_length") {
			_ = json.Unmarshal(v, &m.Context) // an unknown form is ignored
		}
	}
	m.Described = answer.Abilities != nil
	m.Tools, m.Images = slices.Contains(answer.Abilities, "tools"), slices.Contains(answer.Abilities, "vision")
	m.Reasoning = slices.Contains(answer.Abilities, "thinking")
	return nil
}
