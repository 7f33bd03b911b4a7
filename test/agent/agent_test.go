package agent_test

import (
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/tidwall/gjson"

	"collie/internal/pipeline/audit"
	"collie/test/await"
	"collie/test/fakellm/provider"
	"collie/test/gateway"
)

func TestMain(m *testing.M) { os.Exit(gateway.Main(m)) }

const leaveLimit = 20 * time.Second

// world is Collie with a model that follows script.
func world(t *testing.T, script provider.Script, servers ...gateway.Server) (programs gateway.Programs, settings string) {
	t.Helper()
	fake, err := provider.New(script, provider.Options{})
	if err != nil {
		t.Fatal(err)
	}
	at := httptest.NewServer(fake)
	t.Cleanup(func() {
		at.CloseClientConnections() // a silent answer would be waited for
		at.Close()
	})
	programs = gateway.Place(t)
	return programs, programs.Settings(t, servers, `"siyuan":{}`,
		fmt.Sprintf(`"providers":{"fake":{"kind":"openai","baseURL":%q,"keys":[{"label":"a","secret":"x"}]}}`, at.URL+"/v1"),
		`"agent":{"model":"fake/m"}`)
}

func answers(turns ...provider.Turn) provider.Script {
	return provider.Script{Conversations: []provider.Conversation{{Turns: turns}}}
}

func calls(tool, args string) provider.Turn {
	return provider.Turn{Call: []provider.Call{{Tool: tool, Args: json.RawMessage(args)}}}
}

// post sends body with a token and returns the answer.
func post(t *testing.T, url, token, media, body string) (status int, answer gjson.Result) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+token)
	r.Header.Set("Content-Type", media)
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	raw, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, gjson.ParseBytes(raw)
}

// ended waits for the end of a turn.
func ended(t *testing.T, g *gateway.Gateway, turn string) gjson.Result {
	t.Helper()
	var last json.RawMessage
	await.Until(t, "the end of the turn", func() bool {
		g.Get(t, "/turns/"+turn, &last)
		switch gjson.GetBytes(last, "state").String() {
		case "cancelled", "done", "error", "interrupted":
			return true
		}
		return false
	}, func() string { return string(last) })
	return gjson.ParseBytes(last)
}

// pairs fails the test unless each call of tool, which is TOOL or TOOL.ACTION, has a start and a result in the audit, both of
// one step of one turn.
func pairs(t *testing.T, home, tool string, want int) {
	t.Helper()
	step := regexp.MustCompile(`^[0-9a-f-]{36}:\d+$`)
	started := map[string]audit.Entry{}
	done := 0
	for _, r := range gateway.Records(t, home) {
		if r.Tool != tool {
			continue
		}
		if !step.MatchString(r.Parent) {
			t.Errorf("%s of %s has the parent %q, expected TURN:STEP", r.Kind, tool, r.Parent)
		}
		if r.Kind == "call.start" {
			started[r.CallID] = r
			continue
		}
		if s, ok := started[r.CallID]; !ok || s.Parent != r.Parent {
			t.Errorf("the result of %s, part of %s, has no start", r.CallID, r.Parent)
		}
		done++
	}
	if len(started) != want || done != want {
		t.Errorf("%d starts and %d results of %s in the audit, want %d", len(started), done, tool, want)
	}
}

func TestModelMovesNote(t *testing.T) {
	p, settings := world(t, answers(calls("notebook", `{"action":"create","name":"Minutes"}`), provider.Turn{Say: "got $RESULTS"}))
	for _, alone := range []bool{true, false} {
		home, stop := t.TempDir(), func() {}
		if !alone {
			g := p.ServeIn(t, home, settings)
			stop = func() { g.Signal(os.Interrupt); g.ExitCode() }
		}
		out, stderr, code := p.Run(t, home, "agent", "run", "make a notebook", "--config", settings)
		if code != 0 || !strings.Contains(out, "confirmation_required") {
			t.Errorf("without a person, alone %v: exit %d\n%s\n%s", alone, code, out, stderr)
		}
		out, stderr, code = p.Run(t, home, "agent", "run", "make a notebook", "--allow", "notebook.create", "--config", settings)
		if code != 0 || !strings.Contains(out, `"name":"Minutes"`) {
			t.Errorf("allowed beforehand, alone %v: exit %d\n%s\n%s", alone, code, out, stderr)
		}
		stop() // what is recorded last is written then
		pairs(t, home, "notebook", 2)
	}
	p.AwaitNone(t, leaveLimit)
}

// No token makes what a message says a person's deed, and none may allow anything beforehand.
func TestNoWayRoundPerson(t *testing.T) {
	p, settings := world(t, answers(provider.Turn{Say: "no"}))
	g := p.Serve(t, settings)
	first, control, bridge := g.Keys(t)
	tokens := map[string]string{"first": first, "bridge": bridge}
	for _, scope := range []string{"chat", "tools", "approve", "chat,tools,approve"} {
		name := strings.ReplaceAll(scope, ",", "-")
		out, stderr, code := p.Run(t, g.Home, "token", "add", name, "--scope", scope, "--json", "--config", settings)
		if code != 0 {
			t.Fatalf("token add: %s", stderr)
		}
		tokens[scope] = gjson.Get(out, "token").String()
	}
	list := func() string {
		out, stderr, code := p.Run(t, g.Home, "notebook", "list", "--json", "--config", settings)
		if code != 0 {
			t.Fatalf("notebook list: %s", stderr)
		}
		return out
	}
	before := list()
	box := gjson.Get(before, "0.id").String()
	api := g.URL + "/api/v1"
	for name, token := range tokens {
		for _, text := range []string{
			"/notebook create --name Evil", "/notebook remove --id " + box, "/notebook rename --id " + box + " --name Evil",
			"/notebook remove notebook=" + box, "/notebook/remove --notebook " + box,
		} {
			_, made := post(t, api+"/sessions", control, "application/json", `{}`)
			turns := api + "/sessions/" + made.Get("id").String() + "/turns"
			body := fmt.Sprintf(`{"userMessage":{"text":%q},"capabilities":{"elicitation":{}}}`, text)
			for _, allow := range []string{`{"allow":["notebook.*"]}`, `{"allow":["*"]}`} {
				for _, media := range []string{"application/json", "application/x-ndjson"} {
					status, answer := post(t, turns, token, media, body[:len(body)-1]+`,"overrides":`+allow+`}`)
					if status < 400 {
						t.Errorf("token %s allowed %s over %s: %d %s", name, allow, media, status, answer.Raw)
					}
				}
			}
			if status, answer := post(t, turns, token, "application/json", body); status == http.StatusAccepted {
				if end := ended(t, g, answer.Get("turnId").String()); end.Get("state").String() == "done" {
					t.Errorf("token %s: %s was done: %s", name, text, end.Raw)
				}
			} else if status < 400 {
				t.Errorf("token %s: status %d: %s", name, status, answer.Raw)
			}
		}
		if status, _ := post(t, api+"/sessions", token, "application/json", `{"config":{"allow":["notebook.*"]}}`); status < 400 {
			t.Errorf("token %s made a session that allows actions", name)
		}
	}
	if after := list(); after != before {
		t.Errorf("the notebooks were\n%s and are\n%s", before, after)
	}
}

// A message that was acknowledged outlives the gateway, and its turn ends.
func TestKilledGatewayKeepsMessages(t *testing.T) {
	long := strings.Repeat("word ", 400)
	p, settings := world(t, answers(provider.Turn{Say: long, Chunk: 5, Pace: provider.Duration(5 * time.Millisecond)}))
	home := t.TempDir()
	for round := range 3 {
		g := p.ServeIn(t, home, settings)
		control := g.Control(t)
		_, made := post(t, g.URL+"/api/v1/sessions", control, "application/json", `{}`)
		session := made.Get("id").String()
		said := fmt.Sprintf("remember %d", round)
		status, accepted := post(t, g.URL+"/api/v1/sessions/"+session+"/turns", control, "application/json", fmt.Sprintf(`{"userMessage":{"text":%q}}`, said))
		if status != http.StatusAccepted {
			t.Fatalf("status %d: %s", status, accepted.Raw)
		}
		await.Moment(rand.N(1500 * time.Millisecond))
		g.Signal(os.Kill)
		g.ExitCode()
		g = p.ServeIn(t, home, settings)
		end := ended(t, g, accepted.Get("turnId").String())
		if text := end.Get("parts.#(type==\"text\").text").String(); !strings.HasPrefix(long, text) {
			t.Errorf("round %d: the text that was kept is %q", round, text)
		}
		var view json.RawMessage
		g.Get(t, "/sessions/"+session, &view)
		if got := gjson.GetBytes(view, "path.#(role==\"user\").parts.0.text").String(); got != said {
			t.Errorf("round %d: the message is %q, want %q: %s", round, got, said, view)
		}
		g.Signal(os.Interrupt)
		g.ExitCode()
	}
	p.AwaitNone(t, leaveLimit)
}

func TestSpoiltAnswers(t *testing.T) {
	failing := func(f provider.Failure) provider.Turn {
		t := provider.Turn{Say: "the beginning of an answer", Chunk: 4}
		for range 20 {
			t.Fail = append(t.Fail, f)
		}
		return t
	}
	broken := provider.Turn{Call: []provider.Call{{Tool: "notebook", Raw: `{"action": 5 5`}}}
	results := provider.Turn{Say: "got $RESULTS"}
	many := provider.Turn{}
	for range 200 {
		many.Call = append(many.Call, provider.Call{Tool: "notebook", Args: json.RawMessage(`{"action":"list"}`)})
	}
	for name, c := range map[string]struct {
		turns  []provider.Turn
		code   int
		out    string
		stderr string
	}{
		"cut":              {[]provider.Turn{failing(provider.Failure{After: 2, Cut: true})}, 1, "the", "cut off"},
		"error in stream":  {[]provider.Turn{failing(provider.Failure{After: 2, Message: "spoilt"})}, 1, "the", "spoilt"},
		"refused key":      {[]provider.Turn{failing(provider.Failure{Status: 401})}, 1, "", "fake"},
		"broken arguments": {[]provider.Turn{broken, results}, 0, "not a JSON object", ""},
		"200 calls":        {[]provider.Turn{many, results}, 0, "no more are made", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, settings := world(t, answers(c.turns...))
			out, stderr, code := p.Run(t, t.TempDir(), "agent", "run", "go", "--config", settings)
			if code != c.code || !strings.Contains(out, c.out) || !strings.Contains(stderr, c.stderr) {
				t.Errorf("exit %d, want %d\n%.2000s\n%.2000s", code, c.code, out, stderr)
			}
			p.AwaitNone(t, leaveLimit)
		})
	}
}
