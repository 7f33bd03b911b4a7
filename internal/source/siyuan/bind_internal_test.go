package siyuan

import (
	"context"
	"encoding/json"
	"testing"

	"collie/internal/pipeline"
	"collie/internal/pipeline/audit"
	"collie/internal/source"
	"collie/internal/source/siyuan/access"
	"collie/internal/source/siyuan/action"
	"collie/internal/source/siyuan/kernel"
	"collie/internal/source/siyuan/kernel/kerneltest"
	"collie/internal/source/siyuan/safety"
	"collie/internal/tool"
)

// countedArgs are arguments that count how often they are decoded.
type countedArgs struct {
	ID countedText `json:"id" about:"a block" req:"true"`
}

type countedText string

// successResult is the result of the actions of these tests.
type successResult struct {
	Success bool `json:"success" about:"true"`
}

var decodings int // how often a countedText was decoded; only one test uses it

func (c *countedText) UnmarshalJSON(raw []byte) error {
	decodings++
	return json.Unmarshal(raw, (*string)(c))
}

// agreeingCaller is a client whose person confirms everything.
type agreeingCaller struct{}

func (agreeingCaller) ID() string                         { return "" }
func (agreeingCaller) Supports(what tool.Capability) bool { return what == tool.CanConfirm }

func (agreeingCaller) Capabilities() json.RawMessage                   { return json.RawMessage(`{}`) }
func (agreeingCaller) Notify(context.Context, string, json.RawMessage) {}
func (agreeingCaller) Ask(context.Context, string, json.RawMessage) (json.RawMessage, error) {
	return json.RawMessage(`{"confirm":true}`), nil
}

// A write that a person confirms resolves and decodes its arguments once before the question and once after it; a
// write without a question does so once.
func TestTargetsAreResolvedOnceBeforeAndOnceAfterTheQuestion(t *testing.T) {
	t.Parallel()
	k := kerneltest.New(t)
	client := kernel.New(k.URL(), kernel.Options{Token: "TEST_TOKEN"})
	t.Cleanup(client.Close)
	s := New(Options{Kernel: client, DefaultLevel: access.Delete, Safety: safety.Open(safety.Options{Dir: t.TempDir()})})
	t.Cleanup(s.Close)
	log, err := audit.Open(t.TempDir(), nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = log.Close() })
	catalog := source.New([]tool.Source{s}, source.Options{})
	t.Cleanup(catalog.Close)
	p := pipeline.New(catalog, pipeline.Options{Audit: log})
	for _, dangerous := range []bool{true, false} {
		resolved, ran := 0, 0
		s.replaceAction(action.New(action.Spec{
			Tool: "block", Name: "update", Purpose: "Counts", Dangerous: dangerous, Class: action.Creates, Example: `{"id":"x"}`,
			Result: successResult{},
			Needs: []action.Need{action.On(access.Delete, "what it counts", "id", func(context.Context, *action.Request) ([]action.Target, error) {
				resolved++
				return []action.Target{}, nil
			})},
		}, func(context.Context, *action.Request, countedArgs) (any, error) {
			ran++
			return successResult{true}, nil
		}))
		decodings = 0
		if _, err := p.Do(t.Context(), tool.Request{
			Kind: tool.KindCall, Name: "block/update", Args: json.RawMessage(`{"id":"a"}`), Origin: tool.Direct, Caller: agreeingCaller{},
		}); err != nil {
			t.Fatal(err)
		}
		want := 1
		if dangerous {
			want = 2
		}
		if resolved != want || decodings != want || ran != 1 {
			t.Errorf("dangerous %t: targets resolved %d times, arguments decoded %d times, ran %d times; want %d, %d and 1",
				dangerous, resolved, decodings, ran, want, want)
		}
	}
}

// replaceAction makes the source offer a instead of its action of the same tool and name.
func (s *Source) replaceAction(a *action.Action) {
	for i := range s.tools {
		for j := range s.tools[i].Actions {
			if s.tools[i].Name == a.Tool && s.tools[i].Actions[j].Name == a.Name {
				s.tools[i].Actions[j] = a
			}
		}
	}
	s.index[a.Tool][a.Name] = a
	s.setConfig(s.switches.Last())
}
