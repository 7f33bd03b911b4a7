package provider

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
)

// gemini is Google's Gemini API. This file holds how its requests are read and its answers written.
var gemini = dialect{
	name: Gemini, tools: regexp.MustCompile(`^[a-zA-Z_][a-zA-Z0-9_.:-]{0,63}$`),
	read: geminiRead, whole: geminiWhole, frames: geminiFrames,
	counted: func(n int) any { return object{"totalTokens": n} },
	listed: func(models []string) any {
		list := []object{}
		for _, m := range models {
			list = append(list, object{
				"name": "models/" + m, "displayName": m, "version": "1", "inputTokenLimit": 1_000_000, "outputTokenLimit": 64_000,
				"supportedGenerationMethods": []string{"generateContent", "countTokens"},
			})
		}
		return object{"models": list}
	},
	problem: func(p problem) any { return geminiProblem(p) },
	broken:  func(p problem) frame { return frame{"", geminiProblem(p)} },
}

// refusedKeywords matches JSON Schema keywords that parameters must not contain; parametersJsonSchema may.
var refusedKeywords = regexp.MustCompile(`"(\$ref|\$defs|\$schema|additionalProperties|const|oneOf|allOf|exclusiveMinimum|exclusiveMaximum|patternProperties)"\s*:`)

// geminiPath splits …/models/MODEL:METHOD.
func geminiPath(path string) (model, method string, ok bool) {
	_, rest, ok := strings.Cut(path, "/models/")
	if !ok {
		return "", "", false
	}
	model, method, ok = strings.Cut(rest, ":")
	switch method {
	case "generateContent", "streamGenerateContent", "countTokens":
		return model, method, ok
	}
	return "", "", false
}

// geminiPart is a part of content. Unknown kinds are ignored.
type geminiPart struct {
	Text         string `json:"text"`
	Thought      bool   `json:"thought"`
	FunctionCall *struct {
		ID   string          `json:"id"`
		Name string          `json:"name"`
		Args json.RawMessage `json:"args"`
	} `json:"functionCall"`
	FunctionResponse *struct {
		ID       string          `json:"id"`
		Name     string          `json:"name"`
		Response json.RawMessage `json:"response"`
	} `json:"functionResponse"`
}

type geminiContent struct {
	Role  string       `json:"role"`
	Parts []geminiPart `json:"parts"`
}

func geminiRead(r *Request) error {
	var body struct {
		Contents []geminiContent `json:"contents"`
		System   geminiContent   `json:"systemInstruction"`
		Tools    []struct {
			Functions []struct {
				Name        string          `json:"name"`
				Description string          `json:"description"`
				Parameters  json.RawMessage `json:"parameters"`
				JSONSchema  json.RawMessage `json:"parametersJsonSchema"`
			} `json:"functionDeclarations"`
		} `json:"tools"`
	}
	if err := json.Unmarshal(r.Body, &body); err != nil {
		return err
	}
	r.System = geminiMessage(body.System).Text
	for _, t := range body.Tools {
		for _, f := range t.Functions {
			if len(f.Parameters) > 0 && len(f.JSONSchema) > 0 {
				return fmt.Errorf("tools: %s has both parameters and parametersJsonSchema", f.Name)
			}
			if word := refusedKeywords.FindSubmatch(f.Parameters); word != nil {
				return fmt.Errorf("Invalid JSON payload received. Unknown name %q at 'tools[0].function_declarations[0].parameters': Cannot find field.", word[1]) //nolint:staticcheck // the provider's own words
			}
			r.Tools = append(r.Tools, Tool{Name: f.Name, Description: f.Description, Schema: append(f.Parameters, f.JSONSchema...)})
		}
	}
	for i, c := range body.Contents {
		m := geminiMessage(c)
		switch c.Role {
		case "user", "function", "":
			m.Role = User
		case "model":
			m.Role = Model
		default:
			return fmt.Errorf("contents[%d].role: %q is neither user nor model", i, c.Role)
		}
		r.Messages = append(r.Messages, m)
	}
	return nil
}

func geminiMessage(c geminiContent) (m Message) {
	var texts []string
	for _, p := range c.Parts {
		switch {
		case p.FunctionCall != nil:
			m.Calls = append(m.Calls, PastCall{ID: p.FunctionCall.ID, Name: p.FunctionCall.Name, Args: p.FunctionCall.Args})
		case p.FunctionResponse != nil:
			m.Results = append(m.Results, Result{ID: p.FunctionResponse.ID, Name: p.FunctionResponse.Name, Text: string(p.FunctionResponse.Response)})
		case p.Text != "" && !p.Thought:
			texts = append(texts, p.Text)
		}
	}
	m.Text = strings.Join(texts, "\n")
	return m
}

// geminiParts returns the answer; if streamed is set, text is cut into pieces.
func (a answer) geminiParts(streamed bool) (parts []object) {
	texts := func(text string) []string {
		if streamed || text == "" {
			return a.pieces(text)
		}
		return []string{text}
	}
	for _, p := range texts(a.think) {
		parts = append(parts, object{"text": p, "thought": true})
	}
	for _, p := range texts(a.say) {
		parts = append(parts, object{"text": p})
	}
	for i, c := range a.calls {
		part := object{"functionCall": object{"id": c.id, "name": c.name, "args": c.object()}}
		if i == 0 { // only the first of several calls is signed
			part["thoughtSignature"] = "c2lnbmVk"
		}
		parts = append(parts, part)
	}
	if len(parts) == 0 {
		parts = append(parts, object{"text": ""})
	}
	return parts
}

func (a answer) geminiChunk(r *Request, parts []object, last bool) object {
	candidate := object{"index": 0, "content": object{"role": "model", "parts": parts}}
	if last {
		candidate["finishReason"] = a.reason("STOP", "STOP", "MAX_TOKENS", "SAFETY")
	}
	return object{
		"candidates": []object{candidate}, "modelVersion": r.Model, "responseId": a.id,
		"usageMetadata": object{
			"promptTokenCount": a.usage.Input, "candidatesTokenCount": a.usage.Output,
			"totalTokenCount": a.usage.Input + a.usage.Output, "cachedContentTokenCount": a.usage.Cached,
		},
	}
}

func geminiWhole(r *Request, a answer) any { return a.geminiChunk(r, a.geminiParts(false), true) }

func geminiFrames(r *Request, a answer) (frames []frame) {
	parts := a.geminiParts(true)
	for i, p := range parts {
		frames = append(frames, frame{"", a.geminiChunk(r, []object{p}, i == len(parts)-1)})
	}
	return frames
}

func geminiProblem(p problem) object {
	status := map[int]string{
		400: "INVALID_ARGUMENT", 401: "UNAUTHENTICATED", 403: "PERMISSION_DENIED", 404: "NOT_FOUND",
		429: "RESOURCE_EXHAUSTED", 503: "UNAVAILABLE", 504: "DEADLINE_EXCEEDED",
	}[p.status]
	return object{"error": object{"code": p.status, "message": p.message, "status": orDefault(p.kind, orDefault(status, "INTERNAL"))}}
}
