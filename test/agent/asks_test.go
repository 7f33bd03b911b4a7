package agent_test

import (
	"bufio"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/tidwall/gjson"

	"collie/internal/tool"
	"collie/test/fakellm/provider"
	"collie/test/gateway"
)

// sendAndAnswer sends text as the command line does, and answers questions to the person from answers, by method. It returns
// the turn when it has ended, and the methods of the questions.
func sendAndAnswer(t *testing.T, g *gateway.Gateway, text string, answers map[string]string) (end gjson.Result, asked []string) {
	t.Helper()
	control := g.Control(t)
	_, made := post(t, g.URL+"/api/v1/sessions", control, "application/json", `{}`)
	body, say := io.Pipe()
	defer say.Close()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, g.URL+"/api/v1/sessions/"+made.Get("id").String()+"/turns", body)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+control)
	r.Header.Set("Content-Type", "application/x-ndjson")
	go func() { // ends when it is read, or with the pipe
		_, _ = fmt.Fprintf(say, `{"userMessage":{"text":%q},"capabilities":{"elicitation":{"form":{},"url":{}}}}`+"\n", text)
	}()
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	lines := bufio.NewScanner(resp.Body)
	lines.Buffer(nil, 16<<20)
	for lines.Scan() {
		line := gjson.Parse(lines.Text())
		if turn := line.Get("turn"); turn.Exists() {
			return turn, asked
		}
		if ask := line.Get("ask"); ask.Exists() {
			method := ask.Get("method").String()
			if q := ask.Get("params"); method == tool.MethodConfirm && q.Get("action").String() == "sampling" {
				method = "sampling"
			} else if q.Get("mode").String() == "url" {
				method = "url"
			}
			asked = append(asked, method)
			if _, err := fmt.Fprintf(say, `{"id":%s,"result":%s}`+"\n", ask.Get("id").Raw, answers[method]); err != nil {
				t.Fatal(err)
			}
		}
	}
	t.Fatalf("the turn did not end: %v", lines.Err())
	return gjson.Result{}, nil
}

// A server's request during a call reaches the person of the turn, and with their consent the model. Without a person
// it is declined at once.
func TestServersAskThePersonOfTheTurn(t *testing.T) {
	wants := map[string]string{
		"form": `{"what":"elicitation"}`, "url": `{"what":"elicitation","params":{"mode":"url","message":"sign in","url":"https://example.com/in","elicitationId":"e"}}`,
		"sampling": `{"what":"sampling"}`,
	}
	var script provider.Script
	for name, args := range wants {
		script.Conversations = append(script.Conversations, provider.Conversation{
			When: provider.When{Prompt: name + "."}, Turns: []provider.Turn{callTurn("ask", args), {Say: "got $RESULTS"}},
		})
	}
	script.Conversations = append(script.Conversations, provider.Conversation{When: provider.When{Prompt: "capital of France"}, Turns: []provider.Turn{{Say: "Paris"}}})
	p, settings := newPrograms(t, script, gateway.Server{Name: "side"})
	g := p.Serve(t, settings)
	const yes = `{"confirm":true}`
	for _, tt := range []struct {
		what, answer string
		method       string
		want         string
	}{
		{what: "form", answer: `{"action":"accept","content":{"name":"Ann"}}`, method: "elicitation/create", want: "Ann"},
		{what: "form", answer: `{"action":"decline"}`, method: "elicitation/create", want: "decline"},
		{what: "url", answer: `{"action":"accept"}`, method: "url", want: "accept"},
		{what: "sampling", answer: yes, method: "sampling", want: "Paris"},
		{what: "sampling", answer: `{"confirm":false}`, method: "sampling", want: "the person said no"},
	} {
		end, asked := sendAndAnswer(t, g, tt.what+".", map[string]string{tool.MethodConfirm: yes, tt.method: tt.answer})
		if text := textOf(end); end.Get("state").String() != "done" || !strings.HasPrefix(text, "got") || !strings.Contains(text, tt.want) {
			t.Errorf("%s, answered %s: %s", tt.what, tt.answer, end.Raw)
		}
		if !slices.Equal(asked, []string{tool.MethodConfirm, tt.method}) {
			t.Errorf("%s: asked %v", tt.what, asked)
		}
		if noted := end.Get(`parts.#(code=="sampling").text`).Exists(); noted != (tt.want == "Paris") {
			t.Errorf("%s, answered %s: a notice %v", tt.what, tt.answer, noted)
		}
	}
	for what, want := range map[string]string{"form": "decline", "url": "decline", "sampling": "cannot be asked"} {
		_, made := post(t, g.URL+"/api/v1/sessions", g.Control(t), "application/json", `{}`)
		_, accepted := post(t, g.URL+"/api/v1/sessions/"+made.Get("id").String()+"/turns", g.Control(t), "application/json",
			fmt.Sprintf(`{"userMessage":{"text":%q},"overrides":{"allow":["side.*"]}}`, what+"."))
		end := awaitTurnEnd(t, g, accepted.Get("turnId").String())
		if !strings.Contains(textOf(end), want) || end.Get(`parts.#(code=="sampling")`).Exists() {
			t.Errorf("%s with nobody there: %s", what, end.Raw)
		}
	}
}
