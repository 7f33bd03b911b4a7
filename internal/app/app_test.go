package app_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"collie/internal/app"
	"collie/internal/config"
	"collie/internal/mcp/mcptest"
	"collie/internal/pipeline/audit"
	"collie/internal/tool"
)

func TestMain(m *testing.M) {
	mcptest.RunIfChild()
	goleak.VerifyTestMain(m)
}

// loadSettings reads settings with one fakemcp named s, no notes, and the additional text more.
func loadSettings(t *testing.T, more string) *config.Config {
	t.Helper()
	path, args, env := mcptest.Command(t)
	vars := map[string]string{}
	for _, v := range env {
		name, value, _ := strings.Cut(v, "=")
		vars[name] = value
	}
	entry, err := json.Marshal(map[string]any{"command": path, "args": args, "env": vars})
	if err != nil {
		t.Fatal(err)
	}
	home := t.TempDir()
	file := filepath.Join(home, "collie.json")
	if err := os.WriteFile(file, []byte(`{"siyuan":{"enabled":false},"mcpServers":{"s":`+string(entry)+`}`+more+`}`), 0o600); err != nil {
		t.Fatal(err)
	}
	cfg, err := config.Load(config.Options{Home: home, Files: []string{file}})
	if err != nil {
		t.Fatal(err)
	}
	return cfg
}

// openApp opens an App that is closed at the end of the test.
func openApp(t *testing.T, cfg *config.Config, opts app.Options) *app.App {
	t.Helper()
	a, err := app.Open(t.Context(), cfg, opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 15*time.Second)
		defer cancel()
		if err := a.Close(ctx); err != nil {
			t.Error(err)
		}
	})
	return a
}

// A call reaches the server under the limits and profiles of the settings, and is recorded in the audit folder that they
// name.
func TestOpen(t *testing.T) {
	t.Parallel()
	cfg := loadSettings(t, `,"profiles":{"default":{"actions":{"exclude":["s.crash"]}},"all":{}},"mcp":{"limits":{"maxCallTimeout":"3s"}}`)
	a := openApp(t, cfg, app.Options{Version: "9"})
	<-a.Servers.Started()
	if list := a.Servers.List(); len(list) != 1 || list[0].State != tool.StateReady || list[0].Tools == 0 {
		t.Fatalf("servers: %+v", list)
	}
	callAs := func(name, profile string) error {
		_, err := a.Pipeline.Do(t.Context(), tool.Request{Kind: tool.KindCall, Name: name, Args: json.RawMessage("{}"), Origin: tool.Direct, Profile: profile})
		return err
	}
	if err := callAs("s__echo", ""); err != nil {
		t.Error(err)
	}
	if err := callAs("s__crash", ""); tool.KindOf(err) != tool.NotFound {
		t.Errorf("what the default profile hides: %v", err)
	}
	if err := callAs("s__hang", "all"); tool.KindOf(err) != tool.Timeout {
		t.Errorf("a call over the limit: %v", err)
	}
	if _, err := a.Servers.Tail(t.Context(), "x", tool.LogFilter{}); tool.KindOf(err) != tool.NotFound {
		t.Errorf("logs of nobody: %v", err)
	}
	if lines, err := a.Servers.Tail(t.Context(), "s", tool.LogFilter{}); err != nil || lines == nil {
		t.Errorf("logs: %v %v", lines, err)
	}
	if err := a.Close(t.Context()); err != nil {
		t.Error(err)
	}
	var kinds []string
	for e, err := range audit.Query(t.Context(), cfg.Audit.Dir, audit.Filter{Kind: "call"}) {
		if err != nil {
			t.Fatal(err)
		}
		kinds = append(kinds, e.Kind+" "+e.Outcome)
	}
	want := "call.start |call.result ok|call.start |call.result refused|call.start |call.result unknown"
	if got := strings.Join(kinds, "|"); got != want {
		t.Errorf("records: %s, want %s", got, want)
	}
	if err := callAs("s__echo", ""); err == nil {
		t.Error("a call after Close was answered")
	}
}

// Only the named servers start; the others start when they are called.
func TestOpenStartsWhatIsNamed(t *testing.T) {
	t.Parallel()
	a := openApp(t, loadSettings(t, ""), app.Options{Servers: []string{}})
	<-a.Servers.Started()
	if list := a.Servers.List(); list[0].State != tool.StateIdle || list[0].PID != 0 {
		t.Errorf("nobody was to start: %+v", list)
	}
	if got := a.Tools(""); len(got) != 0 {
		t.Errorf("tools of a server that never ran: %+v", got)
	}
}

// With mcp.enabled false, servers are listed as switched off and none is offered.
func TestOpenWithoutServers(t *testing.T) {
	t.Parallel()
	a := openApp(t, loadSettings(t, `,"mcp":{"enabled":false}`), app.Options{})
	<-a.Servers.Started()
	if list := a.Servers.List(); len(list) != 1 || list[0].State != tool.StateDisabled || list[0].Reason != "mcp_disabled" {
		t.Errorf("servers: %+v", list)
	}
	if got := a.Tools(""); len(got) != 0 {
		t.Errorf("tools: %+v", got)
	}
}
