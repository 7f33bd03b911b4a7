package admin_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"collie/internal/config"
	hostadmin "collie/internal/source/upstream/hosts/admin"
	"collie/internal/tool"
)

// planImport plans the import of text as a file of claude-code.
func planImport(t *testing.T, settings, text string, o hostadmin.ImportOptions) (*hostadmin.Import, error) {
	t.Helper()
	dir := t.TempDir()
	file, other := filepath.Join(dir, "collie.json"), filepath.Join(dir, "theirs.json")
	for name, content := range map[string]string{file: settings, other: text} {
		if err := os.WriteFile(name, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	cfg, err := config.Load(config.Options{Home: dir, Files: []string{file}})
	if err != nil {
		t.Fatal(err)
	}
	if o.File == "" {
		o.File = other
	}
	o.Reserved = cfg.ReservedNames()
	return hostadmin.PlanImport(cfg, config.EnvOf(), o)
}

// Imported servers get valid names, and no two the same.
func TestImportNames(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("n", 70)
	p, err := planImport(t, `{"mcpServers": {"a": {"command": "x"}, "B": {"command": "y"}, "b-2": {"command": "z"}}}`, `{"mcpServers": {
		"a": {"command": "x", "timeout": 1000},
		"b": {"command": "new"},
		"A B": {"command": "q"}, "a-b": {"command": "r"}, "a/b": {"command": "q"},
		"Collie": {"command": "not-us"},
		"工具": {"command": "uvx", "args": ["mcp-server-time"]},
		"服务": {"command": "plain"},
		"`+long+`1": {"command": "one"}, "`+long+`2": {"command": "two"},
		"docker": {"command": "docker", "args": ["run", "image"]},
		"relay": {"command": "/opt/collie", "args": ["stdio"]}
	}}`, hostadmin.ImportOptions{})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, s := range p.Servers {
		got = append(got, s.Name+" "+s.State)
	}
	want := []string{
		"a unchanged", "b-3 new", "a-b new", "a-b-2 new", "a-b unchanged", "Collie-2 new", "time new", "server new",
		long[:64] + " new", long[:62] + "-2 new", "docker skipped", "relay skipped",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("servers (-want +got):\n%s", diff)
	}
	for _, s := range p.Servers {
		if s.State == hostadmin.ImportSkipped && s.Why == "" || s.Name == "a-b" && !strings.Contains(string(s.Entry), `"displayName":"`+s.From) {
			t.Errorf("%+v", s)
		}
	}
}

// A name in the store that holds a different secret is not reused.
func TestMoveSecrets(t *testing.T) {
	t.Parallel()
	p, err := planImport(t, `{}`, `{"mcpServers": {
		"x": {"command": "x", "env": {"X_TOKEN": "first", "MY_PASSWORD": "second"}},
		"x y": {"command": "y", "env": {"TOKEN": "second"}}
	}}`, hostadmin.ImportOptions{})
	if err != nil {
		t.Fatal(err)
	}
	store := map[string]string{"X_TOKEN": "another"}
	kept := func(name string) (string, bool) { v, ok := store[name]; return v, ok }
	move := func(name, value string) error { store[name] = value; return nil }
	if err := p.MoveSecrets(kept, move); err != nil {
		t.Fatal(err)
	}
	want := map[string]string{"X_TOKEN": "another", "X_TOKEN_2": "first", "X_MY_PASSWORD": "second", "X_Y_TOKEN": "second"}
	if diff := cmp.Diff(want, store); diff != "" {
		t.Errorf("store (-want +got):\n%s", diff)
	}
	entries, err := p.Entries("the import", t.TempDir())
	if err != nil || len(entries) != 2 {
		t.Fatal(entries, err)
	}
	if got := string(entries[0].Raw); !strings.Contains(got, `"X_TOKEN":"${secret:X_TOKEN_2}"`) || strings.Contains(got, "first") {
		t.Errorf("entry %s", got)
	}
	full := errors.New("the store is full")
	p, _ = planImport(t, `{}`, `{"mcpServers": {"x": {"command": "x", "env": {"TOKEN": "first"}}}}`, hostadmin.ImportOptions{})
	if err := p.MoveSecrets(func(string) (string, bool) { return "", false }, func(string, string) error { return full }); !errors.Is(err, full) {
		t.Errorf("got %v", err)
	}
}

// An import can be limited to some servers by their names in the host's file.
func TestImportSelects(t *testing.T) {
	t.Parallel()
	const text = `{"mcpServers": {"a": {"command": "x"}, "b c": {"command": "y"}}}`
	p, err := planImport(t, `{}`, text, hostadmin.ImportOptions{Select: []string{"b c"}})
	if err != nil || len(p.Servers) != 1 || p.Servers[0].Name != "b-c" {
		t.Errorf("got %v, %v", p, err)
	}
	if _, err := planImport(t, `{}`, text, hostadmin.ImportOptions{Select: []string{"z"}}); tool.KindOf(err) != tool.NotFound {
		t.Errorf("got %v", err)
	}
}

// A file in the place where a program keeps a project's servers is read as that project's.
func TestImportOfAProject(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := filepath.Join(dir, ".cursor", "mcp.json")
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(`{"mcpServers": {"a": {"command": "./a"}}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	p, err := planImport(t, `{}`, `{}`, hostadmin.ImportOptions{File: file})
	if err != nil || !slices.ContainsFunc(p.Servers, func(s hostadmin.Imported) bool { return s.Project == dir && s.Host == "cursor" }) {
		t.Errorf("got %+v, %v", p, err)
	}
}
