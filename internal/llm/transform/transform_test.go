package transform_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"collie/internal/llm"
	"collie/internal/llm/codec"
	"collie/internal/llm/models"
	"collie/internal/llm/transform"
	"collie/internal/llm/wire"
)

func newDraft(t *testing.T, o transform.Options, r *llm.Request) *wire.Draft {
	t.Helper()
	o.Model = models.Find(o.BaseURL, o.ID)
	d, err := transform.New(time.Now).Draft(o, r)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// encodeBody returns the body of the HTTP request for r.
func encodeBody(t *testing.T, o transform.Options, r *llm.Request) string {
	t.Helper()
	_, raw, err := codec.For(o.Kind).Encode(newDraft(t, o, r))
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

func newMessage(role llm.Role, parts ...llm.Part) llm.Message {
	return llm.Message{Role: role, Parts: parts}
}

func textPart(s string) llm.Part { return llm.Part{Kind: llm.PartText, Text: s} }

// TestKept checks that a chain is cached for ten minutes and that at most 256 are cached.
func TestKept(t *testing.T) {
	t.Parallel()
	now := time.Unix(0, 0)
	chains := transform.New(func() time.Time { return now })
	ask := func(model string) {
		t.Helper()
		if _, err := chains.Draft(transform.Options{Kind: "openai", ID: model}, &llm.Request{}); err != nil {
			t.Fatal(err)
		}
	}
	for range 5 {
		ask("a")
	}
	now = now.Add(9 * time.Minute)
	if ask("a"); chains.Stats().Built != 1 {
		t.Errorf("compiled %d times within ten minutes", chains.Stats().Built)
	}
	now = now.Add(time.Minute)
	if ask("a"); chains.Stats().Built != 2 {
		t.Errorf("compiled %d times, want again after ten minutes", chains.Stats().Built)
	}
	for i := range 300 {
		ask(fmt.Sprint(i))
	}
	if n := chains.Clear(); n != 256 {
		t.Errorf("%d are kept", n)
	}
}

// TestNames checks that names which are invalid, too long or equal after conversion become valid and unique, in the same way
// each time, and that they can be converted back.
func TestNames(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("n", 80)
	ours := []string{"fine", "a.b", "a b", "a_b", "日本", long + "1", long + "2", "1st"}
	r := &llm.Request{Messages: []llm.Message{
		newMessage(llm.RoleUser, textPart("hi")), newMessage(llm.RoleAssistant, llm.Part{Kind: llm.PartToolCall, Call: "1", Name: "a.b"}, llm.Part{Kind: llm.PartToolCall, Call: "2", Name: "gone.tool"}),
	}}
	for _, n := range ours {
		r.Tools = append(r.Tools, llm.Tool{Name: n})
	}
	d := newDraft(t, transform.Options{Kind: "openai", ID: "m"}, r)
	seen := map[string]bool{}
	for i, tool := range d.Tools {
		back := tool.Name
		if n, ok := d.Names[tool.Name]; ok {
			back = n
		}
		if !wire.ValidID(tool.Name, 64) || seen[tool.Name] || back != ours[i] {
			t.Errorf("%q is called %q, which comes back as %q", ours[i], tool.Name, back)
		}
		seen[tool.Name] = true
	}
	if d.Tools[0].Name != "fine" || d.Tools[3].Name != "a_b" || d.Messages[1].Parts[0].Name != d.Tools[1].Name || d.Messages[1].Parts[1].Name != "gone_tool" {
		t.Errorf("names are %+v, %+v", d.Tools, d.Messages[1])
	}
	if again := newDraft(t, transform.Options{Kind: "openai", ID: "m"}, r); !cmp.Equal(again.Tools, d.Tools) {
		t.Error("other names the second time")
	}
}

// TestPairs checks that each call gets exactly one result after it, that results without a call are dropped, that invalid ids
// are replaced, and that opaque data of another provider is not sent.
func TestPairs(t *testing.T) {
	t.Parallel()
	r := &llm.Request{Messages: []llm.Message{
		newMessage(llm.RoleUser, textPart("hi"), llm.Part{Kind: llm.PartNotice, Text: "for people"}),
		newMessage(llm.RoleAssistant,
			llm.Part{Kind: llm.PartReasoning, Text: "hm", Provider: "other", Opaque: json.RawMessage(`{"signature":"x"}`)},
			llm.Part{Kind: llm.PartToolCall, Call: "1", Name: "a", Args: "{}"},
			llm.Part{Kind: llm.PartToolCall, Call: "bad id!", Name: "b", Args: "{}"}),
		newMessage(llm.RoleTool, llm.Part{Kind: llm.PartToolResult, Call: "bad id!", Text: "B"}, llm.Part{Kind: llm.PartToolResult, Call: "nobody's", Text: "?"}),
		newMessage(llm.RoleUser, textPart("and?")),
	}}
	before := fmt.Sprintf("%+v", r)
	d := newDraft(t, transform.Options{Provider: "p", Kind: "anthropic", ID: "m"}, r)
	if after := fmt.Sprintf("%+v", r); after != before {
		t.Error("the request was changed")
	}
	results := d.Messages[2].Parts
	if len(d.Messages) != 4 || len(d.Messages[0].Parts) != 1 || len(results) != 2 || results[0].Call != "1" || !results[0].IsError || results[1].Text != "B" {
		t.Fatalf("messages are %+v", d.Messages)
	}
	if id := d.Messages[1].Parts[2].Call; !wire.ValidID(id, 40) || id != results[1].Call {
		t.Errorf("the id is %q", id)
	}
	if d.Messages[1].Parts[0].Opaque != nil {
		t.Error("what is another provider's went along")
	}
	if raw := encodeBody(t, transform.Options{Provider: "p", Kind: "anthropic", ID: "m"}, r); strings.Contains(raw, "thinking") {
		t.Errorf("unsigned thoughts went along: %s", raw)
	}
}

// TestSchemas checks that keywords which Gemini refuses are converted or left out, that references are resolved, and that
// other APIs get what they accept.
func TestSchemas(t *testing.T) {
	t.Parallel()
	const schema = `{"type":"object","$schema":"x","additionalProperties":false,"required":["at","gone"],"$defs":{"Nothing":{"type":"null"},"Node":{"type":"object","properties":{"next":{"$ref":"#/$defs/Node"},"n":{"type":"integer","exclusiveMinimum":0}}}},
		"properties":{"at":{"anyOf":[{"type":"string","format":"uri"},{"type":"null"}],"description":"where"},"kind":{"const":"a"},"level":{"enum":[1,2]},"many":{"type":["array","null"]},"node":{"$ref":"#/$defs/Node"},
		"either":{"oneOf":[{"type":"string"},{"type":"integer"}]},"orNull":{"anyOf":[{"type":["string","null"]},{"type":"integer"},{"const":null},{"type":["null"]},{"$ref":"#/$defs/Nothing"}]},"any":{},"map":{"type":"object","additionalProperties":{"type":"string"}}}}`
	tool := func(kind string) string {
		r := &llm.Request{Messages: []llm.Message{newMessage(llm.RoleUser, textPart("hi"))}, Tools: []llm.Tool{{Name: "t", Schema: json.RawMessage(schema)}}}
		return string(newDraft(t, transform.Options{Kind: kind, ID: "m", BaseURL: "http://127.0.0.1:1/v1"}, r).Tools[0].Schema)
	}
	gemini := tool("gemini")
	for _, refused := range []string{"$ref", "$defs", "additionalProperties", "const", "oneOf", "null\"", "exclusiveMinimum", "uri", "gone", "$schema"} {
		if strings.Contains(gemini, refused) {
			t.Errorf("%s went to Gemini: %s", refused, gemini)
		}
	}
	var got struct {
		Type       string
		Required   []string
		Properties map[string]json.RawMessage
	}
	if err := json.Unmarshal([]byte(gemini), &got); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		"at": `{"description":"where","nullable":true,"type":"string"}`, "kind": `{"enum":["a"],"type":"string"}`, "level": `{"description":"One of [1 2].","type":"string"}`,
		"many": `{"items":{"type":"string"},"nullable":true,"type":"array"}`, "either": `{"anyOf":[{"type":"string"},{"type":"integer"}]}`,
		"orNull": `{"anyOf":[{"nullable":true,"type":"string"},{"type":"integer"}],"nullable":true}`,
		"any":    `{"type":"string"}`, "map": `{"type":"object"}`,
	} {
		if string(got.Properties[name]) != want {
			t.Errorf("%s is %s, want %s", name, got.Properties[name], want)
		}
	}
	if got.Type != "object" || len(got.Required) != 1 || !strings.Contains(string(got.Properties["node"]), `"next"`) {
		t.Errorf("it is %s", gemini)
	}
	if local := tool("ollama"); strings.Contains(local, "$ref") || !strings.Contains(local, "exclusiveMinimum") {
		t.Errorf("Ollama gets %s", local)
	}
	if whole := tool("anthropic"); whole != schema {
		t.Errorf("Anthropic gets %s", whole)
	}
}

// TestSchemasThatRefuseToEnd checks that recursive and invalid schemas become valid ones of limited size.
func TestSchemasThatRefuseToEnd(t *testing.T) {
	t.Parallel()
	var properties []string
	for i := range 20 {
		properties = append(properties, fmt.Sprintf(`"p%d":{"$ref":"#"}`, i))
	}
	for _, schema := range []string{`{"type":"object","properties":{` + strings.Join(properties, ",") + `}}`, `{"$ref":"#"}`, `[]`, ``, `true`, `{"type":"string"}`, `{"properties":{"a":true,"b":7}}`, `{"allOf":[true],"anyOf":7,"type":["object"]}`} {
		for _, kind := range codec.Kinds() {
			d := newDraft(t, transform.Options{Kind: kind, ID: "m", BaseURL: "http://127.0.0.1:1/v1"}, &llm.Request{Tools: []llm.Tool{{Name: "t", Schema: json.RawMessage(schema)}}})
			if got := d.Tools[0].Schema; len(got) > 1<<20 || got != nil && !json.Valid(got) {
				t.Errorf("%s: %.60s becomes %d bytes", kind, schema, len(got))
			}
		}
	}
}

// TestWords checks the HTTP body of a request to each provider.
func TestWords(t *testing.T) {
	t.Parallel()
	warm := 1.5
	picture := llm.File{Name: "p.png", MIME: "image/png", Data: []byte("png")}
	r := &llm.Request{
		System: "Be kind.", Effort: llm.EffortHigh, Temperature: &warm, MaxOutput: 5000, Stop: []string{"END"},
		Messages: []llm.Message{
			newMessage(llm.RoleUser, textPart("one")),
			newMessage(llm.RoleAssistant, llm.Part{Kind: llm.PartReasoning, Text: "hm"}, llm.Part{Kind: llm.PartToolCall, Call: "1", Name: "look", Args: `{"a":1`}),
			newMessage(llm.RoleTool, llm.Part{Kind: llm.PartToolResult, Call: "1", Text: "seen", IsError: true, Files: []llm.File{picture}}),
			newMessage(llm.RoleUser, textPart("two")),
		},
		Tools: []llm.Tool{{Name: "look", Schema: json.RawMessage(`{"type":"object","properties":{}}`)}},
	}
	for name, c := range map[string]struct {
		o     transform.Options
		has   []string
		lacks []string
	}{
		"openai reasoning": {o: transform.Options{Kind: "openai", ID: "gpt-5"}, has: []string{`"role":"developer"`, `"reasoning_effort":"high"`, `"max_completion_tokens":5000`, `"arguments":"{\"a\":1}"`, "These are the pictures", `"Error: seen"`}, lacks: []string{"temperature", "cache_control", "hm"}},
		"openai plain":     {o: transform.Options{Kind: "openai", ID: "gpt-4o"}, has: []string{`"role":"system"`, `"temperature":1.5`, "data:image/png;base64,"}, lacks: []string{"reasoning_effort"}},
		"deepseek":         {o: transform.Options{Kind: "openai", ID: "deepseek-reasoner", BaseURL: "https://api.deepseek.com"}, has: []string{`"reasoning_content":"hm"`, `"max_tokens"`, "that this model cannot see"}, lacks: []string{"reasoning_effort"}},
		"openrouter":       {o: transform.Options{Kind: "openai", ID: "anthropic/claude-sonnet-4.5", BaseURL: "https://openrouter.ai/api/v1"}, has: []string{`"reasoning":{"effort":"high"}`, `"cache_control"`}},
		"gemma":            {o: transform.Options{Kind: "openai", ID: "gemma3:4b", BaseURL: "http://127.0.0.1:8080/v1"}, has: []string{`"content":"Be kind.\n\none"`}, lacks: []string{`"system"`}},
		"responses":        {o: transform.Options{Kind: "responses", ID: "gpt-5"}, has: []string{`"instructions":"Be kind."`, `"store":false`, `"strict":false`, `reasoning.encrypted_content`, `"input_image"`}, lacks: []string{"temperature"}},
		"claude":           {o: transform.Options{Kind: "anthropic", ID: "claude-sonnet-4-5"}, has: []string{`"budget_tokens":24576`, `"max_tokens":29576`, `"cache_control":{"type":"ephemeral"}`, `"is_error":true`, `"input":{"a":1}`}, lacks: []string{"temperature"}},
		"new claude":       {o: transform.Options{Kind: "anthropic", ID: "claude-opus-4-6"}, has: []string{`"thinking":{"type":"adaptive"}`, `"output_config":{"effort":"high"}`}, lacks: []string{"budget"}},
		"gemini 2.5":       {o: transform.Options{Kind: "gemini", ID: "gemini-2.5-flash"}, has: []string{`"thinkingBudget":24576`, `"systemInstruction"`, `"functionResponse"`}, lacks: []string{"thinkingLevel", "skip_thought"}},
		"gemini 3":         {o: transform.Options{Kind: "gemini", ID: "gemini-3-pro-preview"}, has: []string{`"thinkingLevel":"high"`, "skip_thought_signature_validator", `"inlineData"`}, lacks: []string{"thinkingBudget", "These are the pictures"}},
		"ollama":           {o: transform.Options{Kind: "ollama", ID: "qwen3:8b"}, has: []string{`"think":true`, `"num_ctx":40960`, `"tool_name":"look"`, `"arguments":{"a":1}`}},
		"extra":            {o: transform.Options{Kind: "openai", ID: "m", BaseURL: "http://127.0.0.1:1", Extra: map[string]json.RawMessage{"top_k": json.RawMessage("7"), "stream_options": json.RawMessage("null")}}, has: []string{`"top_k":7`, `"stream_options":null`}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := encodeBody(t, c.o, r)
			for _, want := range c.has {
				if !strings.Contains(got, want) {
					t.Errorf("%s is not in\n%s", want, got)
				}
			}
			for _, not := range c.lacks {
				if strings.Contains(got, not) {
					t.Errorf("%s is in\n%s", not, got)
				}
			}
		})
	}
}

// TestNoTools checks requests in which the model must not call tools: the tools stay in the request if the API has a field
// that forbids calls.
func TestNoTools(t *testing.T) {
	t.Parallel()
	r := &llm.Request{NoTools: true, Messages: []llm.Message{newMessage(llm.RoleUser, textPart("hi"))}, Tools: []llm.Tool{{Name: "look"}}}
	for kind, want := range map[string]string{"openai": `"tool_choice":"none"`, "responses": `"tool_choice":"none"`, "anthropic": `"tool_choice":{"type":"none"}`, "gemini": `"mode":"NONE"`} {
		if got := encodeBody(t, transform.Options{Kind: kind, ID: "m"}, r); !strings.Contains(got, want) {
			t.Errorf("%s is asked %s", kind, got)
		}
	}
	if got := encodeBody(t, transform.Options{Kind: "ollama", ID: "m"}, r); strings.Contains(got, "tools") {
		t.Errorf("ollama is asked %s", got)
	}
}
