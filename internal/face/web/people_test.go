package web_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/tidwall/gjson"

	"collie/internal/chat"
	"collie/internal/face/web"
	"collie/internal/llm"
	"collie/internal/store"
	"collie/internal/tool"
	"collie/test/await"
)

// askingEngine is a chat.Engine that asks the person of its turn and answers with what they said, or "nobody" if no one can be asked.
type askingEngine struct {
	question tool.Question
	form     string // if set, the params of an elicitation/create that is asked instead
}

func (e askingEngine) Run(ctx context.Context, t *chat.Turn, s chat.Sink) (chat.Outcome, error) {
	if t.Ask == nil {
		s.Emit(0, llm.Event{Kind: llm.EventText, Text: "nobody"})
		return chat.Outcome{Finish: llm.FinishStop}, nil
	}
	if e.form != "" {
		form, err := t.Ask.Ask(ctx, "elicitation/create", json.RawMessage(e.form))
		if err != nil {
			return chat.Outcome{}, err
		}
		s.Emit(0, llm.Event{Kind: llm.EventText, Text: string(form)})
		return chat.Outcome{Finish: llm.FinishStop}, nil
	}
	raw, err := json.Marshal(e.question)
	if err != nil {
		return chat.Outcome{}, err
	}
	said, err := t.Ask.Ask(ctx, tool.MethodConfirm, raw)
	s.Emit(0, llm.Event{Kind: llm.EventText, Text: string(said)})
	return chat.Outcome{Finish: llm.FinishStop}, err
}

// waitingCalls are calls of clients that wait under a code.
type waitingCalls struct {
	open  []web.OpenQuestion
	given map[string]bool
}

func (w *waitingCalls) List() ([]web.OpenQuestion, error) { return w.open, nil }

func (w *waitingCalls) Answer(_ context.Context, id string, yes bool) error {
	if _, twice := w.given[id]; twice {
		return &tool.Error{Op: "answer", Kind: tool.Conflict, Message: "somebody was quicker"}
	}
	w.given[id] = yes
	return nil
}

// newPeopleClient returns a client of the API of a gateway that asks question in each turn. The key says who asks: "page", "control" or "token".
func newPeopleClient(t *testing.T, question tool.Question, waiting *waitingCalls) client {
	t.Helper()
	return newPeopleClientOf(t, askingEngine{question: question}, waiting)
}

// newPeopleClientOf is like newPeopleClient, with the given engine.
func newPeopleClientOf(t *testing.T, engine askingEngine, waiting *waitingCalls) client {
	t.Helper()
	s, err := store.Open(t.Context(), t.TempDir(), chat.Schema())
	if err != nil {
		t.Fatal(err)
	}
	service, err := chat.Open(t.Context(), s, chat.Options{
		Engine: func(context.Context, chat.Config, []llm.Part) (string, chat.Engine, error) {
			return "asks", engine, nil
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	over, cancel := context.WithCancel(context.Background())
	cancel()
	t.Cleanup(func() {
		if err := errors.Join(service.Close(over), s.Close()); err != nil { // turns that wait for an answer are cancelled
			t.Error(err)
		}
	})
	return client{t, web.New(web.Options{
		Chat: func(context.Context) (*chat.Service, error) { return service, nil }, Waiting: waiting,
		Identify: func(r *http.Request) web.Identity {
			switch r.Header.Get("Authorization") {
			case "page":
				return web.Identity{Principal: "me", Origin: tool.Direct, Manage: true, Browser: true}
			case "control":
				return web.Identity{Principal: "me", Origin: tool.Direct, Manage: true}
			}
			return web.Identity{Principal: "token", Origin: tool.MCPLocal}
		},
	})}
}

const (
	fromPage    = "Authorization\x00page"
	fromControl = "Authorization\x00control"
)

func (c client) doAs(status int, who, method, path, body string) gjson.Result {
	c.Helper()
	name, value, _ := strings.Cut(who, "\x00")
	_, answer := c.do(status, method, path, body, name, value)
	return answer
}

// beginTurn starts a turn in a new session as the caller who, and returns both ids.
func (c client) beginTurn(who string) (session, turn string) {
	c.Helper()
	session = c.doAs(201, who, "POST", "/sessions", `{}`).Get("id").String()
	return session, c.doAs(202, who, "POST", "/sessions/"+session+"/turns", `{"userMessage":{"text":"hi"}}`).Get("turnId").String()
}

// awaitQuestions waits until n questions are open and returns them.
func (c client) awaitQuestions(n int) []gjson.Result {
	c.Helper()
	var open []gjson.Result
	await.Until(c, "questions are open", func() bool {
		open = c.doAs(200, fromPage, "GET", "/questions", "").Get("questions").Array()
		return len(open) == n
	})
	return open
}

// awaitAnswer waits for the end of a turn and returns its text.
func (c client) awaitAnswer(turn string) (state, text string) {
	c.Helper()
	var t gjson.Result
	await.Until(c, "the turn ends", func() bool {
		t = c.doAs(200, fromPage, "GET", "/turns/"+turn, "")
		return t.Get("state").String() != "running" && t.Get("state").String() != "queued"
	})
	return t.Get("state").String(), t.Get("parts.0.text").String()
}

var removing = tool.Question{Tool: "notebook", Action: "remove", Risk: tool.RiskCritical, Name: "Diary", Args: `{"id":"1"}`}

// A turn that was started from a page asks at the pages, and continues with the first answer from any page or the command line.
func TestATurnOfAPageAsksThere(t *testing.T) {
	t.Parallel()
	c := newPeopleClient(t, removing, &waitingCalls{})
	session, turn := c.beginTurn(fromPage)
	q := c.awaitQuestions(1)[0]
	if q.Get("sessionId").String() != session || q.Get("turnId").String() != turn || q.Get("question.name").String() != "Diary" {
		t.Errorf("the question is %s", q)
	}
	path := "/questions/" + q.Get("id").String()
	for _, wrong := range []string{`{"yes":true}`, `{"yes":true,"name":"diary"}`} {
		if e := c.doAs(400, fromPage, "POST", path, wrong); e.Get("error.code").String() != "wrong_name" {
			t.Errorf("%s: %s", wrong, e)
		}
	}
	c.doAs(200, fromControl, "POST", path, `{"yes":true,"name":" Diary ","grant":"g1"}`)
	c.doAs(404, fromPage, "POST", path, `{"yes":false}`)
	state, text := c.awaitAnswer(turn)
	if state != "done" || text != `{"confirm":true,"grant":"g1","name":"Diary"}` {
		t.Errorf("%s: %s", state, text)
	}
	c.awaitQuestions(0)
}

// A server's form is filled in at a page. A value that does not fit is refused with the name of its field, and the form stays open.
func TestAFormIsFilledInAtAPage(t *testing.T) {
	t.Parallel()
	schema := `{"type":"object","properties":{"name":{"type":"string"},"cups":{"type":"integer"},"hot":{"type":"boolean"},` +
		`"kind":{"type":"string","enum":["green","black"]},"with":{"type":"array","items":{"type":"string","enum":["milk","sugar"]}}},"required":["name"]}`
	c := newPeopleClientOf(t, askingEngine{form: `{"message":"Which tea?","requestedSchema":` + schema + `}`}, &waitingCalls{})
	_, turn := c.beginTurn(fromPage)
	q := c.awaitQuestions(1)[0]
	if q.Get("form.message").String() != "Which tea?" || q.Get("form.schema").Raw != schema || q.Get("form.url").Exists() {
		t.Errorf("the question is %s", q)
	}
	path := "/questions/" + q.Get("id").String()
	for field, wrong := range map[string]string{
		"content.name": `{"yes":true}`, "content": `{"yes":true,"content":["Ann"]}`, "content.cups": `{"yes":true,"content":{"name":"Ann","cups":1.5}}`,
		"content.hot": `{"yes":true,"content":{"name":"Ann","hot":"yes"}}`, "content.kind": `{"yes":true,"content":{"name":"Ann","kind":"red"}}`,
		"content.with": `{"yes":true,"content":{"name":"Ann","with":"milk"}}`, "content.with ": `{"yes":true,"content":{"name":"Ann","with":["milk","salt"]}}`, "content.more": `{"yes":true,"content":{"name":"Ann","more":1}}`,
	} {
		if e := c.doAs(400, fromPage, "POST", path, wrong); e.Get("error.field").String() != strings.TrimSpace(field) || e.Get("error.code").String() != "wrong_form" {
			t.Errorf("%s: %s", wrong, e)
		}
	}
	c.doAs(200, fromPage, "POST", path, `{"yes":true,"content":{"name":"茶","cups":2,"kind":"green","with":["milk"]}}`)
	if _, text := c.awaitAnswer(turn); text != `{"action":"accept","content":{"name":"茶","cups":2,"kind":"green","with":["milk"]}}` {
		t.Errorf("the server gets %s", text)
	}
	_, turn = c.beginTurn(fromPage)
	c.doAs(200, fromControl, "POST", "/questions/"+c.awaitQuestions(1)[0].Get("id").String(), `{"yes":false}`)
	if _, text := c.awaitAnswer(turn); text != `{"action":"decline"}` {
		t.Errorf("after a no the server gets %s", text)
	}

	c = newPeopleClientOf(t, askingEngine{form: `{"mode":"url","message":"sign in","url":"https://example.com/in","elicitationId":"e"}`}, &waitingCalls{})
	_, turn = c.beginTurn(fromPage)
	q = c.awaitQuestions(1)[0]
	if q.Get("form.url").String() != "https://example.com/in" || q.Get("form.schema").Exists() {
		t.Errorf("the question is %s", q)
	}
	c.doAs(200, fromPage, "POST", "/questions/"+q.Get("id").String(), `{"yes":true}`)
	if _, text := c.awaitAnswer(turn); text != `{"action":"accept"}` {
		t.Errorf("the server gets %s", text)
	}
	c = newPeopleClientOf(t, askingEngine{form: `{"mode":"url","message":"sign in","url":"javascript:alert(1)"}`}, &waitingCalls{})
	_, turn = c.beginTurn(fromPage)
	if state, text := c.awaitAnswer(turn); state != "error" {
		t.Errorf("an address that is a script: %s %s", state, text)
	}
}

// Regenerating an answer and editing a message from a page ask the person too.
func TestEachWayToAnAnswerAsks(t *testing.T) {
	t.Parallel()
	c := newPeopleClient(t, removing, &waitingCalls{})
	no := func(turn string) {
		t.Helper()
		c.doAs(200, fromPage, "POST", "/questions/"+c.awaitQuestions(1)[0].Get("id").String(), `{"yes":false}`)
		if _, text := c.awaitAnswer(turn); !strings.Contains(text, `"confirm":false`) {
			t.Errorf("the turn heard %s", text)
		}
	}
	session, turn := c.beginTurn(fromPage)
	no(turn)
	path := c.doAs(200, fromPage, "GET", "/sessions/"+session, "").Get("path")
	mine, answer := path.Get("0.id").String(), path.Get("1.id").String()
	no(c.doAs(202, fromPage, "POST", "/messages/"+answer+"/regenerate", `{}`).Get("turnId").String())
	no(c.doAs(202, fromPage, "POST", "/messages/"+mine+"/edit", `{"parts":[{"type":"text","text":"again"}]}`).Get("turnId").String())
}

// A question ends with its turn. A turn that was not started from a page asks nobody.
func TestQuestionsEndWithTheirTurn(t *testing.T) {
	t.Parallel()
	c := newPeopleClient(t, removing, &waitingCalls{})
	_, turn := c.beginTurn(fromPage)
	c.awaitQuestions(1)
	c.doAs(202, fromPage, "POST", "/turns/"+turn+"/cancel", "")
	c.awaitQuestions(0)
	for _, who := range []string{fromControl, "Authorization\x00token"} {
		_, turn := c.beginTurn(who)
		if _, text := c.awaitAnswer(turn); text != "nobody" {
			t.Errorf("%q: the turn heard %s", who, text)
		}
	}
}

func TestTokensAreNotPeople(t *testing.T) {
	t.Parallel()
	c := newPeopleClient(t, removing, &waitingCalls{given: map[string]bool{}})
	c.beginTurn(fromPage)
	id := c.awaitQuestions(1)[0].Get("id").String()
	for _, r := range []struct{ method, path, body string }{
		{"GET", "/questions", ""},
		{"POST", "/questions/" + id, `{"yes":true,"name":"Diary"}`},
		{"GET", "/browsers", ""},
		{"POST", "/browsers/links", "{}"},
		{"DELETE", "/browsers/x", ""},
	} {
		c.doAs(403, "Authorization\x00token", r.method, r.path, r.body)
	}
	c.awaitQuestions(1)
}

func TestCallsOfClientsAreAnsweredToo(t *testing.T) {
	t.Parallel()
	w := &waitingCalls{given: map[string]bool{}, open: []web.OpenQuestion{
		{ID: "K7RM4T", Client: "cursor", Question: removing, Asked: time.Now().Add(time.Hour)},
		{ID: "AB2CD3", Client: "cursor", Question: tool.Question{Tool: "fs", Action: "write"}, Asked: time.Now().Add(-time.Hour)},
	}}
	c := newPeopleClient(t, removing, w)
	c.beginTurn(fromPage)
	if list := c.awaitQuestions(3); list[0].Get("id").String() != "AB2CD3" || list[2].Get("id").String() != "K7RM4T" {
		t.Errorf("not the oldest first: %s", list)
	}
	c.doAs(400, fromPage, "POST", "/questions/K7RM4T", `{"yes":true,"name":"Work"}`)
	c.doAs(200, fromPage, "POST", "/questions/K7RM4T", `{"yes":true,"name":"Diary"}`)
	c.doAs(409, fromPage, "POST", "/questions/K7RM4T", `{"yes":false}`)
	c.doAs(200, fromPage, "POST", "/questions/AB2CD3", `{"yes":false}`)
	c.doAs(404, fromPage, "POST", "/questions/nothing", `{"yes":false}`)
	if !w.given["K7RM4T"] || w.given["AB2CD3"] || len(w.given) != 2 {
		t.Errorf("answered is %v", w.given)
	}
}
