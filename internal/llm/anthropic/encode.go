// Package anthropic implements the Messages API of Anthropic as a [wire.Codec]: it encodes requests and decodes answers.
package anthropic

import (
	"encoding/json"
	"net/http"

	"collie/internal/llm"
	"collie/internal/llm/wire"
)

// version is the API version that requests name.
const version = "2023-06-01"

// Codec returns the codec of the Messages API.
func Codec() *wire.Codec {
	return &wire.Codec{
		Kind: "anthropic", DefaultBaseURL: "https://api.anthropic.com", Version: "/v1",
		Authorize: func(h http.Header, key string) {
			h.Set("Anthropic-Version", version)
			if key != "" {
				h.Set("X-Api-Key", key)
			}
		},
		Encode: encode, Decode: newDecoder,
		ListPath: "/models?limit=1000", ReadList: readModelList,
	}
}

type object = map[string]any

type message struct {
	Role    string   `json:"role"`
	Content []object `json:"content"`
}

// opaque goes back with reasoning: the signature of readable reasoning, or reasoning in encrypted form.
type opaque struct {
	Signature string `json:"signature,omitempty"`
	Redacted  string `json:"redacted,omitempty"`
}

// encode returns the path below the base URL and the body of a request.
func encode(d *wire.Draft) (string, []byte, error) {
	body := object{"model": d.Model, "stream": true, "max_tokens": d.MaxOutput}
	var messages []message
	for _, m := range d.Messages {
		content, err := encodeParts(m)
		if err != nil {
			return "", nil, err
		}
		role := "user"
		if m.Role == llm.RoleAssistant {
			role = "assistant"
		}
		switch last := len(messages) - 1; {
		case len(content) == 0:
		case last >= 0 && messages[last].Role == role:
			messages[last].Content = append(messages[last].Content, content...)
		default:
			messages = append(messages, message{role, content})
		}
	}
	var tools []object
	for _, t := range d.Tools {
		tools = append(tools, object{"name": t.Name, "description": t.Description, "input_schema": t.Schema})
	}
	var system []object
	if d.System != "" {
		system = []object{{"type": "text", "text": d.System}}
	}
	if d.Style.CacheMarks {
		markForCache(tools, system, messages)
	}
	body["messages"] = messages
	if system != nil {
		body["system"] = system
	}
	if tools != nil {
		body["tools"] = tools
		if d.NoTools {
			body["tool_choice"] = object{"type": "none"}
		}
	}
	if len(d.Stop) > 0 {
		body["stop_sequences"] = d.Stop
	}
	thinks := requestReasoning(body, d)
	if d.Temperature != nil && d.Style.Sampling && !thinks {
		body["temperature"] = min(*d.Temperature, 1) // other APIs allow up to 2
	}
	raw, err := wire.Merge(body, d.Extra)
	return "/messages", raw, err
}

// effortTokens are the token numbers of the efforts, for models that need a number.
var effortTokens = map[llm.Effort]int{llm.EffortLow: 2048, llm.EffortMedium: 8192, llm.EffortHigh: 24576}

// requestReasoning asks for reasoning if the draft wants it, and reports whether it did.
func requestReasoning(body object, d *wire.Draft) bool {
	if d.Effort == "" || d.Effort == llm.EffortOff {
		return false
	}
	switch d.Style.Thinking {
	case wire.ThinkBudget:
		budget := effortTokens[d.Effort]
		body["thinking"] = object{"type": "enabled", "budget_tokens": budget}
		if d.MaxOutput <= budget {
			body["max_tokens"] = d.MaxOutput + budget // reasoning counts as output
		}
	case wire.ThinkAdaptive:
		body["thinking"] = object{"type": "adaptive"}
		body["output_config"] = object{"effort": d.Effort}
	default:
		return false
	}
	return true
}

// markForCache asks to cache everything up to the last tool, the system prompt and the last two user messages. A request may
// hold four marks.
func markForCache(tools, system []object, messages []message) {
	set := func(list []object) {
		if len(list) == 0 {
			return
		}
		last := list[len(list)-1]
		if kind := last["type"]; kind != "thinking" && kind != "redacted_thinking" {
			last["cache_control"] = object{"type": "ephemeral"}
		}
	}
	set(tools)
	set(system)
	for i, left := len(messages)-1, 2; i >= 0 && left > 0; i-- {
		if messages[i].Role == "user" {
			set(messages[i].Content)
			left--
		}
	}
}

// encodeParts encodes the parts of a message.
func encodeParts(m llm.Message) (content []object, err error) {
	for _, p := range m.Parts {
		switch p.Kind {
		case llm.PartText:
			if p.Text != "" {
				content = append(content, object{"type": "text", "text": p.Text})
			}
		case llm.PartReasoning:
			var o opaque
			switch _ = json.Unmarshal(p.Opaque, &o); {
			case o.Redacted != "":
				content = append(content, object{"type": "redacted_thinking", "data": o.Redacted})
			case o.Signature != "":
				content = append(content, object{"type": "thinking", "thinking": p.Text, "signature": o.Signature})
			}
		case llm.PartToolCall:
			content = append(content, object{"type": "tool_use", "id": p.Call, "name": p.Name, "input": wire.ArgsObject(p.Args)})
		case llm.PartToolResult:
			inner := []object{}
			if p.Text != "" {
				inner = append(inner, object{"type": "text", "text": p.Text})
			}
			for i := range p.Files {
				b, err := encodeFile(&p.Files[i])
				if err != nil {
					return nil, err
				}
				inner = append(inner, b)
			}
			b := object{"type": "tool_result", "tool_use_id": p.Call, "content": inner}
			if p.IsError {
				b["is_error"] = true
			}
			content = append(content, b)
		case llm.PartFile:
			b, err := encodeFile(p.File)
			if err != nil {
				return nil, err
			}
			content = append(content, b)
		}
	}
	return content, nil
}

func encodeFile(f *llm.File) (object, error) {
	source := object{"type": "base64", "media_type": f.MIME, "data": f.Data}
	switch wire.FileKind(f) {
	case wire.FileImage:
		return object{"type": "image", "source": source}, nil
	case wire.FilePDF:
		return object{"type": "document", "source": source, "title": f.Name}, nil
	case wire.FileText:
		return object{"type": "text", "text": wire.FileAsText(f)}, nil
	}
	return nil, wire.UnsupportedFileError(f)
}

// readModelList reads the answer to a request for the list of models.
func readModelList(body []byte) ([]wire.ListedModel, error) {
	var answer struct {
		Data []struct {
			ID     string `json:"id"`
			Input  int    `json:"max_input_tokens"`
			Output int    `json:"max_tokens"`
		} `json:"data"`
	}
	if err := json.Unmarshal(body, &answer); err != nil {
		return nil, err
	}
	var list []wire.ListedModel
	for _, m := range answer.Data {
		list = append(list, wire.ListedModel{ID: m.ID, Context: m.Input, Output: m.Output})
	}
	return list, nil
}
