// Package gemini implements the Gemini API of Google as a [wire.Codec]: it encodes requests and decodes answers.
package gemini

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"collie/internal/llm"
	"collie/internal/llm/wire"
)

// Codec returns the codec of the Gemini API.
func Codec() *wire.Codec {
	return &wire.Codec{
		Kind: "gemini", DefaultBaseURL: "https://generativelanguage.googleapis.com", Version: "/v1beta",
		Authorize: func(h http.Header, key string) {
			if key != "" {
				h.Set("X-Goog-Api-Key", key)
			}
		},
		Encode: encode, Decode: func(names map[string]string) wire.Decoder { return &decoder{answer: wire.Answer{Names: names}} },
		ListPath: "/models?pageSize=1000", ReadList: readModelList,
	}
}

type object = map[string]any

type content struct {
	Role  string   `json:"role"`
	Parts []object `json:"parts"`
}

// opaque holds the signature that Gemini sent with a part and wants back with it.
type opaque struct {
	Signature string `json:"thoughtSignature"`
}

// placeholderSignature is the signature that Google documents for calls which another model made. Gemini 3 refuses calls without
// any.
const placeholderSignature = "skip_thought_signature_validator"

// encode returns the path below the base URL and the body of a request.
func encode(d *wire.Draft) (string, []byte, error) {
	body := object{}
	if d.System != "" {
		body["systemInstruction"] = object{"parts": []object{{"text": d.System}}}
	}
	var contents []content
	for _, m := range d.Messages {
		parts, err := encodeParts(m, d)
		if err != nil {
			return "", nil, err
		}
		role := "user"
		if m.Role == llm.RoleAssistant {
			role = "model"
		}
		switch last := len(contents) - 1; {
		case len(parts) == 0:
		case last >= 0 && contents[last].Role == role:
			contents[last].Parts = append(contents[last].Parts, parts...)
		default:
			contents = append(contents, content{role, parts})
		}
	}
	body["contents"] = contents
	if len(d.Tools) > 0 {
		var functions []object
		for _, t := range d.Tools {
			f := object{"name": t.Name, "description": t.Description}
			if t.Schema != nil {
				f["parameters"] = t.Schema
			}
			functions = append(functions, f)
		}
		body["tools"] = []object{{"functionDeclarations": functions}}
		if d.NoTools {
			body["toolConfig"] = object{"functionCallingConfig": object{"mode": "NONE"}}
		}
	}
	if config := generationConfig(d); len(config) > 0 {
		body["generationConfig"] = config
	}
	raw, err := wire.Merge(body, d.Extra)
	return "/models/" + url.PathEscape(strings.TrimPrefix(d.Model, "models/")) + ":streamGenerateContent?alt=sse", raw, err
}

// budgets are the thinking tokens for each effort, for models that take a number.
var budgets = map[llm.Effort]int{llm.EffortLow: 2048, llm.EffortMedium: 8192, llm.EffortHigh: 24576}

// generationConfig returns the generationConfig of a request: limits, sampling, and how much the model thinks.
func generationConfig(d *wire.Draft) object {
	c := object{}
	if d.MaxOutput > 0 {
		c["maxOutputTokens"] = d.MaxOutput
	}
	if d.Temperature != nil {
		c["temperature"] = *d.Temperature
	}
	if len(d.Stop) > 0 {
		c["stopSequences"] = d.Stop
	}
	off := d.Effort == llm.EffortOff
	think := object{}
	switch d.Style.Thinking {
	case wire.ThinkBudget:
		think["includeThoughts"] = !off
		if off {
			think["thinkingBudget"], _ = strconv.Atoi(d.Style.ThinkOff)
		} else if d.Effort != "" {
			think["thinkingBudget"] = budgets[d.Effort]
		}
	case wire.ThinkEffort:
		think["includeThoughts"] = !off
		if level := d.Effort; off {
			think["thinkingLevel"] = d.Style.ThinkOff
		} else if level == llm.EffortMedium && strings.Contains(d.Model, "-pro") {
			think["thinkingLevel"] = llm.EffortHigh // these models know low and high only
		} else if level != "" {
			think["thinkingLevel"] = level
		}
	}
	if len(think) > 0 {
		c["thinkingConfig"] = think
	}
	return c
}

// encodeParts encodes the parts of a message.
func encodeParts(m llm.Message, d *wire.Draft) (parts []object, err error) {
	signed := false
	for _, p := range m.Parts {
		var o opaque
		_ = json.Unmarshal(p.Opaque, &o)
		switch p.Kind {
		case llm.PartText:
			if p.Text != "" {
				parts = append(parts, object{"text": p.Text})
			}
		case llm.PartReasoning: // only the signature of reasoning goes back
			if o.Signature != "" {
				parts = append(parts, object{"text": "", "thoughtSignature": o.Signature})
			}
		case llm.PartToolCall:
			part := object{"functionCall": object{"id": p.Call, "name": p.Name, "args": wire.ArgsObject(p.Args)}}
			if o.Signature != "" {
				part["thoughtSignature"] = o.Signature
			} else if !signed && d.Style.Thinking == wire.ThinkEffort {
				part["thoughtSignature"] = placeholderSignature
			}
			signed = true // only the first of parallel calls has a signature
			parts = append(parts, part)
		case llm.PartToolResult:
			key := "output"
			if p.IsError {
				key = "error"
			}
			r := object{"id": p.Call, "name": p.Name, "response": object{key: p.Text}}
			var files []object
			for i := range p.Files {
				f, err := encodeFile(&p.Files[i])
				if err != nil {
					return nil, err
				}
				files = append(files, f)
			}
			if files != nil {
				r["parts"] = files
			}
			parts = append(parts, object{"functionResponse": r})
		case llm.PartFile:
			f, err := encodeFile(p.File)
			if err != nil {
				return nil, err
			}
			parts = append(parts, f)
		}
	}
	return parts, nil
}

func encodeFile(f *llm.File) (object, error) {
	switch wire.FileKind(f) {
	case wire.FileImage, wire.FilePDF:
		return object{"inlineData": object{"mimeType": f.MIME, "data": f.Data}}, nil
	case wire.FileText:
		return object{"text": wire.FileAsText(f)}, nil
	}
	return nil, wire.UnsupportedFileError(f)
}

// readModelList reads the answer to a request for the list of models.
func readModelList(body []byte) ([]wire.ListedModel, error) {
	var answer struct {
		Models []struct {
			Name    string   `json:"name"`
			Input   int      `json:"inputTokenLimit"`
			Output  int      `json:"outputTokenLimit"`
			Methods []string `json:"supportedGenerationMethods"`
		} `json:"models"`
	}
	if err := json.Unmarshal(body, &answer); err != nil {
		return nil, err
	}
	var list []wire.ListedModel
	for _, m := range answer.Models {
		if len(m.Methods) == 0 || strings.Contains(strings.Join(m.Methods, " "), "generateContent") {
			list = append(list, wire.ListedModel{ID: strings.TrimPrefix(m.Name, "models/"), Context: m.Input, Output: m.Output})
		}
	}
	return list, nil
}
