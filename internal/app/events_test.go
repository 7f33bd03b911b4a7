package app_test

import (
	"encoding/json"
	"strings"
	"testing"

	"collie/internal/app"
	"collie/internal/chat"
	"collie/internal/tool"
)

// Who follows the events hears of each call, its start first, with names and without arguments.
func TestEventsTellOfCalls(t *testing.T) {
	t.Parallel()
	a := open(t, load(t, ""), app.Options{Version: "9"})
	<-a.Servers.Started()
	s, err := a.Conversations(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	sub, err := s.Subscribe(t.Context(), chat.Filter{Kinds: []string{"call.started", "call.done"}}, "")
	if err != nil {
		t.Fatal(err)
	}
	defer sub.Close()
	args := json.RawMessage(`{"text":"a-secret-word"}`)
	if _, err := a.Pipeline.Do(t.Context(), tool.Request{Kind: tool.KindCall, Name: "s__echo", Args: args, Origin: tool.Direct, Session: "an-mcp-session"}); err != nil {
		t.Fatal(err)
	}
	var kinds []string
	for len(kinds) < 3 {
		events, err := sub.Next(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range events {
			kinds = append(kinds, e.Kind)
			if body := string(e.Body); strings.Contains(body, "secret") || e.Session != "" || e.Kind != "reset" && !strings.Contains(body, `"tool":"s`) {
				t.Errorf("%s of session %q: %s", e.Kind, e.Session, body)
			}
		}
	}
	if got := strings.Join(kinds, " "); got != "reset call.started call.done" {
		t.Errorf("events: %s", got)
	}
}
