package sdkcompat_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"testing"

	"github.com/ollama/ollama/api"
)

// TestOllama tests the SDK of Ollama.
func TestOllama(t *testing.T) {
	url := serve(t)
	for _, streamed := range []bool{false, true} {
		t.Run(name(streamed), func(t *testing.T) { hold(t, func() client { return ollama(t, url, streamed) }) })
	}
}

// ollama returns a client for the chat API of Ollama.
func ollama(t *testing.T, address string, streamed bool) client {
	base, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	sdk := api.NewClient(base, http.DefaultClient)
	req := &api.ChatRequest{Model: "fake-1", Stream: &streamed}
	raw, err := json.Marshal([]any{map[string]any{"type": "function", "function": map[string]any{"name": "weather", "parameters": schema}}})
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(raw, &req.Tools); err != nil {
		t.Fatal(err)
	}
	ask := func(ctx context.Context) (m api.Message, err error) {
		done := false
		err = sdk.Chat(ctx, req, func(r api.ChatResponse) error {
			m.Content += r.Message.Content
			m.Thinking += r.Message.Thinking
			m.ToolCalls = append(m.ToolCalls, r.Message.ToolCalls...)
			done = done || r.Done
			return nil
		})
		if err == nil && !done {
			t.Error("the answer ends without its last line")
		}
		m.Role = "assistant"
		req.Messages = append(req.Messages, m)
		return m, err
	}
	return client{
		first: func(ctx context.Context, prompt string) (string, []call, error) {
			req.Messages = append(req.Messages, api.Message{Role: "user", Content: prompt})
			m, err := ask(ctx)
			var calls []call
			for _, c := range m.ToolCalls {
				calls = append(calls, call{name: c.Function.Name, city: cityOf(t, c.Function.Arguments.String())})
			}
			return m.Content, calls, err
		},
		second: func(ctx context.Context, results []string) (string, error) {
			for _, r := range results {
				req.Messages = append(req.Messages, api.Message{Role: "tool", Content: r, ToolName: "weather"})
			}
			m, err := ask(ctx)
			return m.Content, err
		},
		status: func(err error) (int, string) {
			if e, ok := errors.AsType[api.StatusError](err); ok {
				return e.StatusCode, e.ErrorMessage
			}
			return 0, err.Error()
		},
	}
}
