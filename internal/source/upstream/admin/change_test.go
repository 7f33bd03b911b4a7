package admin_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tidwall/gjson"

	"collie/internal/app"
	"collie/internal/config"
	serveradmin "collie/internal/source/upstream/admin"
	"collie/internal/tool"
)

// editorOf returns an Editor of a gateway with these settings, and their file. The gateway reads the file again after
// each change.
func editorOf(t *testing.T, text string) (e *serveradmin.Editor, file string) {
	t.Helper()
	home := t.TempDir()
	file = filepath.Join(home, "collie.json")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	load := func() (*config.Config, error) {
		return config.Load(config.Options{Home: home, Env: config.EnvOf("HOME=" + home)})
	}
	cfg, err := load()
	if err != nil {
		t.Fatal(err)
	}
	a, err := app.Open(t.Context(), cfg, app.Options{Version: "9", Env: config.EnvOf("HOME=" + home)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := a.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	reread := func(context.Context) error {
		now, err := load()
		if err == nil {
			a.Reload(now)
		}
		return err
	}
	return a.Editor(func(*config.Config) string { return file }, reread, "me"), file
}

// withSecrets are settings of two servers. Each secret in them contains "geheim".
const withSecrets = `{
  "siyuan": {"enabled": false},
  "mcpServers": {
    // The one of the team.
    "team": {
      "command": "team-mcp", // pinned
      "args": ["--token", "geheim-eins", "--verbose", "--password", "geheim-zwei"],
      "env": {"PLACE": "geheim-drei", "KEY": "${secret:TEAM}"},
      "disabled": true
    },
    "far": {"url": "https://example.com/mcp?key=geheim-vier", "headers": {"Authorization": "Bearer geheim-fünf"}, "disabled": true},
    "kept": {"url": "https://example.com/mcp", "headers": {"Authorization": "Bearer ${secret:TEAM}"}, "disabled": true}
  }
}`

// shownEntry returns an entry as people see it, and checks that it shows no secret.
func shownEntry(t *testing.T, e *serveradmin.Editor, name string) serveradmin.ShownEntry {
	t.Helper()
	got, err := e.Entry(t.Context(), name)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(got.Entry), "geheim") {
		t.Errorf("a secret is shown: %s", got.Entry)
	}
	return got
}

// People see an entry with its secrets masked. In a changed entry a masked value stands for the old secret, even in a
// list whose items have moved. Comments in the file stay.
func TestChangeEntry(t *testing.T) {
	t.Parallel()
	e, file := editorOf(t, withSecrets)
	got := shownEntry(t, e, "team")
	changed, err := e.ChangeEntry(t.Context(), "team", &serveradmin.ChangedEntry{Revision: got.Revision, Typed: "team", Entry: json.RawMessage(
		`{"command": "team-mcp", "args": ["--password", "***", "--level", "2", "--token", "new"], "env": {"PLACE": "***", "KEY": "${secret:TEAM}", "MORE": "1"}, "description": "ours", "disabled": true}`,
	)})
	if err != nil || !changed.Written || changed.Type != "team" || strings.Contains(string(changed.Servers[0].Entry), "geheim") {
		t.Fatalf("%+v, %v", changed, err)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"// The one of the team.", "// pinned", `key=geheim-vier`} {
		if !strings.Contains(string(text), want) {
			t.Errorf("%s is gone: %s", want, text)
		}
	}
	cfg, err := config.Load(config.Options{Home: filepath.Dir(file)})
	if err != nil {
		t.Fatal(err)
	}
	now := gjson.ParseBytes(cfg.Servers[0].Raw)
	if args, place := now.Get("args").Raw, now.Get("env.PLACE").String(); strings.Join(strings.Fields(args), "") != `["--password","geheim-zwei","--level","2","--token","new"]` || place != "geheim-drei" {
		t.Errorf("args are %s, PLACE is %q", args, place)
	}
	if now.Get("env.MORE").String() != "1" || now.Get("description").String() != "ours" {
		t.Errorf("the change is not in effect: %s", now.Raw)
	}
}

// The server's name must be typed to confirm a change of what runs or of where secrets are sent, and for no other change.
func TestConsentToAChangedEntry(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ what, server, entry, typed string }{
		{"nothing", "team", `{"command":"team-mcp","args":["--token","***","--verbose","--password","***"],"env":{"PLACE":"***","KEY":"${secret:TEAM}"},"disabled":true}`, ""},
		{"how it is shown", "team", `{"command":"team-mcp","args":["--token","***","--verbose","--password","***"],"env":{"PLACE":"***","KEY":"${secret:TEAM}"},"disabled":true,"description":"ours","toolTimeout":"9s"}`, ""},
		{"the program", "team", `{"command":"other"}`, "team"},
		{"a variable", "team", `{"command":"team-mcp","args":["--token","***","--verbose","--password","***"],"env":{"LD_PRELOAD":"x.so"}}`, "team"},
		{"the address, with the secret", "far", `{"url":"https://example.org/mcp","headers":{"Authorization":"***"}}`, "far"},
		{"the address alone", "far", `{"url":"https://example.org/mcp"}`, ""},
		{"the address, with a reference to the secret", "kept", `{"url":"https://example.org/mcp","headers":{"Authorization":"Bearer ${secret:TEAM}"}}`, "kept"},
		{"the address, with the reference escaped", "kept", `{"url":"https://example.org/mcp","headers":{"Authorization":"Bearer \u0024{secret:TEAM}"}}`, "kept"},
		{"the address, with a reference of its own", "far", `{"url":"https://example.org/mcp","headers":{"X-Key":"${TEAM_KEY}"}}`, "far"},
		{"the address without the reference", "kept", `{"url":"https://example.org/mcp"}`, ""},
		{"the reference where it was, switched on", "kept", `{"url":"https://example.com/mcp","headers":{"Authorization":"Bearer ${secret:TEAM}"}}`, ""},
		{"a program for headers", "far", `{"url":"https://example.org/mcp","headersCommand":{"command":"sh"}}`, "far"},
	} {
		t.Run(tt.what, func(t *testing.T) {
			t.Parallel()
			e, file := editorOf(t, withSecrets)
			change := &serveradmin.ChangedEntry{Entry: json.RawMessage(tt.entry), Revision: shownEntry(t, e, tt.server).Revision, DryRun: true}
			if got, err := e.ChangeEntry(t.Context(), tt.server, change); err != nil || got.Type != tt.typed || got.Written {
				t.Fatalf("%+v, %v; want %q to be typed", got, err, tt.typed)
			}
			if text, err := os.ReadFile(file); err != nil || string(text) != withSecrets {
				t.Fatalf("a dry run wrote %s, %v", text, err)
			}
			change.DryRun = false
			if _, err := e.ChangeEntry(t.Context(), tt.server, change); (tool.KindOf(err) == tool.Unconfirmed) != (tt.typed != "") {
				t.Errorf("without the name: %v", err)
			}
		})
	}
}

// A change is refused if it masks a value where the entry has no secret, or if the entry has changed since it was shown.
func TestRefusesAChangedEntry(t *testing.T) {
	t.Parallel()
	e, file := editorOf(t, withSecrets)
	revision := shownEntry(t, e, "team").Revision
	for _, tt := range []struct {
		what, name, entry, revision string
		kind                        tool.ErrorKind
		says                        string
	}{
		{"another flag", "team", `{"command":"team-mcp","args":["--api-key","***"]}`, revision, tool.Invalid, "/args/1"},
		{"another variable", "team", `{"command":"team-mcp","env":{"OTHER":"***"}}`, revision, tool.Invalid, "/env/OTHER"},
		{"a part of it", "team", `{"command":"team-mcp","env":{"PLACE":"x***"}}`, revision, tool.Invalid, "/env/PLACE"},
		{"an old revision", "team", `{"command":"x"}`, "1", tool.StateChanged, "has changed meanwhile"},
		{"with a name", "team", `{"mcpServers":{"other":{"command":"x"}}}`, revision, tool.Invalid, "without its name"},
		{"nobody", "teem", `{"command":"x"}`, revision, tool.NotFound, "did you mean team?"},
	} {
		_, err := e.ChangeEntry(t.Context(), tt.name, &serveradmin.ChangedEntry{Entry: json.RawMessage(tt.entry), Revision: tt.revision, Typed: "team"})
		if tool.KindOf(err) != tt.kind || !strings.Contains(textWithHint(err), tt.says) {
			t.Errorf("%s: %v", tt.what, err)
		}
	}
	if _, err := e.ChangeEntry(t.Context(), "team", &serveradmin.ChangedEntry{Entry: json.RawMessage(`{"command":"x","url":"http://h"}`), Revision: revision, Typed: "team"}); err == nil || !strings.Contains(err.Error(), "both a command and a url") {
		t.Errorf("an entry that cannot work: %v", err)
	}
	if text, err := os.ReadFile(file); err != nil || string(text) != withSecrets {
		t.Errorf("the file is %s, %v", text, err)
	}
}

// textWithHint returns what an error says, with its hint.
func textWithHint(err error) string {
	if e, ok := errors.AsType[*tool.Error](err); ok {
		return err.Error() + " " + e.Hint
	}
	return fmt.Sprint(err)
}

// The name of the program must be typed to import a server that runs a command, also one that only prints its headers.
func TestImportThatRunsACommandIsTyped(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ what, entry, typed string }{
		{"a command", `{"command":"far-mcp"}`, "claude-code"},
		{"a command for headers", `{"type":"http","url":"https://example.com/mcp","headersHelper":"./token.sh"}`, "claude-code"},
		{"an address", `{"type":"http","url":"https://example.com/mcp"}`, ""},
	} {
		t.Run(tt.what, func(t *testing.T) {
			t.Parallel()
			e, file := editorOf(t, `{"siyuan":{"enabled":false}}`)
			if err := os.WriteFile(filepath.Join(filepath.Dir(file), ".claude.json"), []byte(`{"mcpServers":{"far":`+tt.entry+`}}`), 0o600); err != nil {
				t.Fatal(err)
			}
			got, err := e.Import(t.Context(), &serveradmin.Importing{From: "claude-code", DryRun: true})
			if err != nil || got.Type != tt.typed || len(got.Added) != 1 {
				t.Errorf("%q is to be typed for %v, %v; want %q", got.Type, got.Added, err, tt.typed)
			}
			_, err = e.Import(t.Context(), &serveradmin.Importing{From: "claude-code"})
			if refused := tool.KindOf(err) == tool.Unconfirmed; refused != (tt.typed != "") {
				t.Errorf("without a name it ended with %v", err)
			}
		})
	}
}
