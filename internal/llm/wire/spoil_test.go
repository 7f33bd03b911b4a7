package wire_test

import (
	"context"
	"errors"
	"fmt"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"collie/internal/llm"
	"collie/internal/llm/codec"
	"collie/internal/llm/wire"
	"collie/test/fakellm/provider"
)

// This file checks answers that are cut off, broken or refused half-way.

// streamBeginnings are the beginnings of valid streams with one text, by kind of API. Tests append broken data to them.
var streamBeginnings = map[string]string{
	"openai":    `data: {"id":"1","model":"m","choices":[{"delta":{"content":"Well"}}]}` + "\n\n",
	"responses": `data: {"type":"response.created","response":{"id":"1","model":"m"}}` + "\n\n" + `data: {"type":"response.output_text.delta","delta":"Well"}` + "\n\n",
	"anthropic": `data: {"type":"message_start","message":{"id":"1","model":"m"}}` + "\n\n" + `data: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"Well"}}` + "\n\n",
	"gemini":    `data: {"modelVersion":"m","candidates":[{"content":{"parts":[{"text":"Well"}]}}]}` + "\n\n",
	"ollama":    `{"model":"m","message":{"content":"Well"},"done":false}` + "\n",
}

// streamErrors are errors that a provider reports within a stream, by kind of API.
var streamErrors = map[string]string{
	"openai":    `data: {"error":{"message":"it broke","type":"server_error"}}` + "\n\n",
	"responses": `data: {"type":"response.failed","response":{"error":{"code":"server_error","message":"it broke"}}}` + "\n\n",
	"anthropic": `event: error` + "\n" + `data: {"type":"error","error":{"type":"overloaded_error","message":"it broke"}}` + "\n\n",
	"gemini":    `data: {"error":{"code":503,"message":"it broke","status":"UNAVAILABLE"}}` + "\n\n",
	"ollama":    `{"error":"it broke: internal"}` + "\n",
}

// readAnswer sends a request to a fake provider that answers raw, and reads the answer to its end.
func readAnswer(t *testing.T, ctx context.Context, kind string, raw *provider.Raw) heard {
	t.Helper()
	fake, err := provider.New(provider.Script{Conversations: []provider.Conversation{{Turns: []provider.Turn{{Raw: raw}}}}}, provider.Options{})
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(fake)
	t.Cleanup(server.Close)
	draft := &wire.Draft{
		Model: "m", MaxOutput: 100, Messages: []llm.Message{{Role: llm.RoleUser, Parts: []llm.Part{{Kind: llm.PartText, Text: "Hello?"}}}},
		Style: wire.Style{SystemRole: "system", MaxOutputField: "max_tokens"},
	}
	idle := time.Minute
	if raw.Hang {
		idle = 500 * time.Millisecond
	}
	client := wire.NewClient(wire.Options{Header: time.Minute, Idle: idle})
	return collectEvents(ctx, client, codec.For(kind), wire.Endpoint{Provider: "fake", BaseURL: server.URL, Key: "sk-secret-1", KeyLabel: "one"}, draft)
}

// TestSpoiled breaks the answer of every API in every way. Each must end with a clear error, after the text before it.
func TestSpoiled(t *testing.T) {
	t.Parallel()
	for _, kind := range codec.Kinds() {
		good := streamBeginnings[kind]
		half := strings.TrimRight(good, "\n")
		half = good + half[:len(half)-9] // a whole frame, and one that lacks its last bytes
		huge := provider.Bytes{Text: strings.Repeat("x", 1<<20), Repeat: 64}
		open := "data: {"
		if kind == "ollama" {
			open = "{"
		}
		spoiled := []struct {
			name  string
			raw   provider.Raw
			text  string
			class llm.Class
			say   string
		}{
			{name: "stall", raw: provider.Raw{Body: textChunks(good), Hang: true}, text: "Well", class: llm.ClassTransient, say: "stopped coming"},
			{name: "reset", raw: provider.Raw{Body: textChunks(good), Cut: true}, text: "Well", class: llm.ClassTransient, say: "cut off"},
			{name: "reset before", raw: provider.Raw{Cut: true}, class: llm.ClassTransient},
			{name: "half a frame", raw: provider.Raw{Body: textChunks(half)}, text: "Well", class: llm.ClassTransient, say: "cut off"},
			{name: "truncated", raw: provider.Raw{Body: textChunks(good), Length: 10_000}, text: "Well", class: llm.ClassTransient, say: "cut off"},
			{name: "no end", raw: provider.Raw{Body: textChunks(good)}, text: "Well", class: llm.ClassTransient, say: "cut off"},
			{name: "error in the stream", raw: provider.Raw{Body: textChunks(good, streamErrors[kind])}, text: "Well", say: "it broke"},
			{name: "error in place of the stream", raw: provider.Raw{Header: map[string]string{"Content-Type": "application/json"}, Body: textChunks(`{"error":{"message":"it broke","code":500}}`)}, class: llm.ClassTransient, say: "it broke"},
			{name: "wrong type", raw: provider.Raw{Header: map[string]string{"Content-Type": "text/html"}, Body: textChunks("<html>Sign in</html>")}, class: llm.ClassUnknown, say: "Sign in"},
			{name: "garbage", raw: provider.Raw{Body: textChunks(good, open+"oops}\n\n", good)}, text: "Well", class: llm.ClassUnknown, say: "does not read"},
			{name: "64 MiB", raw: provider.Raw{Body: append(textChunks(good, open), huge)}, text: "Well", class: llm.ClassUnknown, say: "longer than"},
			{name: "redirect", raw: provider.Raw{Status: 302, Header: map[string]string{"Location": "http://example.com/"}}, class: llm.ClassCaller},
			{name: "echo of the key", raw: provider.Raw{Status: 401, Body: textChunks(`{"error":{"message":"Incorrect API key provided: sk-secret-1"}}`)}, class: llm.ClassCredential, say: "Incorrect API key"},
		}
		for _, s := range spoiled {
			t.Run(kind+" "+s.name, func(t *testing.T) {
				t.Parallel()
				h := readAnswer(t, t.Context(), kind, &s.raw)
				if h.Err == nil || h.Finish != "" {
					t.Fatalf("ended with %q, error %v", h.Finish, h.Err)
				}
				if h.Text != s.text || s.class != "" && h.Err.Class != s.class || !strings.Contains(h.Err.Message, s.say) {
					t.Errorf("said %q, then %s: %s", h.Text, h.Err.Class, h.Err.Message)
				}
				if strings.Contains(h.Err.Error(), "sk-secret") || h.Err.Provider != "fake" || h.Err.Key != "one" || h.Err.Model != "m" {
					t.Errorf("the error is %+v", h.Err)
				}
			})
		}
	}
}

func textChunks(list ...string) (body []provider.Bytes) {
	for _, text := range list {
		body = append(body, provider.Bytes{Text: text})
	}
	return body
}

// TestMuchAtOnce checks that invalid UTF-8 becomes replacement characters, that broken arguments are kept, and that an answer
// may hold 200 calls.
func TestMuchAtOnce(t *testing.T) {
	t.Parallel()
	h := readAnswer(t, t.Context(), "openai", &provider.Raw{Body: []provider.Bytes{
		{Text: `data: {"choices":[{"delta":{"content":"a`, Base64: []byte{0xff, 0xfe}}, {Text: `b"},"finish_reason":"stop"}]}` + "\n\ndata: [DONE]\n\n"},
	}})
	if h.Err != nil || h.Text != "a\ufffd\ufffdb" {
		t.Errorf("said %q, %v", h.Text, h.Err)
	}
	var calls strings.Builder
	for i := range 200 {
		fmt.Fprintf(&calls, `data: {"choices":[{"delta":{"tool_calls":[{"index":%d,"function":{"name":"t%d","arguments":"{\"n\":%d, oops"}}]}}]}`+"\n\n", i, i, i)
	}
	h = readAnswer(t, t.Context(), "openai", &provider.Raw{Body: textChunks(calls.String()+`data: {"choices":[{"finish_reason":"tool_calls"}]}`+"\n\n", "data: [DONE]\n\n")})
	if h.Err != nil || len(h.Calls) != 200 || h.Finish != llm.FinishToolCalls {
		t.Fatalf("%d calls, %s, %v", len(h.Calls), h.Finish, h.Err)
	}
	ids := map[string]bool{}
	for i, c := range h.Calls {
		ids[c.ID] = true
		if c.Name != fmt.Sprintf("t%d", i) || c.Args != fmt.Sprintf(`{"n":%d, oops`, i) {
			t.Fatalf("call %d is %+v", i, c)
		}
	}
	if len(ids) != 200 {
		t.Errorf("%d ids for 200 calls", len(ids))
	}
}

// TestLeaving checks that an answer whose context ends fails with class cancelled and the cause of the context.
func TestLeaving(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancelCause(t.Context())
	why := errors.New("enough")
	time.AfterFunc(20*time.Millisecond, func() { cancel(why) })
	h := readAnswer(t, ctx, "openai", &provider.Raw{Body: textChunks(streamBeginnings["openai"]), Hang: true})
	if h.Err == nil || h.Err.Class != llm.ClassCanceled || !errors.Is(h.Err, why) {
		t.Errorf("ended with %+v", h.Err)
	}
}
