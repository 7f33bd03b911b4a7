// Package responses implements the Responses API of OpenAI as a [wire.Codec]. The provider stores nothing: reasoning
// travels encrypted in the conversation.
package responses

import (
	"encoding/base64"
	"encoding/json"
	"net/http"
	"strings"

	"collie/internal/llm"
	"collie/internal/llm/wire"
)

// Codec returns the codec of the Responses API.
func Codec() *wire.Codec {
	return &wire.Codec{
		Kind: "responses", DefaultBaseURL: "https://api.openai.com", Version: "/v1", VersionAtRootOnly: true,
		Authorize: func(h http.Header, key string) {
			if key != "" {
				h.Set("Authorization", "Bearer "+key)
			}
		},
		Encode: encode, Decode: func(names map[string]string) wire.Decoder { return &decoder{answer: wire.Answer{Names: names}} },
		ListPath: "/models", ReadList: readModelList,
	}
}

type object = map[string]any

// encode returns the path below the base URL and the body of a request.
func encode(d *wire.Draft) (string, []byte, error) {
	body := object{"model": d.Model, "stream": true, "store": false}
	if d.System != "" {
		body["instructions"] = d.System
	}
	items := []any{}
	for _, m := range d.Messages {
		var err error
		if items, err = appendItems(items, m); err != nil {
			return "", nil, err
		}
	}
	body["input"] = items
	if len(d.Tools) > 0 {
		var tools []object
		for _, t := range d.Tools {
			tools = append(tools, object{"type": "function", "name": t.Name, "description": t.Description, "parameters": t.Schema, "strict": false})
		}
		body["tools"] = tools
		if d.NoTools {
			body["tool_choice"] = "none"
		}
	}
	if d.MaxOutput > 0 {
		body["max_output_tokens"] = max(d.MaxOutput, 16) // less is refused
	}
	if d.Temperature != nil && d.Style.Sampling {
		body["temperature"] = *d.Temperature
	}
	if d.Session != "" {
		body["prompt_cache_key"] = d.Session
	}
	if d.Style.Thinking != "" {
		body["include"] = []string{"reasoning.encrypted_content"}
		effort := string(d.Effort)
		if d.Effort == llm.EffortOff {
			effort = d.Style.ThinkOff
		}
		if effort != "" {
			body["reasoning"] = object{"effort": effort, "summary": "auto"}
		}
	}
	raw, err := wire.Merge(body, d.Extra)
	return "/responses", raw, err
}

// appendItems appends the items that m consists of.
func appendItems(items []any, m llm.Message) ([]any, error) {
	switch m.Role {
	case llm.RoleUser:
		content, err := encodeParts(m.Parts)
		if err != nil {
			return nil, err
		}
		return append(items, object{"type": "message", "role": "user", "content": content}), nil
	case llm.RoleTool:
		for _, p := range m.Parts {
			text := p.Text
			if p.IsError && !strings.HasPrefix(text, "Error") {
				text = "Error: " + text
			}
			var output any = text
			if len(p.Files) > 0 {
				content := []llm.Part{{Kind: llm.PartText, Text: text}}
				for i := range p.Files {
					content = append(content, llm.Part{Kind: llm.PartFile, File: &p.Files[i]})
				}
				var err error
				if output, err = encodeParts(content); err != nil {
					return nil, err
				}
			}
			items = append(items, object{"type": "function_call_output", "call_id": p.Call, "output": output})
		}
		return items, nil
	}
	for _, p := range m.Parts {
		switch p.Kind {
		case llm.PartText:
			if p.Text != "" {
				items = append(items, object{"type": "message", "role": "assistant", "content": []object{{"type": "output_text", "text": p.Text}}})
			}
		case llm.PartReasoning:
			if p.Opaque != nil {
				items = append(items, p.Opaque)
			}
		case llm.PartToolCall:
			items = append(items, object{"type": "function_call", "call_id": p.Call, "name": p.Name, "arguments": string(wire.ArgsObject(p.Args))})
		}
	}
	return items, nil
}

// encodeParts encodes texts and files. Parts of other kinds are left out.
func encodeParts(list []llm.Part) ([]object, error) {
	out := []object{}
	for _, p := range list {
		if p.Kind == llm.PartText {
			out = append(out, object{"type": "input_text", "text": p.Text})
		}
		if p.Kind != llm.PartFile {
			continue
		}
		f := p.File
		switch url := "data:" + f.MIME + ";base64," + base64.StdEncoding.EncodeToString(f.Data); wire.FileKind(f) {
		case wire.FileImage:
			out = append(out, object{"type": "input_image", "image_url": url, "detail": "auto"})
		case wire.FilePDF:
			out = append(out, object{"type": "input_file", "filename": f.Name, "file_data": url})
		case wire.FileText:
			out = append(out, object{"type": "input_text", "text": wire.FileAsText(f)})
		default:
			return nil, wire.UnsupportedFileError(f)
		}
	}
	return out, nil
}

// readModelList reads the answer to a request for the list of models.
func readModelList(body []byte) ([]wire.ListedModel, error) {
	var answer struct {
		Data []struct {
			ID string `json:"id"`
		} `json:"data"`
	}
	if err := json.Unmarshal(body, &answer); err != nil {
		return nil, err
	}
	var list []wire.ListedModel
	for _, m := range answer.Data {
		list = append(list, wire.ListedModel{ID: m.ID})
	}
	return list, nil
}
