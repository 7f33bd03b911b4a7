package openai

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"collie/internal/llm"
	"collie/internal/llm/wire"
)

// TestPlainText reads chunks with plainText and with encoding/json. Where plainText accepts a chunk, both must give the same.
func TestPlainText(t *testing.T) {
	t.Parallel()
	const whole = `{"id":"c","object":"chat.completion.chunk","created":1,"model":"m","choices":[%s],"usage":null}`
	for _, tt := range []struct {
		data  string
		plain bool
	}{
		{fmt.Sprintf(whole, `{"index":0,"delta":{"role":"assistant","content":"a \"b\"\n笔记 <"},"logprobs":null,"finish_reason":null}`), true},
		{fmt.Sprintf(whole, `{"index":0,"delta":{"content":"a","refusal":null,"tool_calls":null}}`), true},
		{fmt.Sprintf(whole, `{"index":0,"delta":{}}`), true},
		{fmt.Sprintf(whole, `{"delta":{"content":null}}`), true},
		{fmt.Sprintf(whole, `{"delta":{"content":"\ud83d\udc15 \ud800"}}`), false},
		{fmt.Sprintf(whole, "{\"delta\":{\"content\":\"\xff\xfe\"}}"), false},
		{fmt.Sprintf(whole, `{"delta":{"content":"a"},"finish_reason":"stop"}`), false},
		{fmt.Sprintf(whole, `{"delta":{"content":"a","reasoning_content":"b"}}`), false},
		{fmt.Sprintf(whole, `{"delta":{"content":["a"]}}`), false},
		{fmt.Sprintf(whole, `{"delta":{"Content":"a"}}`), false},
		{fmt.Sprintf(whole, `{"delta":{"tool_calls":[{"index":0,"id":"x","function":{"name":"f","arguments":"{}"}}]}}`), false},
		{fmt.Sprintf(whole, `{"delta":{"content":"a"}},{"delta":{"content":"b"}}`), false},
		{fmt.Sprintf(whole, `{"message":{"content":"a"}}`), false},
		{fmt.Sprintf(whole, `{"delta":[]}`), false},
		{fmt.Sprintf(whole, ``), false},
		{`{"choices":{"a":{"delta":{"content":"a"}}}}`, false},
		{`{"id":7,"choices":[{"delta":{"content":"a"}}]}`, false},
		{`{"choices":[{"delta":{"content":"a"}}],"usage":{"prompt_tokens":1}}`, false},
		{`{"choices":[{"delta":{"content":"a"}}]`, false},
		{`{"choices":[{"delta":{"content":"a"}}]} x`, false},
	} {
		_, plain := plainText([]byte(tt.data))
		if plain != tt.plain {
			t.Errorf("%s: plain is %v", tt.data, plain)
		}
		feed := func(started bool) (string, []llm.Event) {
			d := &decoder{started: started}
			d.answer.Start("m", "c")
			events, err := d.Feed(wire.Frame{Data: []byte(tt.data)}, nil)
			return fmt.Sprint(err), events
		}
		shortErr, short := feed(true)
		longErr, long := feed(false)
		if diff := cmp.Diff(long, short); diff != "" || shortErr != longErr {
			t.Errorf("%s: %s, %s: %s", tt.data, longErr, shortErr, diff)
		}
	}
}

func BenchmarkFeed(b *testing.B) {
	data, err := json.Marshal(map[string]any{
		"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": "m", "service_tier": "default", "usage": nil,
		"choices": []any{map[string]any{"index": 0, "delta": map[string]any{"content": " hello"}, "logprobs": nil, "finish_reason": nil}},
	})
	if err != nil {
		b.Fatal(err)
	}
	d := &decoder{}
	var events []llm.Event
	b.ReportAllocs()
	for b.Loop() {
		if events, err = d.Feed(wire.Frame{Data: data}, events[:0]); err != nil {
			b.Fatal(err)
		}
	}
}
