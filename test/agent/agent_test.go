package agent_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/tidwall/gjson"

	"collie/internal/agent/acp/acptest"
	"collie/internal/pipeline/audit"
	"collie/test/await"
	"collie/test/fakellm/provider"
	"collie/test/gateway"
)

func TestMain(m *testing.M) {
	if acptest.Is() {
		os.Exit(acptest.Main())
	}
	os.Exit(gateway.BuildAndRun(m))
}

const leaveLimit = 20 * time.Second

// newPrograms returns Collie's programs and settings with the built-in vault and a fake model that follows script.
func newPrograms(t *testing.T, script provider.Script, servers ...gateway.Server) (programs gateway.Programs, settings string) {
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
	programs = gateway.LinkPrograms(t)
	return programs, programs.Settings(t, servers, `"siyuan":{}`,
		fmt.Sprintf(`"providers":{"fake":{"kind":"openai","baseURL":%q,"keys":[{"label":"a","secret":"x"}]}}`, at.URL+"/v1"),
		`"agent":{"model":"fake/m"}`)
}

// scriptOf returns a script with one conversation of these turns.
func scriptOf(turns ...provider.Turn) provider.Script {
	return provider.Script{Conversations: []provider.Conversation{{Turns: turns}}}
}

// callTurn returns a turn in which the model calls a tool.
func callTurn(tool, args string) provider.Turn {
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

// awaitTurnEnd waits for the end of a turn.
func awaitTurnEnd(t *testing.T, g *gateway.Gateway, turn string) gjson.Result {
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

// wantAuditedCalls fails the test unless the audit log has want calls of tool, which is TOOL or TOOL.ACTION, each with a start and a
// result that name the same step of the same turn.
func wantAuditedCalls(t *testing.T, home, tool string, want int) {
	t.Helper()
	step := regexp.MustCompile(`^[0-9a-f-]{36}:\d+$`)
	started := map[string]audit.Entry{}
	done := 0
	for _, r := range gateway.Records(t, home) {
		if r.Tool != tool && r.Tool+"."+r.Action != tool {
			continue
		}
		if !step.MatchString(r.Parent) {
			t.Errorf("%s of %s has the parent %q, expected TURN:STEP", r.Kind, tool, r.Parent)
		}
		if r.Kind == "decision" {
			continue
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

// TestModelMovesNote has a model move a note, with a gateway and without: the move is refused unless the person allows it
// beforehand.
func TestModelMovesNote(t *testing.T) {
	p, settings := newPrograms(t, scriptOf(callTurn("fs", `{"action":"mv","from":"/Welcome/Writing","to":"/Welcome/Minutes"}`), provider.Turn{Say: "got $RESULTS"}))
	for _, alone := range []bool{true, false} {
		home, stop := t.TempDir(), func() {}
		if !alone {
			g := p.ServeIn(t, home, settings)
			stop = func() { g.Signal(os.Interrupt); g.ExitCode() }
		}
		out, stderr, code := p.Run(t, home, "agent", "run", "rename it", "--config", settings)
		if code != 0 || !strings.Contains(out, "confirmation_required") {
			t.Errorf("without a person, alone %v: exit %d\n%s\n%s", alone, code, out, stderr)
		}
		out, stderr, code = p.Run(t, home, "agent", "run", "rename it", "--allow", "fs.mv", "--config", settings)
		if code != 0 || !strings.Contains(out, `"movedTo":"/Welcome/Minutes"`) {
			t.Errorf("allowed beforehand, alone %v: exit %d\n%s\n%s", alone, code, out, stderr)
		}
		stop() // what is recorded last is written then
		wantAuditedCalls(t, home, "fs.mv", 2)
	}
	p.AwaitNone(t, leaveLimit)
}
