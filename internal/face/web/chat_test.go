package web_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/tidwall/gjson"

	"collie/internal/chat"
	"collie/internal/face/web"
	"collie/internal/llm"
	"collie/internal/store"
	"collie/internal/tool"
)

// fixedAnswer is a chat.Engine that answers with one text.
type fixedAnswer string

func (text fixedAnswer) Run(_ context.Context, _ *chat.Turn, s chat.Sink) (chat.Outcome, error) {
	s.Emit(0, llm.Event{Kind: llm.EventText, Text: string(text)})
	if text == "" {
		return chat.Outcome{}, errors.New("it broke off")
	}
	return chat.Outcome{Finish: llm.FinishStop, Steps: 1}, nil
}

// client sends requests to the API of conversations, as a token or, with the key "control", as the command line.
type client struct {
	*testing.T
	handler http.Handler
}

func newChatClient(t *testing.T) client {
	t.Helper()
	service := newChatService(t)
	return client{t, web.New(web.Options{
		Chat: func(context.Context) (*chat.Service, error) { return service, nil },
		Identify: func(r *http.Request) web.Identity {
			return web.Identity{Principal: "me", Origin: tool.MCPLocal, Manage: r.Header.Get("Authorization") == "control"}
		},
	})}
}

func newChatService(t *testing.T) *chat.Service {
	t.Helper()
	s, err := store.Open(t.Context(), t.TempDir(), chat.Schema())
	if err != nil {
		t.Fatal(err)
	}
	service, err := chat.Open(t.Context(), s, chat.Options{
		Engine: func(_ context.Context, _ chat.Config, message []llm.Part) (string, chat.Engine, error) {
			if len(message) > 0 && message[0].Text == "break off" {
				return "script", fixedAnswer(""), nil
			}
			return "script", fixedAnswer("hello"), nil
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := errors.Join(service.Close(context.Background()), s.Close()); err != nil {
			t.Error(err)
		}
	})
	return service
}

func (c client) do(status int, method, path, body string, head ...string) (*httptest.ResponseRecorder, gjson.Result) {
	c.Helper()
	r := httptest.NewRequestWithContext(c.Context(), method, "/api/v1"+path, strings.NewReader(body))
	r.Header.Set("Content-Type", "application/json")
	for i := 0; i+1 < len(head); i += 2 {
		r.Header.Set(head[i], head[i+1])
	}
	w := httptest.NewRecorder()
	c.handler.ServeHTTP(w, r)
	if w.Code != status {
		c.Fatalf("%s %s: status %d, %s; want %d", method, path, w.Code, w.Body, status)
	}
	return w, gjson.ParseBytes(w.Body.Bytes())
}

// sendAndAwaitAnswer sends a message in a new session, waits for the answer, and returns the ids of the session, the turn and the answer.
func (c client) sendAndAwaitAnswer() (session, turn, answer string) {
	c.Helper()
	_, made := c.do(201, "POST", "/sessions", `{"title":"tea"}`)
	session = made.Get("id").String()
	_, accepted := c.do(202, "POST", "/sessions/"+session+"/turns", `{"userMessage":{"text":"hi"}}`)
	turn, answer = accepted.Get("turnId").String(), accepted.Get("assistantMessageId").String()
	w, _ := c.do(200, "GET", "/turns/"+turn+"/events", "") // ends with the turn
	if !strings.Contains(w.Body.String(), "hello") {
		c.Fatalf("the stream is %s", w.Body)
	}
	return session, turn, answer
}

func TestTheSameTurnIsAnsweredTheSame(t *testing.T) {
	t.Parallel()
	c := newChatClient(t)
	session, turn, answer := c.sendAndAwaitAnswer()
	_, again := c.do(202, "POST", "/sessions/"+session+"/turns", `{"turnId":"`+turn+`","userMessage":{"text":"hi"}}`)
	if again.Get("turnId").String() != turn || again.Get("assistantMessageId").String() != answer {
		t.Errorf("the second answer is %s", again)
	}
	_, v := c.do(200, "GET", "/sessions/"+session, "")
	if n := len(v.Get("path").Array()); n != 2 {
		t.Errorf("the session has %d messages", n)
	}
}

// A dialogue receives its turn from the first event on, however soon the turn begins.
func TestDialogueHasAllEvents(t *testing.T) {
	t.Parallel()
	c := newChatClient(t)
	srv := httptest.NewServer(c.handler)
	defer srv.Close()
	for range 50 {
		_, made := c.do(201, "POST", "/sessions", `{"title":"tea"}`)
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, srv.URL+"/api/v1/sessions/"+made.Get("id").String()+"/turns", strings.NewReader(`{"userMessage":{"text":"hi"}}`))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Content-Type", "application/x-ndjson")
		resp, err := srv.Client().Do(req)
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(resp.Body)
		resp.Body.Close()
		lines := strings.Split(strings.TrimSpace(string(body)), "\n")
		if first := gjson.Get(lines[0], "event"); err != nil || first.Get("type").String() != "turn.start" || first.Get("seq").Int() != 1 {
			t.Fatalf("%v: it begins with %s", err, lines[0])
		}
		if last := gjson.Get(lines[len(lines)-1], "turn.state").String(); last != "done" {
			t.Fatalf("it ends with %s", lines[len(lines)-1])
		}
	}
}

func TestSessionsHaveETags(t *testing.T) {
	t.Parallel()
	c := newChatClient(t)
	session, _, _ := c.sendAndAwaitAnswer()
	w, _ := c.do(200, "GET", "/sessions/"+session, "")
	tag := w.Header().Get("ETag")
	c.do(304, "GET", "/sessions/"+session, "", "If-None-Match", tag)
	c.do(200, "PATCH", "/sessions/"+session, `{"title":"green tea"}`, "If-Match", tag)
	c.do(409, "PATCH", "/sessions/"+session, `{"title":"black tea"}`, "If-Match", tag)
	c.do(200, "GET", "/sessions/"+session, "", "If-None-Match", tag)
}

func TestNobodyAllowsActionsForASession(t *testing.T) {
	t.Parallel()
	c := newChatClient(t)
	session, _, _ := c.sendAndAwaitAnswer()
	config := `{"config":{"allow":["document.delete"]}}`
	c.do(403, "POST", "/sessions", config)
	c.do(403, "POST", "/sessions", config, "Authorization", "control")
	c.do(403, "PATCH", "/sessions/"+session, config, "Authorization", "control")
	c.do(403, "POST", "/sessions/"+session+"/turns", `{"userMessage":{"text":"x"},"overrides":{"allow":["document.delete"]}}`)
	w, _ := c.do(200, "GET", "/sessions/"+session+"/export", "")
	text := strings.Replace(w.Body.String(), `"config": {`, `"config": {"folder":"/tmp/x","allow":["document.delete"],`, 1)
	text = strings.Replace(text, `"],}`, `"]}`, 1)
	_, made := c.do(201, "POST", "/sessions/import", text)
	if !strings.Contains(text, "document.delete") || made.Get("config.allow").Exists() || made.Get("config.folder").Exists() {
		t.Errorf("%s was imported as %s", text, made)
	}
}

func TestBranchesOverHTTP(t *testing.T) {
	t.Parallel()
	c := newChatClient(t)
	session, _, answer := c.sendAndAwaitAnswer()
	_, v := c.do(200, "GET", "/sessions/"+session, "")
	question := v.Get("path.0.id").String()
	w, _ := c.do(200, "POST", "/messages/"+answer+"/regenerate", `{}`, "Accept", "text/event-stream")
	if !strings.Contains(w.Body.String(), "hello") {
		t.Errorf("the stream is %s", w.Body)
	}
	_, v = c.do(200, "POST", "/messages/"+question+"/select", `{"index":0}`)
	if v.Get("path.1.id").String() != answer || v.Get("path.1.of").Int() != 2 {
		t.Errorf("the path is %s", v.Get("path"))
	}
	c.do(400, "POST", "/messages/"+question+"/select", `{}`)
	_, forked := c.do(201, "POST", "/messages/"+answer+"/fork", `{}`)
	if forked.Get("forkedFrom").String() != answer {
		t.Errorf("the fork is %s", forked)
	}
	_, v = c.do(200, "POST", "/sessions/"+session+"/prune", `{}`)
	if v.Get("path.1.of").Int() != 1 {
		t.Errorf("pruned, it is %s", v)
	}
	c.do(204, "DELETE", "/messages/"+answer, "")
	_, v = c.do(200, "GET", "/sessions/"+session, "")
	if n := len(v.Get("path").Array()); n != 1 {
		t.Errorf("without the answer there are %d messages", n)
	}
	w, _ = c.do(200, "GET", "/sessions/"+session+"/export?format=markdown", "")
	if !strings.HasPrefix(w.Body.String(), "# tea\n") {
		t.Errorf("exported as %s", w.Body)
	}
	c.do(400, "GET", "/sessions/"+session+"/export?format=pdf", "")
	c.do(400, "POST", "/sessions/import", `{}`)
}
