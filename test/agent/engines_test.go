package agent_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tidwall/gjson"

	"collie/internal/agent/acp/acptest"
	"collie/test/fakellm/provider"
	"collie/test/gateway"
)

// TestEngines sends messages to each engine: chat (the model alone), react (the model with tools), direct (commands), auto
// and cli (agents of other programs). The turn must name the engine, and the audit log the origin of its calls.
func TestEngines(t *testing.T) {
	fake, err := provider.New(provider.Script{Conversations: []provider.Conversation{
		{When: provider.When{Prompt: "list them"}, Turns: []provider.Turn{callTurn("notebook", `{"action":"list"}`), {Say: "got $RESULTS"}}},
		{Turns: []provider.Turn{{Say: "talked"}}},
	}}, provider.Options{})
	if err != nil {
		t.Fatal(err)
	}
	at := httptest.NewServer(fake)
	t.Cleanup(at.Close)
	p := gateway.LinkPrograms(t)
	settings := p.Settings(t, nil, `"siyuan":{}`, fmt.Sprintf(`"providers":{"fake":{"kind":"openai","baseURL":%q,"keys":[{"label":"a","secret":"x"}]}}`, at.URL+"/v1"), `"agent":{"model":"fake/m"}`)
	g := p.Serve(t, settings)
	g.AwaitReady(t)
	control := g.Control(t)
	writeFakeAgent(t, g.Home)
	for _, tt := range []struct {
		engine, text string // what the person chooses, and sends
		runs         string // the engine that answers
		asked        int    // how many requests the model gets
		tools        bool   // whether it is shown tools
		call         bool   // whether a tool is called
		answer       string // a part of the answer
	}{
		{engine: "chat", text: "hello", runs: "chat", asked: 1, answer: "talked"},
		{engine: "chat", text: "/notebook list", runs: "chat", asked: 1, answer: "talked"},
		{engine: "react", text: "hello", runs: "react", asked: 1, tools: true, answer: "talked"},
		{engine: "react", text: "list them", runs: "react", asked: 2, tools: true, call: true, answer: "Welcome"},
		{engine: "react", text: "/notebook list", runs: "react", asked: 1, tools: true, answer: "talked"},
		{engine: "direct", text: "/notebook list", runs: "direct", call: true, answer: "Welcome"},
		{engine: "direct", text: "notebook list", runs: "direct", call: true, answer: "Welcome"},
		{engine: "direct", text: "/help notebook", runs: "direct", answer: "set_open_state"},
		{engine: "auto", text: "/notebook list", runs: "direct", call: true, answer: "Welcome"},
		{engine: "auto", text: "list them", runs: "react", asked: 2, tools: true, call: true, answer: "Welcome"},
		{engine: "auto", text: "//notebook list", runs: "react", asked: 1, tools: true, answer: "talked"},
		{text: "/notebook list", runs: "direct", call: true, answer: "Welcome"},
		{engine: "cli", text: "say from afar", runs: "cli", answer: "from afar"},
		{engine: "cli", text: "call read notes", runs: "cli", call: true},
	} {
		t.Run(tt.engine+" "+tt.text, func(t *testing.T) {
			_, made := post(t, g.URL+"/api/v1/sessions", control, "application/json", `{}`)
			before := len(fake.Requests())
			status, accepted := post(t, g.URL+"/api/v1/sessions/"+made.Get("id").String()+"/turns", control, "application/json",
				fmt.Sprintf(`{"userMessage":{"text":%q},"overrides":{"engine":%q,"agent":%q}}`, tt.text, tt.engine, map[string]string{"cli": "fake"}[tt.engine]))
			if status != http.StatusAccepted {
				t.Fatalf("status %d: %s", status, accepted.Raw)
			}
			end := awaitTurnEnd(t, g, accepted.Get("turnId").String())
			if end.Get("state").String() != "done" || end.Get("engine").String() != tt.runs || !strings.Contains(textOf(end), tt.answer) {
				t.Errorf("it ended %s", end.Raw)
			}
			if end.Get("ownTools").Bool() != (tt.runs == "cli") {
				t.Errorf("ownTools is %s", end.Get("ownTools").Raw)
			}
			wantCalls := 0
			if tt.call {
				wantCalls = 1
			}
			if calls := len(end.Get("calls").Array()); calls != wantCalls {
				t.Errorf("%d calls, want %d", calls, wantCalls)
			}
			requests := fake.Requests()[before:]
			if len(requests) != tt.asked {
				t.Fatalf("the model was asked %d times", len(requests))
			}
			for _, r := range requests {
				if len(r.Tools) > 0 != tt.tools {
					t.Errorf("it was shown %d tools", len(r.Tools))
				}
				if said := r.Messages[0].Text; said != strings.Replace(tt.text, "//", "/", 1) {
					t.Errorf("it was told %q", said)
				}
			}
		})
	}
	g.Signal(os.Interrupt)
	g.ExitCode()
	origins := map[string]int{}
	for _, r := range gateway.Records(t, g.Home) {
		if r.Tool == "notebook" && r.Kind == "call.start" {
			origins[r.Origin]++
		}
	}
	if origins["chat"] != 2 || origins["direct"] != 4 || len(origins) != 2 {
		t.Errorf("the calls on record have origins %v", origins)
	}
}

// TestEnginesInOneConversation has each turn of a conversation answered by another engine. The turn names its engine, and
// the audit log who made its calls.
func TestEnginesInOneConversation(t *testing.T) {
	t.Parallel()
	fake, err := provider.New(provider.Script{Conversations: []provider.Conversation{
		// The answer to a request without tools, as the engine chat makes it, is "talked".
		{Aside: "talked", Turns: []provider.Turn{callTurn("notebook", `{"action":"list"}`), {Say: "got $RESULTS"}}},
	}}, provider.Options{})
	if err != nil {
		t.Fatal(err)
	}
	at := httptest.NewServer(fake)
	t.Cleanup(at.Close)
	p := gateway.LinkPrograms(t)
	settings := p.Settings(t, nil, `"siyuan":{}`, fmt.Sprintf(`"providers":{"fake":{"kind":"openai","baseURL":%q,"keys":[{"label":"a","secret":"x"}]}}`, at.URL+"/v1"), `"agent":{"model":"fake/m"}`)
	g := p.Serve(t, settings)
	g.AwaitReady(t)
	control := g.Control(t)
	writeFakeAgent(t, g.Home)
	_, made := post(t, g.URL+"/api/v1/sessions", control, "application/json", `{}`)
	parent := ""
	for _, tt := range []struct{ engine, text, answer string }{
		{"react", "list them", "Welcome"}, {"direct", "/notebook list", "Welcome"}, {"cli", "say from afar", "from afar"}, {"chat", "hello", "talked"},
	} {
		status, accepted := post(t, g.URL+"/api/v1/sessions/"+made.Get("id").String()+"/turns", control, "application/json",
			fmt.Sprintf(`{"userMessage":{"parentId":%q,"text":%q},"overrides":{"engine":%q,"agent":%q}}`, parent, tt.text, tt.engine, map[string]string{"cli": "fake"}[tt.engine]))
		if status != http.StatusAccepted {
			t.Fatalf("%s: status %d: %s", tt.engine, status, accepted.Raw)
		}
		end := awaitTurnEnd(t, g, accepted.Get("turnId").String())
		if end.Get("engine").String() != tt.engine || !strings.Contains(textOf(end), tt.answer) {
			t.Errorf("%s ended %s", tt.engine, end.Raw)
		}
		parent = accepted.Get("assistantMessageId").String()
	}
	var view json.RawMessage
	g.Get(t, "/sessions/"+made.Get("id").String(), &view)
	if path := gjson.GetBytes(view, "path").Array(); len(path) != 8 || path[7].Get("id").String() != parent {
		t.Errorf("the conversation is %s", view)
	}
	var origins []string
	for _, r := range gateway.Records(t, g.Home) {
		if r.Tool == "notebook" && r.Kind == "call.start" {
			origins = append(origins, r.Origin)
		}
	}
	if got := strings.Join(origins, " "); got != "chat direct" { // the model's call, then the person's
		t.Errorf("the calls on record have origins %s", got)
	}
}

// writeFakeAgent writes the definition of an agent named fake, which runs the scripted agent of package acptest.
func writeFakeAgent(t *testing.T, home string, ways ...string) {
	t.Helper()
	command, err := json.Marshal(acptest.Command(ways...))
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(home, "agents")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	text := fmt.Sprintf("---\ndescription: follows a script\nengine: cli\ncommand: %s\n---\n", command)
	if err := os.WriteFile(filepath.Join(dir, "fake.md"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}
