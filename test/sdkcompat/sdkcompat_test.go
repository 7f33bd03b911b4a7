package sdkcompat_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/anthropics/anthropic-sdk-go"
	anthropicoption "github.com/anthropics/anthropic-sdk-go/option"
	"github.com/openai/openai-go/v3"
	openaioption "github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/responses"
	"google.golang.org/genai"
)

// script holds what the fake provider answers to each SDK: a conversation with tool calls, an error, and a stream
// that breaks.
const script = `{"conversations": [
	{"when": {"prompt": "fail"}, "turns": [{"fail": [
		{"status": 429, "message": "slow down", "header": {"Retry-After": "1"}},
		{"status": 429, "message": "slow down"}, {"status": 429, "message": "slow down"}, {"status": 429, "message": "slow down"}, {"status": 429, "message": "slow down"}]}]},
	{"when": {"prompt": "break"}, "turns": [{"say": "This will not be said to its end.", "fail": [
		{"after": 4, "message": "it broke"}, {"after": 4, "message": "it broke"}, {"after": 4, "message": "it broke"}, {"after": 4, "message": "it broke"}]}]},
	{"turns": [
		{"think": "Let me see, 让我看看.", "say": "I look it up.", "call": [{"tool": "weather", "args": {"city": "北京"}}, {"tool": "weather", "args": {"city": "Oslo"}}], "chunk": 3},
		{"say": "It is: $RESULTS", "split": 5}]}
]}`

// serve builds and runs the fake provider, and returns its address.
func serve(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	file := filepath.Join(dir, "script.json")
	if err := os.WriteFile(file, []byte(script), 0o600); err != nil {
		t.Fatal(err)
	}
	program := filepath.Join(dir, "fakellm")
	build := exec.CommandContext(t.Context(), "go", "build", "-C", filepath.Join("..", ".."), "-o", program, "./test/fakellm")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	cmd := exec.CommandContext(t.Context(), program, "-script", file)
	cmd.Stderr = os.Stderr
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Wait() }) // the test's context has ended it
	line, err := bufio.NewReader(stdout).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(line)
}

// call is a call of the tool weather, which the SDKs offer to the model.
type call struct{ id, name, city string }

// client is the part of an SDK that is tested here.
type client struct {
	// first asks for the weather and returns what was said and called; second answers the calls with
	// results.
	first  func(ctx context.Context, prompt string) (text string, calls []call, err error)
	second func(ctx context.Context, results []string) (text string, err error)
	// status returns the status of an error, 0 for one inside a stream, and what the provider said.
	status func(err error) (int, string)
}

// hold takes one SDK through the conversation and the failures.
func hold(t *testing.T, sdk func() client) {
	t.Helper()
	t.Parallel()
	c := sdk()
	text, calls, err := c.first(t.Context(), "How is the weather?")
	if err != nil || !strings.Contains(text, "I look it up.") || len(calls) != 2 || calls[0].name != "weather" || calls[0].city != "北京" || calls[1].city != "Oslo" {
		t.Fatalf("said %q, called %+v, %v", text, calls, err)
	}
	text, err = c.second(t.Context(), []string{"sunny, 晴", "rain"})
	if err != nil || text != "It is: sunny, 晴\nrain" {
		t.Errorf("said %q, %v", text, err)
	}
	for prompt, want := range map[string]string{"Please fail.": "slow down", "Please break.": "it broke"} {
		if _, _, err = sdk().first(t.Context(), prompt); err == nil {
			t.Errorf("%s gave no error", prompt)
		} else if status, said := c.status(err); !strings.Contains(said, want) || want == "slow down" && status != 429 {
			t.Errorf("%s gave %d %q: %v", prompt, status, said, err)
		}
	}
}

// schema is the input schema of the tool weather.
var schema = map[string]any{"type": "object", "properties": map[string]any{"city": map[string]any{"type": "string"}}, "required": []string{"city"}}

// cityOf returns the argument city of a call.
func cityOf(t *testing.T, args string) string {
	t.Helper()
	var v struct{ City string }
	if err := json.Unmarshal([]byte(args), &v); err != nil {
		t.Errorf("arguments %q: %v", args, err)
	}
	return v.City
}

// TestChat tests the SDK of OpenAI with the chat completions API.
func TestChat(t *testing.T) {
	url := serve(t)
	for _, streamed := range []bool{false, true} {
		t.Run(name(streamed), func(t *testing.T) { hold(t, func() client { return chat(t, url, streamed) }) })
	}
}

// name returns the name of a subtest.
func name(streamed bool) string {
	if streamed {
		return "streamed"
	}
	return "whole"
}

// chat returns a client for the chat completions API of OpenAI.
func chat(t *testing.T, url string, streamed bool) client {
	sdk := openai.NewClient(openaioption.WithBaseURL(url+"/v1"), openaioption.WithAPIKey("k"), openaioption.WithMaxRetries(0))
	params := openai.ChatCompletionNewParams{
		Model: "fake-1",
		Tools: []openai.ChatCompletionToolUnionParam{openai.ChatCompletionFunctionTool(openai.FunctionDefinitionParam{Name: "weather", Parameters: schema})},
	}
	var ids []string
	ask := func(ctx context.Context) (openai.ChatCompletionMessage, error) {
		if !streamed {
			res, err := sdk.Chat.Completions.New(ctx, params)
			if err != nil {
				return openai.ChatCompletionMessage{}, err
			}
			return res.Choices[0].Message, nil
		}
		stream := sdk.Chat.Completions.NewStreaming(ctx, params)
		var all openai.ChatCompletionAccumulator
		for stream.Next() {
			if !all.AddChunk(stream.Current()) {
				t.Error("a chunk does not fit those before it")
			}
		}
		if err := stream.Err(); err != nil {
			return openai.ChatCompletionMessage{}, err
		}
		return all.Choices[0].Message, nil
	}
	return client{
		first: func(ctx context.Context, prompt string) (string, []call, error) {
			params.Messages = append(params.Messages, openai.UserMessage(prompt))
			m, err := ask(ctx)
			if err != nil {
				return "", nil, err
			}
			params.Messages = append(params.Messages, m.ToParam())
			var calls []call
			for _, c := range m.ToolCalls {
				ids = append(ids, c.ID)
				calls = append(calls, call{c.ID, c.Function.Name, cityOf(t, c.Function.Arguments)})
			}
			return m.Content, calls, nil
		},
		second: func(ctx context.Context, results []string) (string, error) {
			for i, r := range results {
				params.Messages = append(params.Messages, openai.ToolMessage(r, ids[i]))
			}
			m, err := ask(ctx)
			return m.Content, err
		},
		status: openaiStatus,
	}
}

// openaiStatus returns the status of an error of the SDK of OpenAI, 0 for one inside a stream, and its message.
func openaiStatus(err error) (int, string) {
	if e, ok := errors.AsType[*openai.Error](err); ok {
		return e.StatusCode, e.Message
	}
	return 0, err.Error()
}

// TestResponses tests the SDK of OpenAI with the responses API.
func TestResponses(t *testing.T) {
	url := serve(t)
	for _, streamed := range []bool{false, true} {
		t.Run(name(streamed), func(t *testing.T) { hold(t, func() client { return response(t, url, streamed) }) })
	}
}

// response returns a client for the responses API of OpenAI.
func response(t *testing.T, url string, streamed bool) client {
	sdk := openai.NewClient(openaioption.WithBaseURL(url+"/v1"), openaioption.WithAPIKey("k"), openaioption.WithMaxRetries(0))
	params := responses.ResponseNewParams{
		Model: "fake-1",
		Tools: []responses.ToolUnionParam{responses.ToolParamOfFunction("weather", schema, false)},
	}
	var input responses.ResponseInputParam
	var ids []string
	ask := func(ctx context.Context) (*responses.Response, error) {
		params.Input = responses.ResponseNewParamsInputUnion{OfInputItemList: input}
		if !streamed {
			return sdk.Responses.New(ctx, params)
		}
		stream := sdk.Responses.NewStreaming(ctx, params)
		var last *responses.Response
		for stream.Next() {
			e := stream.Current()
			switch e.Type {
			case "response.completed":
				last = &e.Response
			case "error":
				return nil, errors.New(e.Message)
			case "response.failed":
				return nil, errors.New(e.Response.Error.Message)
			}
		}
		if last == nil && stream.Err() == nil {
			t.Error("the stream ends without its last event")
		}
		return last, stream.Err()
	}
	return client{
		first: func(ctx context.Context, prompt string) (string, []call, error) {
			input = append(input, responses.ResponseInputItemParamOfMessage(prompt, responses.EasyInputMessageRoleUser))
			r, err := ask(ctx)
			if err != nil {
				return "", nil, err
			}
			var calls []call
			for _, item := range r.Output {
				if item.Type == "function_call" {
					c := item.AsFunctionCall()
					ids = append(ids, c.CallID)
					calls = append(calls, call{c.CallID, c.Name, cityOf(t, c.Arguments)})
					input = append(input, responses.ResponseInputItemParamOfFunctionCall(c.Arguments, c.CallID, c.Name))
				}
			}
			return r.OutputText(), calls, nil
		},
		second: func(ctx context.Context, results []string) (string, error) {
			for i, out := range results {
				item := responses.ResponseInputItemParamOfFunctionCallOutput(out)
				item.OfFunctionCallOutput.CallID = openai.String(ids[i])
				input = append(input, item)
			}
			r, err := ask(ctx)
			if err != nil {
				return "", err
			}
			return r.OutputText(), nil
		},
		status: openaiStatus,
	}
}

// TestMessages tests the SDK of Anthropic.
func TestMessages(t *testing.T) {
	url := serve(t)
	for _, streamed := range []bool{false, true} {
		t.Run(name(streamed), func(t *testing.T) { hold(t, func() client { return messages(t, url, streamed) }) })
	}
}

// messages returns a client for the messages API of Anthropic.
func messages(t *testing.T, url string, streamed bool) client {
	sdk := anthropic.NewClient(anthropicoption.WithBaseURL(url), anthropicoption.WithAPIKey("k"), anthropicoption.WithMaxRetries(0))
	params := anthropic.MessageNewParams{
		Model: "fake-1", MaxTokens: 1000,
		Tools: []anthropic.ToolUnionParam{{OfTool: &anthropic.ToolParam{Name: "weather", InputSchema: anthropic.ToolInputSchemaParam{Properties: schema["properties"]}}}},
	}
	var ids []string
	ask := func(ctx context.Context) (*anthropic.Message, error) {
		if !streamed {
			return sdk.Messages.New(ctx, params)
		}
		stream := sdk.Messages.NewStreaming(ctx, params)
		var m anthropic.Message
		for stream.Next() {
			if err := m.Accumulate(stream.Current()); err != nil {
				return nil, err
			}
		}
		return &m, stream.Err()
	}
	text := func(m *anthropic.Message) (text string) {
		for _, b := range m.Content {
			text += b.Text
		}
		return text
	}
	return client{
		first: func(ctx context.Context, prompt string) (string, []call, error) {
			params.Messages = append(params.Messages, anthropic.NewUserMessage(anthropic.NewTextBlock(prompt)))
			m, err := ask(ctx)
			if err != nil {
				return "", nil, err
			}
			params.Messages = append(params.Messages, m.ToParam())
			var calls []call
			for _, b := range m.Content {
				if b.Type == "tool_use" {
					ids = append(ids, b.ID)
					calls = append(calls, call{b.ID, b.Name, cityOf(t, string(b.Input))})
				}
			}
			return text(m), calls, nil
		},
		second: func(ctx context.Context, results []string) (string, error) {
			var blocks []anthropic.ContentBlockParamUnion
			for i, r := range results {
				blocks = append(blocks, anthropic.NewToolResultBlock(ids[i], r, false))
			}
			params.Messages = append(params.Messages, anthropic.NewUserMessage(blocks...))
			m, err := ask(ctx)
			if err != nil {
				return "", err
			}
			return text(m), nil
		},
		status: func(err error) (int, string) {
			if e, ok := errors.AsType[*anthropic.Error](err); ok {
				return e.StatusCode, err.Error()
			}
			return 0, err.Error()
		},
	}
}

// TestGemini tests the SDK of Google.
func TestGemini(t *testing.T) {
	url := serve(t)
	for _, streamed := range []bool{false, true} {
		t.Run(name(streamed), func(t *testing.T) { hold(t, func() client { return gemini(t, url, streamed) }) })
	}
}

// gemini returns a client for the Gemini API.
func gemini(t *testing.T, url string, streamed bool) client {
	sdk, err := genai.NewClient(t.Context(), &genai.ClientConfig{APIKey: "k", Backend: genai.BackendGeminiAPI, HTTPOptions: genai.HTTPOptions{BaseURL: url}})
	if err != nil {
		t.Fatal(err)
	}
	config := &genai.GenerateContentConfig{Tools: []*genai.Tool{{FunctionDeclarations: []*genai.FunctionDeclaration{{Name: "weather", ParametersJsonSchema: schema}}}}}
	var history []*genai.Content
	var made []*genai.FunctionCall
	ask := func(ctx context.Context) (text string, calls []*genai.FunctionCall, err error) {
		answer := &genai.Content{Role: genai.RoleModel}
		add := func(r *genai.GenerateContentResponse) {
			if len(r.Candidates) > 0 && r.Candidates[0].Content != nil {
				answer.Parts = append(answer.Parts, r.Candidates[0].Content.Parts...)
			}
		}
		if streamed {
			for r, err := range sdk.Models.GenerateContentStream(ctx, "fake-1", history, config) {
				if err != nil {
					return "", nil, err
				}
				add(r)
			}
		} else {
			r, err := sdk.Models.GenerateContent(ctx, "fake-1", history, config)
			if err != nil {
				return "", nil, err
			}
			add(r)
		}
		for _, p := range answer.Parts {
			if !p.Thought {
				text += p.Text
			}
			if p.FunctionCall != nil {
				calls = append(calls, p.FunctionCall)
			}
		}
		history = append(history, answer)
		return text, calls, nil
	}
	return client{
		first: func(ctx context.Context, prompt string) (string, []call, error) {
			history = append(history, genai.NewContentFromText(prompt, genai.RoleUser))
			text, list, err := ask(ctx)
			made = list
			var calls []call
			for _, c := range list {
				city, _ := c.Args["city"].(string)
				calls = append(calls, call{c.ID, c.Name, city})
			}
			return text, calls, err
		},
		second: func(ctx context.Context, results []string) (string, error) {
			var parts []*genai.Part
			for i, r := range results {
				parts = append(parts, &genai.Part{FunctionResponse: &genai.FunctionResponse{ID: made[i].ID, Name: made[i].Name, Response: map[string]any{"output": r}}})
			}
			history = append(history, genai.NewContentFromParts(parts, genai.RoleUser))
			text, _, err := ask(ctx)
			return text, err
		},
		status: func(err error) (int, string) {
			if e, ok := errors.AsType[genai.APIError](err); ok {
				return e.Code, e.Message
			}
			return 0, err.Error()
		},
	}
}
