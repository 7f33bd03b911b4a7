package agent_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/shirou/gopsutil/v4/process"
	"github.com/tidwall/gjson"

	"collie/internal/tool"
	"collie/test/await"
	"collie/test/gateway"
)

// processesWith returns the command lines of the processes whose last argument is mark, with which an agent was started.
func processesWith(t *testing.T, mark string) (out []string) {
	t.Helper()
	all, err := process.Processes()
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range all {
		if line, err := p.Cmdline(); err == nil && strings.HasSuffix(line, mark) {
			out = append(out, line)
		}
	}
	return out
}

// TestAgentOfAnotherProgram runs another program as the agent of `collie agent run`, with a gateway and without. The agent
// can call Collie's tools over HTTP or stdio, its questions are answered and recorded, and no process of it is left.
func TestAgentOfAnotherProgram(t *testing.T) {
	for _, way := range []string{"http", "stdio"} {
		for _, serve := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, gateway %t", way, serve), func(t *testing.T) {
				p, settings := newPrograms(t, scriptOf())
				home, mark := t.TempDir(), t.TempDir()
				writeFakeAgent(t, home, way, mark)
				var g *gateway.Gateway
				if serve {
					g = p.ServeIn(t, home, settings)
					g.AwaitReady(t)
				}
				script := `say hello
used {"used":1200,"size":200000,"cost":{"amount":0.03,"currency":"USD"}}
call read what it likes
permit execute make it
permit edit a.txt
mcp notebook {"action":"create","name":"Tea"}
mcp notebook {"action":"list"}
mcp fs {"action":"write","path":"/Tea/x","markdown":"y"}
mcp fs {"action":"mv","from":"/Tea/x","to":"/Tea/y"}`
				out, stderr, code := p.Run(t, home, "agent", "run", script, "--agent", "fake", "--allow", "notebook.create", "--allow", "cli.fake.execute", "--config", settings)
				if code != 0 || !strings.HasPrefix(out, "hello\n[yes]\n[no]\n") || !strings.Contains(out, "Welcome") || strings.Count(out, "Tea") < 2 || !strings.Contains(out, `nobody is available`) {
					t.Errorf("exit %d\n%s\n%s", code, out, stderr)
				}
				for _, part := range []string{"→ cli.fake.read", "→ cli.fake.execute", "✗ cli.fake.edit", "→ notebook", "fake runs its own tools here", "1200 of 200000 tokens in its context; cost 0.03 USD"} {
					if !strings.Contains(stderr, part) {
						t.Errorf("stderr does not say %q:\n%s", part, stderr)
					}
				}
				if used, stderr, _ := p.Run(t, home, "usage", "--json", "--config", settings); gjson.Get(used, "rows.0.provider").String() != "cli/fake" || gjson.Get(used, "rows.0.costMicros").Int() != 30000 {
					t.Errorf("its usage: %s\n%s", used, stderr)
				}
				if left := processesWith(t, mark); len(left) > 0 {
					t.Errorf("there are still %v", left)
				}
				if serve {
					g.Signal(os.Interrupt)
					g.ExitCode()
				}
				wantAuditedCalls(t, home, "cli.fake.execute", 1)
				wantAuditedCalls(t, home, "cli.fake.edit", 1)
				wantAuditedCalls(t, home, "notebook", 2)
				for _, r := range gateway.Records(t, home) {
					want := tool.CLIAgent
					if r.Tool == "fs" && r.Action == "read" { // Collie reads the rules and the memory for the agent's instructions
						want = tool.Chat
					}
					if strings.HasPrefix(r.Kind, "call") && r.Origin != string(want) {
						t.Errorf("%s of %s.%s has the origin %s", r.Kind, r.Tool, r.Action, r.Origin)
					}
				}
				p.AwaitNone(t, leaveLimit)
			})
		}
	}
}

// TestAgentOfAnotherProgramEnds checks that the turn of an agent that crashes ends with the text so far, and that the agent
// ends if its turn is cancelled or the gateway is killed.
func TestAgentOfAnotherProgramEnds(t *testing.T) {
	p, settings := newPrograms(t, scriptOf())
	home, mark := t.TempDir(), t.TempDir()
	writeFakeAgent(t, home, "http", mark)
	out, stderr, code := p.Run(t, home, "agent", "run", "say so far\nexit 3 out of luck", "--agent", "fake", "--config", settings)
	if code == 0 || !strings.Contains(out, "so far") || !strings.Contains(stderr, "fake") || !strings.Contains(stderr, "exit code 3: out of luck") {
		t.Errorf("exit %d\n%s\n%s", code, out, stderr)
	}
	g := p.ServeIn(t, home, settings)
	g.AwaitReady(t)
	control := g.Control(t)
	beginTurn := func() (turn string) {
		_, made := post(t, g.URL+"/api/v1/sessions", control, "application/json", `{"config":{"agent":"fake"}}`)
		_, accepted := post(t, g.URL+"/api/v1/sessions/"+made.Get("id").String()+"/turns", control, "application/json", `{"userMessage":{"text":"say here\nopen execute build\nhang"}}`)
		turn = accepted.Get("turnId").String()
		await.Until(t, "the agent works", func() bool {
			var now struct{ Calls []struct{ Name string } }
			g.Get(t, "/turns/"+turn, &now)
			return len(now.Calls) == 1
		})
		return turn
	}
	turn := beginTurn()
	post(t, g.URL+"/api/v1/turns/"+turn+"/cancel", control, "application/json", `{}`)
	if end := awaitTurnEnd(t, g, turn); end.Get("state").String() != "cancelled" || textOf(end) != "here" || end.Get("calls.0.state").String() != "unknown" {
		t.Errorf("the cancelled turn ended %s", end.Raw)
	}
	await.Until(t, "the cancelled agent has ended", func() bool { return len(processesWith(t, mark)) == 0 })
	beginTurn()
	g.Signal(os.Kill)
	g.ExitCode()
	await.Until(t, "the agent of a killed gateway has ended", func() bool { return len(processesWith(t, mark)) == 0 })
	p.AwaitNone(t, leaveLimit)
}

// TestTokensStartNoPrograms checks that a token with the scope chat can neither start another program as an agent nor
// choose its folder.
func TestTokensStartNoPrograms(t *testing.T) {
	p, settings := newPrograms(t, scriptOf())
	g := p.Serve(t, settings)
	g.AwaitReady(t)
	writeFakeAgent(t, g.Home)
	_, tokens := keysByScope(t, p, g, settings)
	token := tokens["chat"]
	_, made := post(t, g.URL+"/api/v1/sessions", token, "application/json", `{"config":{"agent":"fake"}}`)
	_, accepted := post(t, g.URL+"/api/v1/sessions/"+made.Get("id").String()+"/turns", token, "application/json", `{"userMessage":{"text":"say here"}}`)
	if end := awaitTurnEnd(t, g, accepted.Get("turnId").String()); end.Get("state").String() != "error" || end.Get("error.type").String() != "permission_denied" {
		t.Errorf("it ended %s", end.Raw)
	}
	if status, said := post(t, g.URL+"/api/v1/sessions", token, "application/json", `{"config":{"agent":"fake","folder":"/"}}`); status != 403 {
		t.Errorf("%d: %s", status, said.Raw)
	}
}
