package firewall_test

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"collie/internal/pipeline/firewall"
	"collie/internal/tool"
	"collie/internal/tool/tooltest"
	"collie/test/await"
)

func TestStage(t *testing.T) {
	t.Parallel()
	const harm, unknown, fine = `{"command":"rm -rf /"}`, `{"command":"make"}`, `{"command":"ls"}`
	for _, tt := range []struct {
		origin   tool.Origin
		settings firewall.Settings
		args     string
		refused  bool
		finding  string // the rule of the finding
		asks     bool
	}{
		{tool.Chat, firewall.Settings{}, harm, true, "", false},
		{tool.Chat, firewall.Settings{}, unknown, false, "command.unknown", true},
		{tool.Chat, firewall.Settings{}, fine, false, "command.known", false},
		{tool.Chat, firewall.Settings{LogOnly: true}, harm, false, "", false},
		{tool.CLIAgent, firewall.Settings{}, harm, true, "", false},
		{tool.Scheduled, firewall.Settings{}, harm, true, "", false},
		{"", firewall.Settings{}, harm, true, "", false},
		{tool.Direct, firewall.Settings{}, harm, false, "command.everything", true},
		{tool.Direct, firewall.Settings{}, unknown, false, "", false},
		{tool.MCPLocal, firewall.Settings{}, harm, false, "", false},
		{tool.MCPRemote, firewall.Settings{}, unknown, false, "", false},
		{tool.MCPLocal, firewall.Settings{Clients: true}, harm, true, "", false},
		{tool.MCPRemote, firewall.Settings{Clients: true}, unknown, false, "command.unknown", true},
		{tool.MCPRemote, firewall.Settings{Clients: true, LogOnly: true}, harm, false, "", false},
	} {
		s := firewall.New(firewall.Options{Settings: &tt.settings, Files: firewall.Files{Home: home}})
		c := call(t, "run_command", tt.args)
		c.Origin = tt.origin
		got, err := s.Check(t.Context(), c)
		if (err != nil) != tt.refused {
			t.Errorf("%s %s, %+v: error %v", tt.origin, tt.args, tt.settings, err)
		}
		var f tool.Finding
		if err == nil && got.Finding != nil {
			f = *got.Finding
		}
		if f.Rule != tt.finding || f.Ask != tt.asks {
			t.Errorf("%s %s, %+v: finding %+v", tt.origin, tt.args, tt.settings, f)
		}
		if c.Finding != nil {
			t.Error("the call itself was changed")
		}
	}
}

// A refusal names the stage, the rule and the risk, and says that a retry is useless.
func TestRefusal(t *testing.T) {
	t.Parallel()
	s := firewall.New(firewall.Options{})
	ran := false
	_, err := tooltest.Checked(t.Context(), s.Check, shell(t, "rm -rf /"), func(context.Context, *tool.Call) (tool.Result, error) {
		ran = true
		return tool.Result{}, nil
	})
	e, ok := errors.AsType[*tool.Error](err)
	if !ok || ran || e.Kind != tool.Denied || !e.Kind.Refused() {
		t.Fatalf("ran %t, error %v", ran, err)
	}
	for _, want := range []string{`"type":"permission_denied"`, `"stage":"firewall"`, `"rule":"command.everything"`, `"risk":"critical"`, `"retryable":false`, `"at":"/command"`, `"hint":"`} {
		if payload := string(e.Payload()); !strings.Contains(payload, want) {
			t.Errorf("%s is missing in %s", want, payload)
		}
	}
}

// A finding that is not enforced is logged once for each tool and rule, without the arguments.
func TestLogged(t *testing.T) {
	t.Parallel()
	var log strings.Builder
	s := firewall.New(firewall.Options{Logger: slog.New(slog.NewTextHandler(&log, nil))})
	for _, command := range []string{"rm -rf /", "rm -rf /", "ls"} {
		c := shell(t, command)
		c.Origin = tool.MCPLocal
		if got, err := s.Check(t.Context(), c); err != nil || got != c {
			t.Errorf("%q: call changed: %t, error %v", command, got != c, err)
		}
	}
	if text := log.String(); strings.Count(text, "\n") != 1 || !strings.Contains(text, "command.everything") || strings.Contains(text, "-rf") {
		t.Errorf("logged %q", text)
	}
}

func TestNewSettings(t *testing.T) {
	t.Parallel()
	s := firewall.New(firewall.Options{})
	if _, err := s.Check(t.Context(), shell(t, "rm -rf /")); err == nil {
		t.Error("it passes")
	}
	s.Use(&firewall.Settings{LogOnly: true})
	if _, err := s.Check(t.Context(), shell(t, "rm -rf /")); err != nil {
		t.Error(err)
	}
}

// A session may make 120 calls at once, then two a second. That does not limit other sessions, people or MCP clients.
func TestRates(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := firewall.New(firewall.Options{})
		make1 := func(session string, origin tool.Origin) error {
			c := call(t, "get", `{}`)
			c.Session, c.Origin = session, origin
			_, err := s.Check(t.Context(), c)
			return err
		}
		for i := range 120 {
			if err := make1("a", tool.Chat); err != nil {
				t.Fatalf("call %d: %v", i, err)
			}
		}
		e, ok := errors.AsType[*tool.Error](make1("a", tool.Chat))
		if !ok || e.Kind != tool.Busy || e.RetryAfter <= 0 || e.RetryAfter > time.Second {
			t.Errorf("the 121st: %v", e)
		}
		for _, other := range []struct {
			session string
			origin  tool.Origin
		}{{"b", tool.Chat}, {"a", tool.Direct}, {"a", tool.MCPLocal}} {
			if err := make1(other.session, other.origin); err != nil {
				t.Errorf("%+v: %v", other, err)
			}
		}
		await.Sleep(e.RetryAfter)
		if err := make1("a", tool.Chat); err != nil {
			t.Error(err)
		}
	})
}

// After a model has read a text that gives it orders, its writes and unknown commands count as one risk higher.
func TestTaint(t *testing.T) {
	t.Parallel()
	write, read := tool.Action{Name: "add", Risk: tool.RiskLow, Effects: tool.EffectWrite}, tool.Action{Name: "get", Risk: tool.RiskNone, Effects: tool.EffectRead}
	shell := tool.Action{Name: "run_command"}
	for _, tt := range []struct {
		name     string
		origin   tool.Origin
		action   tool.Action
		args     string
		settings firewall.Settings
		rule     string
		risk     tool.Risk
		asks     bool
	}{
		{"a write", tool.Chat, write, `{}`, firewall.Settings{}, "text.orders", tool.RiskMedium, false},
		{"another agent's", tool.CLIAgent, write, `{}`, firewall.Settings{}, "text.orders", tool.RiskMedium, false},
		{"a read", tool.Chat, read, `{}`, firewall.Settings{}, "", "", false},
		{"a person's", tool.Direct, write, `{}`, firewall.Settings{}, "", "", false},
		{"logged", tool.Chat, write, `{}`, firewall.Settings{LogOnly: true}, "", "", false},
		{"a command", tool.Chat, shell, `{"command":"make"}`, firewall.Settings{}, "command.unknown", tool.RiskCritical, true},
		{"a command that only reads", tool.Chat, shell, `{"command":"ls"}`, firewall.Settings{}, "command.known", tool.RiskLow, false},
	} {
		s := firewall.New(firewall.Options{Settings: &tt.settings})
		c := call(t, tt.action.Name, tt.args)
		c.Action, c.Origin, c.Taint = &tt.action, tt.origin, "override.prior"
		got, err := s.Check(t.Context(), c)
		if err != nil {
			t.Fatal(err)
		}
		var f tool.Finding
		if got.Finding != nil {
			f = *got.Finding
		}
		if f.Rule != tt.rule || f.Risk != tt.risk || f.Ask != tt.asks {
			t.Errorf("%s: %+v", tt.name, f)
		}
	}
}
