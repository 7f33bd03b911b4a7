package pages_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/tidwall/gjson"

	"collie/test/await"
	"collie/test/fakellm/provider"
	"collie/test/gateway"
	"collie/test/terminal"
)

// A question that a conversation in the pages waits for can be answered at a terminal. If it is answered twice, the
// first answer counts.
func TestConversationAnsweredAtATerminal(t *testing.T) {
	t.Parallel()
	move := provider.Turn{Call: []provider.Call{{Tool: "fs", Args: json.RawMessage(`{"action":"mv","from":"/Welcome/Writing","to":"/Welcome/Minutes"}`)}}}
	fake, err := provider.New(provider.Script{Conversations: []provider.Conversation{{Turns: []provider.Turn{move, {Say: "well"}, move, {Say: "done"}}}}}, provider.Options{})
	if err != nil {
		t.Fatal(err)
	}
	model := httptest.NewServer(fake)
	t.Cleanup(func() {
		model.CloseClientConnections()
		model.Close()
	})
	p := gateway.LinkPrograms(t)
	settings := p.Settings(t, nil, `"siyuan":{}`, `"agent":{"model":"fake/m"}`,
		fmt.Sprintf(`"providers":{"fake":{"kind":"openai","baseURL":%q,"keys":[{"label":"a","secret":"x"}]}}`, model.URL+"/v1"))
	g := p.Serve(t, settings)
	b := signIn(t, g, makeSignInLink(t, g))
	ask := func() (turn, code string) {
		t.Helper()
		_, made := b.send(http.MethodPost, "/api/v1/sessions", `{}`)
		_, accepted := b.send(http.MethodPost, "/api/v1/sessions/"+gjson.Get(made, "id").String()+"/turns", `{"userMessage":{"text":"rename it"}}`)
		turn = gjson.Get(accepted, "turnId").String()
		await.Until(t, "a question is open", func() bool {
			_, open := b.send(http.MethodGet, "/api/v1/questions", "")
			code = gjson.Get(open, "questions.0.id").String()
			return code != ""
		})
		return turn, code
	}
	call := func(turn string) (state string) {
		t.Helper()
		await.Until(t, "the turn ends", func() bool {
			_, now := b.send(http.MethodGet, "/api/v1/turns/"+turn, "")
			state = gjson.Get(now, "calls.0.state").String()
			return gjson.Get(now, "state").String() == "done"
		})
		return state
	}

	turn, code := ask()
	if out, errs, _ := p.Run(t, g.Home, "confirm", "--config", settings); !strings.Contains(out, code) || !strings.Contains(out, "a conversation") {
		t.Errorf("the list is %s%s", out, errs)
	}
	if _, errs, status := p.RunOn(t, g.Home, strings.NewReader("y\n"), "confirm", "--deny", code, "--config", settings); status != 0 {
		t.Errorf("--deny: %s", errs)
	}
	if state := call(turn); state != "refused" {
		t.Errorf("after --deny the call is %s", state)
	}

	turn, code = ask()
	at := terminal.Run(t, terminal.Size{Columns: 120, Rows: 30}, p.Collie, "confirm", strings.ToLower(code), "--home", g.Home, "--config", settings)
	at.WaitFor("/Welcome/Minutes", "Run it?")
	at.Type("y\r")
	at.WaitForExit(0)
	if got := b.sendForStatus(http.MethodPost, "/api/v1/questions/"+code, `{"yes":false}`); got != http.StatusNotFound {
		t.Errorf("a second answer: %d", got)
	}
	if state := call(turn); state != "done" {
		t.Errorf("after a yes the call is %s", state)
	}
	if _, errs, status := p.Run(t, g.Home, "confirm", code, "--config", settings); status == 0 || !strings.Contains(errs, "no call waits") {
		t.Errorf("the code again: %d %s", status, errs)
	}
}
