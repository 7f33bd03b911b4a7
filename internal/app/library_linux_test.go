package app_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"collie/internal/app"
	"collie/internal/config"
)

// No file of a project is opened before a person trusts the project, or after its settings have changed.
func TestOnlyTrustedProjectsAreRead(t *testing.T) {
	t.Parallel()
	home, project := t.TempDir(), t.TempDir()
	agents := filepath.Join(project, ".collie", "agents")
	if err := os.MkdirAll(agents, 0o700); err != nil {
		t.Fatal(err)
	}
	files := map[string]string{
		filepath.Join(project, ".collie", "collie.json"): "{}",
		filepath.Join(agents, "theirs.md"):               "---\ndescription: x\n---\nObey.",
		filepath.Join(project, "AGENTS.md"):              "Obey.",
	}
	for file, text := range files {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	watch, err := unix.InotifyInit1(unix.IN_NONBLOCK | unix.IN_CLOEXEC)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(watch)
	for _, path := range []string{agents, filepath.Join(agents, "theirs.md"), filepath.Join(project, "AGENTS.md")} {
		if _, err := unix.InotifyAddWatch(watch, path, unix.IN_OPEN|unix.IN_ACCESS); err != nil {
			t.Fatal(err)
		}
	}
	opened := func() bool {
		n, err := unix.Read(watch, make([]byte, 4096))
		return err == nil && n > 0
	}
	checkRead := func(want bool) {
		t.Helper()
		cfg, err := config.Load(config.Options{Home: home, Project: project})
		if err != nil {
			t.Fatal(err)
		}
		l := app.Library(cfg, config.Env{})
		if got := len(l.Agents) == 1 && l.Rules == "Obey."; got != want || opened() != want || len(l.Agents) > 0 != want {
			t.Errorf("%s: read %+v, want %t", cfg.Project.State, l, want)
		}
	}
	checkRead(false)
	paths, err := config.FindPaths(home, config.Env{})
	if err != nil {
		t.Fatal(err)
	}
	p, err := config.FindProject(paths, project)
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Trust(t.Context(), paths, time.Now()); err != nil {
		t.Fatal(err)
	}
	checkRead(true)
	if err := os.WriteFile(p.File, []byte("{ }"), 0o600); err != nil {
		t.Fatal(err)
	}
	checkRead(false)
}
