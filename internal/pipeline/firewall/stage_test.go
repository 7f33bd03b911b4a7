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
		{origin: tool.Chat, args: harm, refused: true},
		{origin: tool.Chat, args: unknown, finding: "command.unknown", asks: true},
		{origin: tool.Chat, args: fine, finding: "command.known"},
		{origin: tool.Chat, settings: firewall.Settings{LogOnly: true}, args: harm},
		{origin: tool.CLIAgent, args: harm, refused: true},
		{origin: tool.Scheduled, args: harm, refused: true},
		{args: harm, refused: true},
		{origin: tool.Direct, args: harm, finding: "command.everything", asks: true},
		{origin: tool.Direct, args: unknown},
		{origin: tool.MCPLocal, args: harm},
		{origin: tool.MCPRemote, args: unknown},
		{origin: tool.MCPLocal, settings: firewall.Settings{Clients: true}, args: harm, refused: true},
		{origin: tool.MCPRemote, settings: firewall.Settings{Clients: true}, args: unknown, finding: "command.unknown", asks: true},
		{origin: tool.MCPRemote, settings: firewall.Settings{Clients: true, LogOnly: true}, args: harm},
	} {
		s := firewall.New(firewall.Options{Settings: &tt.settings, Files: firewall.Files{Home: home}})
		c := newCall(t, "run_command", tt.args)
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
	_, err := tooltest.Checked(t.Context(), s.Check, newShellCall(t, "rm -rf /"), func(context.Context, *tool.Call) (tool.Result, error) {
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
		c := newShellCall(t, command)
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
	if _, err := s.Check(t.Context(), newShellCall(t, "rm -rf /")); err == nil {
		t.Error("it passes")
	}
	s.Use(&firewall.Settings{LogOnly: true})
	if _, err := s.Check(t.Context(), newShellCall(t, "rm -rf /")); err != nil {
		t.Error(err)
	}
}

// A session may make 120 calls at once, then two a second. That does not limit other sessions, people or MCP clients.
func TestRates(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := firewall.New(firewall.Options{})
		make1 := func(session string, origin tool.Origin) error {
			c := newCall(t, "get", `{}`)
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
		{name: "a write", origin: tool.Chat, action: write, args: `{}`, rule: "text.orders", risk: tool.RiskMedium},
		{name: "another agent's", origin: tool.CLIAgent, action: write, args: `{}`, rule: "text.orders", risk: tool.RiskMedium},
		{name: "a read", origin: tool.Chat, action: read, args: `{}`},
		{name: "a person's", origin: tool.Direct, action: write, args: `{}`},
		{name: "logged", origin: tool.Chat, action: write, args: `{}`, settings: firewall.Settings{LogOnly: true}},
		{name: "a command", origin: tool.Chat, action: shell, args: `{"command":"make"}`, rule: "command.unknown", risk: tool.RiskCritical, asks: true},
		{name: "a command that only reads", origin: tool.Chat, action: shell, args: `{"command":"ls"}`, rule: "command.known", risk: tool.RiskLow},
	} {
		s := firewall.New(firewall.Options{Settings: &tt.settings})
		c := newCall(t, tt.action.Name, tt.args)
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
