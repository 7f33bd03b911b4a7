package mcp

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"collie/internal/config"
	entryadmin "collie/internal/source/upstream/entry/admin"
)

// collie mcp trust takes the folder of a project, its .collie folder, or its settings file.
func TestProjectDir(t *testing.T) {
	t.Parallel()
	for given, want := range map[string]string{
		".": ".", "a": "a", "/x/.collie": "/x", "/x/.collie/collie.json": "/x", ".collie": ".", "./.collie/collie.json": ".", "/x/.collie/": "/x", "/x/my.collie": "/x/my.collie",
	} {
		if got := projectDir(filepath.FromSlash(given)); got != filepath.FromSlash(want) {
			t.Errorf("%s is %s, want %s", given, got, want)
		}
	}
}

// A project's file cannot hide what it starts from the person who decides.
func TestProjectTextHidesNothing(t *testing.T) {
	t.Parallel()
	long := strings.Repeat(" x", 500)
	got := projectText(&config.Project{File: "/p/.collie/collie.json", State: config.Changed}, []entryadmin.ProjectServer{{
		Name: "a\x1b[2K", Command: "rm\r\x1b[1A" + long + "\u202e;\n  innocent", Effects: []string{"runs in /\nnowhere"}, Problems: []string{"wrong"},
	}})
	if strings.ContainsAny(got, "\x1b\r\u202e") {
		t.Errorf("a terminal would obey %q", got)
	}
	lines := strings.Split(strings.TrimSpace(got), "\n")
	if len(lines) != 8 || !strings.Contains(got, strings.TrimSpace(long)) || !strings.Contains(got, "changed since you trusted it") {
		t.Errorf("got %d lines: %q", len(lines), got)
	}
}

// profilesNaming finds the settings of profiles that name a server, and not those that name a longer name.
func TestProfilesNaming(t *testing.T) {
	t.Parallel()
	cfg := &config.Config{Profiles: map[string]config.Profile{
		"b": {Tools: config.Filter{Exclude: []string{"git"}}, Actions: config.Filter{Include: []string{"git.push"}}},
		"a": {Views: map[string]string{"git": "flat"}, Tools: config.Filter{Include: []string{"github", "*"}}},
	}}
	if diff := cmp.Diff([]string{"profiles.a.views", "profiles.b.tools", "profiles.b.actions"}, profilesNaming(cfg, "git")); diff != "" {
		t.Error(diff)
	}
}
