//go:build stories

package agent_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tidwall/gjson"

	"collie/test/await"
	"collie/test/binary"
)

// TestAgentOfOfficialSDK runs an agent that is built on the official SDK of the Agent Client Protocol, which checks each
// message of Collie against its schema. The agent answers, asks for permission, calls a tool of Collie over HTTP, and is
// cancelled.
func TestAgentOfOfficialSDK(t *testing.T) {
	binary.Packages(t, "../acp")
	script, err := filepath.Abs("../acp/agent.mjs")
	if err != nil {
		t.Fatal(err)
	}
	command, err := json.Marshal([]string{binary.Node(t, binary.Packages(t, "../conformance")), script})
	if err != nil {
		t.Fatal(err)
	}
	p, settings := newPrograms(t, scriptOf())
	home := t.TempDir()
	dir := filepath.Join(home, "agents")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "sdk.md"), fmt.Appendf(nil, "---\ndescription: on the official SDK\nengine: cli\ncommand: %s\n---\n", command), 0o600); err != nil {
		t.Fatal(err)
	}
	const question = "think hm\nsay hello\npermit execute make it\nmcp notebook {\"action\":\"list\"}"
	for allow, answer := range map[string]string{"cli.sdk.execute": "[y]", "cli.sdk.edit": "[n]"} {
		out, stderr, code := p.Run(t, home, "agent", "run", question, "--agent", "sdk", "--allow", allow, "--config", settings)
		if code != 0 || !strings.HasPrefix(out, "hello") || !strings.Contains(out, answer) || !strings.Contains(out, "Welcome") {
			t.Errorf("allowed %s: exit %d\n%s\n%s", allow, code, out, stderr)
		}
	}
	wantAuditedCalls(t, home, "cli.sdk.execute", 2)
	wantAuditedCalls(t, home, "notebook", 2)
	g := p.ServeIn(t, home, settings)
	g.AwaitReady(t)
	control := g.Control(t)
	_, made := post(t, g.URL+"/api/v1/sessions", control, "application/json", `{"config":{"agent":"sdk"}}`)
	_, accepted := post(t, g.URL+"/api/v1/sessions/"+made.Get("id").String()+"/turns", control, "application/json", `{"userMessage":{"text":"say here\nhang"}}`)
	turn := accepted.Get("turnId").String()
	await.Until(t, "the agent says something", func() bool {
		var now json.RawMessage
		g.Get(t, "/turns/"+turn, &now)
		return textOf(gjson.ParseBytes(now)) == "here"
	})
	post(t, g.URL+"/api/v1/turns/"+turn+"/cancel", control, "application/json", `{}`)
	if end := awaitTurnEnd(t, g, turn); end.Get("state").String() != "cancelled" || textOf(end) != "here" {
		t.Errorf("the cancelled turn ended %s", end.Raw)
	}
	g.Signal(os.Interrupt)
	g.ExitCode()
	p.AwaitNone(t, leaveLimit)
}
