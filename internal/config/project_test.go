package config_test

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"collie/internal/config"
)

// trustProject marks the file of a project as trusted.
func trustProject(t *testing.T, paths config.Paths, dir string) *config.Project {
	t.Helper()
	p, err := config.FindProject(paths, dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Trust(t.Context(), paths, time.Date(2026, 7, 28, 12, 0, 0, 0, time.UTC)); err != nil {
		t.Fatal(err)
	}
	return p
}

// makeProject makes a home with user settings and a project folder with its own settings.
func makeProject(t *testing.T, user, project string) (o config.Options, paths config.Paths, file string) {
	t.Helper()
	o = config.Options{Home: t.TempDir(), Project: resolveLinks(t, t.TempDir())}
	file = filepath.Join(o.Project, config.ProjectFile)
	overwriteFile(t, filepath.Join(o.Home, "collie.json"), user)
	overwriteFile(t, file, project)
	paths, err := config.FindPaths(o.Home, o.Env)
	if err != nil {
		t.Fatal(err)
	}
	return o, paths, file
}

func resolveLinks(t *testing.T, dir string) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(dir)
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

func mustLoad(t *testing.T, o config.Options) *config.Config {
	t.Helper()
	c, err := config.Load(o)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// Nothing in a project's file takes effect before it is trusted, or after it has changed.
func TestProjectIsUsedOnceTrusted(t *testing.T) {
	t.Parallel()
	const text = `{"mcpServers": {
		"mine": {"command": "theirs"},
		"new": {"command": "sh", "args": ["-c", "真"], "envFile": "/dev/zero", "env": {"K": "v"}, "cwd": "x", "disabled": false},
		"odd": 1
	}}`
	o, paths, file := makeProject(t, `{"mcpServers": {"mine": {"command": "ours"}}}`, text)
	alone := mustLoad(t, config.Options{Home: o.Home})
	c := mustLoad(t, o)
	if c.Digest() != alone.Digest() || string(c.JSON()) != string(alone.JSON()) {
		t.Error("a project that nobody trusts changes the settings in effect")
	}
	type row struct {
		Name, Raw string
		Untrusted bool
	}
	var got []row
	for _, s := range c.Servers {
		got = append(got, row{s.Name, string(s.Raw), s.Untrusted})
	}
	want := []row{
		{"mine", `{"command":"ours"}`, false},
		{"new", `{"disabled":true,"command":"sh","args":["-c","真"]}`, true},
		{"odd", `{"disabled":true}`, true},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("servers (-want +got):\n%s", diff)
	}
	if len(c.Warnings) != 1 || c.Warnings[0].Rule != "untrusted" || c.Warnings[0].File != file || c.Project.State != config.Untrusted {
		t.Errorf("warnings %v of a project that is %s", c.Warnings, c.Project.State)
	}
	if line, _ := c.Servers[1].Position("/command"); line != 3 {
		t.Errorf("the command of new is in line %d, want 3", line)
	}

	trustProject(t, paths, o.Project)
	c = mustLoad(t, o)
	got = nil
	for _, s := range c.Servers {
		got = append(got, row{s.Name, string(s.Raw), s.Untrusted})
		if s.File != file || s.Dir != filepath.Dir(file) || s.Workspace != o.Project {
			t.Errorf("%s is of %s in %s, workspace %s", s.Name, s.File, s.Dir, s.Workspace)
		}
	}
	want = []row{
		{"mine", `{"command":"theirs"}`, false},
		{"new", `{"command":"sh","args":["-c","真"],"envFile":"/dev/zero","env":{"K":"v"},"cwd":"x","disabled":false}`, false},
		{"odd", `1`, false},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("servers once trusted (-want +got):\n%s", diff)
	}
	if len(c.Warnings) != 0 || c.Digest() == alone.Digest() {
		t.Errorf("warnings %v", c.Warnings)
	}

	overwriteFile(t, file, text+" ")
	if c = mustLoad(t, o); c.Project.State != config.Changed || c.Digest() != alone.Digest() || c.Warnings[0].Rule != "changed" {
		t.Errorf("one more byte, and the project is %s with %v", c.Project.State, c.Warnings)
	}
	overwriteFile(t, file, text)
	if c = mustLoad(t, o); c.Project.State != config.Trusted {
		t.Errorf("as it was again, the project is %s", c.Project.State)
	}
	if found, err := config.Revoke(t.Context(), paths, file); !found || err != nil {
		t.Errorf("revoke: %v, %v", found, err)
	}
	if found, err := config.Revoke(t.Context(), paths, file); found || err != nil {
		t.Errorf("revoke again: %v, %v", found, err)
	}
	if c = mustLoad(t, o); c.Digest() != alone.Digest() {
		t.Error("a project whose trust was taken back is used")
	}
}

func TestProjectCannotSetAnythingElse(t *testing.T) {
	t.Parallel()
	o, paths, _ := makeProject(t, `{"mcpServers": {"a": {"command": "x"}}, "inputs": [{"id": "k", "default": "mine"}]}`, `{
		"mcpServers": {"p": {"command": "x"}}, "inputs": [{"id": "k", "default": "theirs"}, {"id": "l"}],
		"http": {"addr": "0.0.0.0:80", "noAuth": true}, "audit": {"content": "none"}, "mcp": {"limits": {"maxFrame": 1}, "env": {"deny": []}},
		"cache": {"file": "/x"}, "log": {"file": "/y"}, "secrets": {"store": "file"}, "siyuan": {"enabled": false}, "vault": {"file": "v"},
		"profiles": {"default": {"tools": ["p"]}}, "x-own": 1, "htpp": 1
	}`)
	trustProject(t, paths, o.Project)
	c := mustLoad(t, o)
	alone := mustLoad(t, config.Options{Home: o.Home})
	var a, b map[string]json.RawMessage
	if json.Unmarshal(alone.JSON(), &a) != nil || json.Unmarshal(c.JSON(), &b) != nil {
		t.Fatal("settings are not JSON")
	}
	delete(a, "mcpServers")
	delete(b, "mcpServers")
	if diff := cmp.Diff(a, b); diff != "" {
		t.Errorf("the project changed more than servers (-alone +with):\n%s", diff)
	}
	var rules []string
	for _, w := range c.Warnings {
		rules = append(rules, w.Rule+" "+w.Pointer)
	}
	want := []string{
		"project /http", "project /audit", "project /mcp", "project /cache", "project /log", "project /secrets",
		"project /siyuan", "project /vault", "project /profiles", "unknown /htpp",
	}
	if diff := cmp.Diff(want, rules); diff != "" {
		t.Errorf("warnings (-want +got):\n%s", diff)
	}
	for _, s := range c.Servers { // each server uses the inputs of its own file
		if in, ok := s.Input("k"); !ok || in.Default != map[string]string{"a": "mine", "p": "theirs"}[s.Name] {
			t.Errorf("%s sees input %+v", s.Name, in)
		}
	}
}

func TestProjectIsLookedForOnlyWhereNoFileIsNamed(t *testing.T) {
	t.Parallel()
	o, paths, file := makeProject(t, settingsWithServers("a"), settingsWithServers("p"))
	trustProject(t, paths, o.Project)
	if got := describeReport(mustLoad(t, o), nil); got != "a p" {
		t.Errorf("servers %s", got)
	}
	own := filepath.Join(o.Home, "collie.json")
	for name, o := range map[string]config.Options{
		"--config":      {Home: o.Home, Project: o.Project, Files: []string{own}},
		"COLLIE_CONFIG": {Home: o.Home, Project: o.Project, Env: config.EnvOf("COLLIE_CONFIG=" + own)},
		"elsewhere":     {Home: o.Home, Project: filepath.Dir(file)},
		"no folder":     {Home: o.Home},
		"its own home":  {Home: filepath.Dir(file), Project: o.Project, Files: nil},
	} {
		c := mustLoad(t, o)
		if c.Project != nil {
			t.Errorf("%s: project %s", name, c.Project.File)
		}
	}
}

func TestTrustFileIsPrivate(t *testing.T) {
	t.Parallel()
	o, paths, file := makeProject(t, `{}`, settingsWithServers("p"))
	trustProject(t, paths, o.Project)
	store := filepath.Join(paths.State, "trust.json")
	info, err := os.Stat(store)
	if err != nil {
		t.Fatal(err)
	}
	list, err := config.Decisions(paths)
	if err != nil || len(list) != 1 || list[0].File != file || list[0].State() != config.Trusted || list[0].Time.IsZero() {
		t.Errorf("decisions %+v, %v", list, err)
	}
	if runtime.GOOS != "windows" {
		if info.Mode().Perm() != 0o600 {
			t.Errorf("mode %v", info.Mode())
		}
		if err := os.Chmod(store, 0o620); err != nil {
			t.Fatal(err)
		}
		if c := mustLoad(t, o); c.Project.State != config.Untrusted || !strings.Contains(c.Warnings[0].Message, "others can write") {
			t.Errorf("a file that others write is believed: %s, %v", c.Project.State, c.Warnings)
		}
	}
	for _, text := range []string{"{", `{"version": 2, "projects": {}}`} {
		if err := os.WriteFile(store, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(store, 0o600); err != nil {
			t.Fatal(err)
		}
		if c := mustLoad(t, o); c.Project.State != config.Untrusted || len(c.Warnings) != 2 {
			t.Errorf("%s: %s, %v", text, c.Project.State, c.Warnings)
		}
		p, _ := config.FindProject(paths, o.Project)
		if err := p.Trust(t.Context(), paths, time.Now()); err == nil {
			t.Errorf("%s was overwritten", text)
		}
	}
}

func TestWrongProject(t *testing.T) {
	t.Parallel()
	o, paths, file := makeProject(t, settingsWithServers("a"), `{"mcpServers": {`)
	if c := mustLoad(t, o); describeReport(c, nil) != "a" { // the user's own servers work in spite of a broken project
		t.Errorf("servers %s", describeReport(c, nil))
	}
	p, err := config.FindProject(paths, o.Project)
	if err != nil {
		t.Fatal(err)
	}
	var wrong *config.Error
	if err := p.Trust(t.Context(), paths, time.Now()); !errors.As(err, &wrong) {
		t.Errorf("trust in a broken file: %v", err)
	}
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	if _, err := config.FindProject(paths, o.Project); !errors.Is(err, config.ErrNoProject) {
		t.Errorf("no file: %v", err)
	}
	if err := os.Mkdir(file, 0o700); err != nil {
		t.Fatal(err)
	}
	if c := mustLoad(t, o); describeReport(c, nil) != "a" || len(c.Warnings) != 1 {
		t.Errorf("a folder in its place: %s, %v", describeReport(c, nil), c.Warnings)
	}
}

func TestEditKeepsTrust(t *testing.T) {
	t.Parallel()
	o, paths, file := makeProject(t, settingsWithServers("a"), settingsWithServers("p"))
	state := func() config.TrustState { return mustLoad(t, o).Project.State }
	c := mustLoad(t, o)
	if err := c.Edit(t.Context(), file, config.Switch(false, "p")); err != nil {
		t.Fatal(err)
	}
	if state() != config.Untrusted {
		t.Error("an edit made an untrusted file trusted")
	}
	trustProject(t, paths, o.Project)
	c = mustLoad(t, o)
	if err := c.Edit(t.Context(), file, config.Switch(true, "p")); err != nil {
		t.Fatal(err)
	}
	if state() != config.Trusted {
		t.Errorf("after an edit of ours the project is %s", state())
	}
	c = mustLoad(t, o)
	overwriteFile(t, file, settingsWithServers("p", "evil")) // somebody else has changed the file meanwhile
	if err := c.Edit(t.Context(), file, config.Switch(false, "p")); err != nil {
		t.Fatal(err)
	}
	if state() != config.Changed {
		t.Errorf("after a change of somebody else the project is %s", state())
	}
}
