package app_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/tidwall/gjson"

	"collie/internal/app"
	"collie/internal/chat"
	"collie/internal/config"
	"collie/internal/face/web"
	"collie/internal/tool"
)

// A subscriber gets an event for the start and one for the end of each call, with names but without arguments.
func TestEventsTellOfCalls(t *testing.T) {
	t.Parallel()
	a := openApp(t, loadSettings(t, ""), app.Options{Version: "9"})
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

// A subscriber gets an event when a person is asked about a call, between its start and its end, and one with the
// outcome.
func TestEventsTellOfThePersonAsked(t *testing.T) {
	t.Parallel()
	a := openApp(t, loadSettings(t, ""), app.Options{Version: "9"})
	<-a.Servers.Started()
	s, err := a.Conversations(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	sub, err := s.Subscribe(t.Context(), chat.Filter{}, "")
	if err != nil {
		t.Fatal(err)
	}
	defer sub.Close()
	_, _ = a.Pipeline.Do(t.Context(), tool.Request{ // a model's call of an action that is not marked as read-only
		Kind: tool.KindCall, Name: "s__echo", Args: json.RawMessage(`{"text":"a-secret-word"}`), Origin: tool.Chat, Session: "talk", Caller: refuser{},
	})
	var told []string
	for len(told) < 4 {
		events, err := sub.Next(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range events {
			body := string(e.Body)
			if e.Tool == "" { // events about lists, and the reset, are not about a tool
				continue
			}
			told = append(told, e.Kind)
			if strings.Contains(body, "secret") || e.Session != "talk" || e.Tool != "s.echo" || e.Kind == "person.answered" && !strings.Contains(body, `"answer":"no"`) {
				t.Errorf("%s of session %q about %s: %s", e.Kind, e.Session, e.Tool, body)
			}
		}
	}
	if got := strings.Join(told, " "); got != "call.started person.asked person.answered call.done" {
		t.Errorf("events: %s", got)
	}
}

// A client of the event stream is told when a server starts, is ready, crashes, recovers, and wants a sign-in. One server is
// a process that crashes, the other one refuses requests over HTTP.
func TestEventsTellOfServers(t *testing.T) {
	t.Parallel()
	refusing := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("WWW-Authenticate", "Bearer")
		w.WriteHeader(http.StatusUnauthorized)
	}))
	t.Cleanup(refusing.Close)
	cfg := loadSettings(t, "")
	cfg.Servers = append(cfg.Servers, config.ServerEntry{Name: "remote", Raw: json.RawMessage(`{"url":"` + refusing.URL + `"}`)})
	a := openApp(t, cfg, app.Options{Version: "9", Servers: []string{}}) // which starts none
	api := httptest.NewServer(web.New(web.Options{Chat: a.Conversations, Tools: a.Tools, Identify: func(*http.Request) web.Identity {
		return web.Identity{Principal: "me", Origin: tool.Direct, Manage: true}
	}}))
	t.Cleanup(api.Close)
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, api.URL+"/api/v1/events?kinds=server.state", nil)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	lines := bufio.NewScanner(resp.Body)
	statesUntil := func(last string) (told []string) {
		t.Helper()
		for lines.Scan() {
			body, is := strings.CutPrefix(lines.Text(), "data: ")
			e := gjson.Parse(body)
			if !is || !e.Get("state").Exists() {
				continue
			}
			told = append(told, fmt.Sprintf("%s %s %d", e.Get("server"), e.Get("state"), e.Get("attempt").Int()))
			if e.Get("since").Time().IsZero() {
				t.Errorf("no time: %s", body)
			}
			if told[len(told)-1] == last {
				return told
			}
		}
		t.Fatalf("the stream ended after %q", told)
		return nil
	}
	call := func(name string) {
		_, _ = a.Pipeline.Do(t.Context(), tool.Request{Kind: tool.KindCall, Name: name, Args: json.RawMessage("{}"), Origin: tool.Direct})
	}
	for lines.Scan() && lines.Text() != "event: reset" {
	}
	if _, err := a.Servers.Start(t.Context(), "s"); err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(statesUntil("s ready 0"), ", "); got != "s starting 0, s ready 0" {
		t.Errorf("at the start: %s", got)
	}
	call("s__crash")
	if got := strings.Join(statesUntil("s ready 1"), ", "); got != "s backoff 1, s starting 1, s ready 1" {
		t.Errorf("after a crash: %s", got)
	}
	_, _ = a.Servers.Start(t.Context(), "remote") // the server wants a sign-in
	if got := strings.Join(statesUntil("remote needs_auth 0"), ", "); got != "remote starting 0, remote needs_auth 0" {
		t.Errorf("without a login: %s", got)
	}
}

// refuser is a Caller whose person says no.
type refuser struct{ tool.Caller }

func (refuser) ID() string { return "" }

func (refuser) Supports(what tool.Capability) bool { return what == tool.CanConfirm }

func (refuser) Ask(context.Context, string, json.RawMessage) (json.RawMessage, error) {
	return json.RawMessage(`{"confirm":false}`), nil
}
