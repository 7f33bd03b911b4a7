package wire_test

import (
	"context"
	"encoding/json"
	"net/http/httptest"
	"strconv"
	"testing"
	"time"

	"collie/internal/llm"
	"collie/internal/llm/codec"
	"collie/internal/llm/models"
	"collie/internal/llm/transform"
	"collie/internal/llm/wire"
	"collie/test/fakellm/provider"
)

// heard is an answer as received: its text, calls and usage.
type heard struct {
	Text, Thought string
	Calls         []llm.Event
	Usage         llm.Usage
	Finish        llm.Finish
	Opaque        []json.RawMessage
	Model         string
	Err           *llm.Error
}

// readWhole reads an answer to its end.
func readWhole(t *testing.T, c *wire.Client, kind, url string, r *llm.Request) (h heard) {
	t.Helper()
	draft, err := transform.New(time.Now).Draft(transform.Options{Provider: "fake", Kind: kind, BaseURL: url, ID: r.Model, Model: models.Find(url, r.Model)}, r)
	if err != nil {
		t.Fatal(err)
	}
	return collectEvents(t.Context(), c, codec.For(kind), wire.Endpoint{Provider: "fake", BaseURL: url, Key: "sk-secret-1", KeyLabel: "one"}, draft)
}

func collectEvents(ctx context.Context, c *wire.Client, api *wire.Codec, ep wire.Endpoint, d *wire.Draft) (h heard) {
	for e, err := range c.Stream(ctx, api, ep, d) {
		if err != nil {
			h.Err, _ = err.(*llm.Error) //nolint:errorlint // the contract is this very type
			break
		}
		switch e.Kind {
		case llm.EventStart:
			h.Model = e.Model
		case llm.EventText:
			h.Text += e.Text
		case llm.EventReasoning:
			h.Thought += e.Text
			if e.Opaque != nil {
				h.Opaque = append(h.Opaque, e.Opaque)
			}
		case llm.EventToolEnd:
			h.Calls = append(h.Calls, e)
		case llm.EventUsage:
			h.Usage = e.Usage
		case llm.EventFinish:
			h.Finish = e.Finish
		}
	}
	return h
}

// TestConversation checks, for each API, a conversation in which the model thinks, speaks, calls two tools in parallel and
// answers from their results.
func TestConversation(t *testing.T) {
	t.Parallel()
	for _, kind := range codec.Kinds() {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			fake, err := provider.New(provider.Script{Conversations: []provider.Conversation{{Turns: []provider.Turn{
				{Think: "Let me see, 让我看看.", Say: "I look it up.", Call: []provider.Call{
					{Tool: "files__read", Args: json.RawMessage(`{"path":"/晚饭"}`)}, {Tool: "files__read", Args: json.RawMessage(`{"path":"/cups"}`)},
				}, Chunk: 3},
				{Say: "$RESULTS: 面条.", Split: 1, Usage: &provider.Usage{Input: 70, Output: 7, Cached: 10}},
			}}}}, provider.Options{})
			if err != nil {
				t.Fatal(err)
			}
			server := httptest.NewServer(fake)
			defer server.Close()
			r := &llm.Request{
				Model: "fake-1", System: "Be kind.", MaxOutput: 100,
				Messages: []llm.Message{{Role: llm.RoleUser, Parts: []llm.Part{{Kind: llm.PartText, Text: "What is for dinner?"}}}},
				Tools:    []llm.Tool{{Name: "files__read", Description: "Read a file.", Schema: json.RawMessage(`{"type":"object","additionalProperties":false,"properties":{"path":{"type":["string","null"]}}}`)}},
			}
			client := wire.NewClient(wire.Options{})
			first := readWhole(t, client, kind, server.URL, r)
			if first.Err != nil || first.Text != "I look it up." || first.Thought != "Let me see, 让我看看." || first.Finish != llm.FinishToolCalls || len(first.Calls) != 2 {
				t.Fatalf("heard %+v (%v; %q)", first, first.Err, fake.Faults())
			}
			answer := llm.Message{Role: llm.RoleAssistant, Parts: []llm.Part{{Kind: llm.PartReasoning, Text: first.Thought}, {Kind: llm.PartText, Text: first.Text}}}
			if len(first.Opaque) > 0 {
				answer.Parts[0].Provider, answer.Parts[0].Opaque = "fake", first.Opaque[0]
			}
			results := llm.Message{Role: llm.RoleTool}
			for i, c := range first.Calls {
				if c.Name != "files__read" || c.ID == "" || c.Args != []string{`{"path":"/晚饭"}`, `{"path":"/cups"}`}[i] {
					t.Errorf("call %d is %+v", i, c)
				}
				answer.Parts = append(answer.Parts, llm.Part{Kind: llm.PartToolCall, Call: c.ID, Name: c.Name, Args: c.Args})
				results.Parts = append(results.Parts, llm.Part{Kind: llm.PartToolResult, Call: c.ID, Text: "noodles " + strconv.Itoa(i)})
			}
			r.Messages = append(r.Messages, answer, results)
			second := readWhole(t, client, kind, server.URL, r)
			if second.Err != nil || second.Text != "noodles 0\nnoodles 1: 面条." || second.Finish != llm.FinishStop {
				t.Fatalf("heard %+v (%v; %q)", second, second.Err, fake.Faults())
			}
			want := llm.Usage{Input: 70, Cached: 10, Output: 7}
			if kind == "ollama" {
				want.Cached = 0 // this API does not report it
			}
			if second.Usage != want {
				t.Errorf("usage is %+v, want %+v", second.Usage, want)
			}
		})
	}
}

// TestLists checks that the models of each API can be listed, with the facts about them.
func TestLists(t *testing.T) {
	t.Parallel()
	fake, err := provider.New(provider.Script{Models: []string{"one", "two"}}, provider.Options{})
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(fake)
	defer server.Close()
	for _, kind := range codec.Kinds() {
		list, err := wire.NewClient(wire.Options{}).List(t.Context(), codec.For(kind), wire.Endpoint{BaseURL: server.URL, Key: "k-1"})
		if err != nil || len(list) != 2 || list[0].ID != "one" || list[1].ID != "two" {
			t.Errorf("%s lists %+v, %v", kind, list, err)
			continue
		}
		if m := list[1]; kind == "ollama" && (!m.Described || !m.Tools || m.Images || !m.Reasoning || m.Context != 8192) {
			t.Errorf("it is described as %+v", m)
		}
		if kind == "gemini" && list[0].Context != 1_000_000 {
			t.Errorf("it is listed as %+v", list[0])
		}
	}
}
