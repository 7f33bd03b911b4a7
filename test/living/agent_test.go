package living_test

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/tidwall/gjson"

	"collie/internal/app"
	"collie/internal/config"
	"collie/internal/tool"
	"collie/test/await"
	"collie/test/gateway"
)

// agent imitates a ReAct loop: before each step it takes the list of tools, and calls through the pipeline the one
// that its model chooses.
type agent struct {
	*app.App
	seenTools [][]string // the names of the tools that each step saw
}

// newAgent opens the parts of a gateway in the test process, with the settings of the home.
func (h *home) newAgent(t *testing.T) *agent {
	t.Helper()
	cfg, err := config.Load(config.Options{Files: []string{h.settings}, Home: h.dir})
	if err != nil {
		t.Fatal(err)
	}
	a, err := app.Open(t.Context(), cfg, app.Options{Version: "test"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), waitLimit)
		defer cancel()
		if err := a.Close(ctx); err != nil {
			t.Error(err)
		}
	})
	return &agent{App: a}
}

// agreeingCaller is a caller whose person agrees to every question that the gate asks.
type agreeingCaller struct{}

func (agreeingCaller) ID() string                      { return "agent" }
func (agreeingCaller) Supports(c tool.Capability) bool { return c == tool.CanConfirm }

func (agreeingCaller) Capabilities() json.RawMessage                   { return json.RawMessage(`{}`) }
func (agreeingCaller) Notify(context.Context, string, json.RawMessage) {}
func (agreeingCaller) Ask(context.Context, string, json.RawMessage) (json.RawMessage, error) {
	return json.RawMessage(`{"confirm":true}`), nil
}

// step lists the tools and lets the model call one of them. It returns the text of the first item of the result, or
// the error, and whether the call failed.
func (a *agent) step(t *testing.T, model func(tools []string) (name, args string)) (text string, failed bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), waitLimit)
	defer cancel()
	raw, _ := a.Pipeline.List(ctx, tool.ListTools, "")
	var seen []string
	for _, name := range gjson.GetBytes(raw, "tools.#.name").Array() {
		seen = append(seen, name.Str)
	}
	a.seenTools = append(a.seenTools, seen)
	name, args := model(seen)
	r, err := a.Pipeline.Do(ctx, tool.Request{Kind: tool.KindCall, Name: name, Args: json.RawMessage(args), Origin: tool.Chat, Principal: "test", Client: "agent", Caller: agreeingCaller{}})
	if err != nil { // told to the model; it never ends the loop
		return err.Error(), true
	}
	return gjson.GetBytes(r.Raw, "content.0.text").Str, r.IsError
}

// The chain from the settings to the answer works: the settings become a server, its tools reach the model, the tool
// that the model chooses is called, the answer has the text of the tool, and the audit has the start of the call, the
// decision and the result.
func TestFromSettingsToAnswer(t *testing.T) {
	t.Parallel()
	h := newHome(t, twoServers)
	a := h.newAgent(t)
	<-a.Servers.Started()
	answer, failed := a.step(t, func(tools []string) (string, string) {
		if !slices.Contains(tools, "a__echo") {
			t.Errorf("the model sees %q", tools)
		}
		return "a__echo", `{"text":"今天的新闻"}`
	})
	if answer != "今天的新闻" || failed {
		t.Errorf("the answer is %q", answer)
	}
	want := []string{"call.start chat a__echo", "decision chat a__echo", "call.result chat a__echo"}
	await.Until(t, "the audit has the call and what the person said", func() bool {
		var kinds []string
		for _, r := range gateway.Records(t, h.dir) {
			kinds = append(kinds, r.Kind+" "+r.Origin+" "+r.Name)
		}
		if len(kinds) > len(want) {
			t.Fatalf("on record: %q, want %q", kinds, want)
		}
		return slices.Equal(kinds, want)
	})
}

// A tool that appears between two steps is seen by the second one. A call of a tool that has disappeared is a failure
// that the model is told of.
func TestToolsOfEachStep(t *testing.T) {
	t.Parallel()
	h := newHome(t, []gateway.Server{serverOffering("a", "echo,change")})
	a := h.newAgent(t)
	<-a.Servers.Started()
	awaitExtra := func(want bool) {
		await.Until(t, "the change is there", func() bool {
			raw, _ := a.Pipeline.List(t.Context(), tool.ListTools, "")
			return strings.Contains(string(raw), "a__extra") == want
		})
	}
	change := func([]string) (string, string) { return "a__change", "{}" }
	a.step(t, change)
	awaitExtra(true)
	if text, failed := a.step(t, func([]string) (string, string) { return "a__extra", `{"text":"there"}` }); text != "there" || failed {
		t.Errorf("the new tool answers %q", text)
	}
	a.step(t, change)
	awaitExtra(false)
	if text, failed := a.step(t, func([]string) (string, string) { return "a__extra", "{}" }); !failed {
		t.Errorf("a tool that has gone answers %q", text)
	}
	without, with := []string{"a__echo", "a__change"}, []string{"a__echo", "a__change", "a__extra"}
	for i, want := range [][]string{without, with, with, without} {
		if !slices.Equal(a.seenTools[i], want) {
			t.Errorf("step %d saw %q, want %q", i+1, a.seenTools[i], want)
		}
	}
}
