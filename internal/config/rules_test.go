package config_test

import (
	"encoding/json"
	"errors"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"collie/internal/config"
)

// TestRules checks, for each rule about settings files and each accepted shape of a file, which findings and which
// servers Load returns.
func TestRules(t *testing.T) {
	t.Parallel()
	deep := func(n int) string {
		return `{"mcpServers": {"a": {"x-a": ` + strings.Repeat("[", n) + strings.Repeat("]", n) + `}}}`
	}
	for name, tc := range map[string]struct {
		text    string
		want    []string
		servers string
	}{
		"shape mcpServers":              {`{"mcpServers": {"a": {"command": "x"}}}`, nil, "a"},
		"shape servers and inputs":      {`{"servers": {"a": {"command": "x"}}, "inputs": [{"id": "k", "type": "promptString"}]}`, nil, "a"},
		"shape context_servers":         {`{"context_servers": {"a": {"command": "x"}}, "theme": "dark"}`, []string{"warning unknown", "warning unknown"}, ""},
		"shape mcp of opencode":         {`{"mcp": {"a": {"type": "remote", "url": "http://h"}}}`, []string{"warning unknown"}, ""},
		"shape pasted":                  {`{"a": {"command": "x"}, "b": {"url": "http://h"}}`, []string{"warning shape"}, "a b"},
		"shape pasted, one is none":     {`{"a": {"command": "x"}, "b": {}}`, []string{"warning unknown", "warning unknown"}, ""},
		"shape a bare entry":            {`{"command": "npx", "args": ["-y", "12306-mcp"]}`, []string{"error shape"}, ""},
		"shape both, different names":   {`{"mcpServers": {"a": {}}, "servers": {"b": {}}}`, nil, "a b"},
		"shape both, the same name":     {`{"mcpServers": {"a": {}}, "servers": {"a": {}}}`, []string{"error R-CF-3"}, "a"},
		"encoding: BOM":                 {"\xef\xbb\xbf{\"mcpServers\": {\"a\": {}}}", nil, "a"},
		"encoding: comments and commas": {"/* 注释 */ {\"mcpServers\": {\"a\": {},}, // last\n}", nil, "a"},
		"encoding: UTF-16":              {"\xff\xfe{\x00}\x00", []string{"error syntax"}, ""},
		"encoding: not UTF-8":           {"{\"x-a\": \"\xff\"}", []string{"error syntax"}, ""},
		"R-CF-3 4 MiB":                  {strings.Repeat(" ", config.MaxSize-2) + "{}", nil, ""},
		"R-CF-3 more than 4 MiB":        {strings.Repeat(" ", config.MaxSize-1) + "{}", []string{"error R-CF-3"}, ""},
		"R-CF-3 64 levels":              {deep(61), nil, "a"},
		"R-CF-3 65 levels":              {deep(62), []string{"error syntax"}, ""},
		"R-CF-3 duplicate key":          {`{"http": {}, "http": {}}`, []string{"error R-CF-3"}, ""},
		"R-CF-3 duplicate in entry":     {`{"mcpServers": {"a": {"env": {"A": "1", "\u0041": "2"}}}}`, []string{"error R-CF-3"}, "a"},
		"tolerance: others are read":    {`{"mcpServers": {"a": 1, "b": null, "c": {"command": []}}}`, nil, "a b c"},
		"R-CV-8 bare number":            {`{"cache": {"firstListWait": 3}}`, []string{"error R-CV-8"}, ""},
		"R-CV-8 bare number in quotes":  {`{"mcp": {"drain": "5"}}`, []string{"error R-CV-8"}, ""},
		"R-CV-8 zero needs no unit":     {`{"mcp": {"drain": "0"}}`, nil, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c, err := load(t, write(t, tc.text))
			found := c.Warnings
			if wrong, ok := errors.AsType[*config.Error](err); ok {
				found = wrong.Findings
			}
			var got []string
			for _, f := range found {
				got = append(got, string(f.Severity)+" "+f.Rule)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("findings (-want +got):\n%s\n%v", diff, found)
			}
			if told(c, nil) != tc.servers {
				t.Errorf("servers %q, want %q", told(c, nil), tc.servers)
			}
		})
	}
}

// A project's file changes nothing before it is trusted, and only servers and inputs after that.
func FuzzProject(f *testing.F) {
	for _, s := range []string{
		servers("mine", "new"), `{"http": {"noAuth": true}, "servers": {"a": {"url": "u"}}}`, `{"a": {"command": "x"}}`,
		`{"inputs": [{"id": "k", "default": "d"}], "profiles": {"default": {}}}`, `{`, ``, `[]`, `{"mcpServers": {"a": 1, "b": {"command": {"x": "\ud800"}}}}`,
	} {
		f.Add([]byte(s))
	}
	home, dir := f.TempDir(), f.TempDir()
	o := config.Options{Home: home, Project: dir}
	paths, err := config.FindPaths(home, config.Env{})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		put(t, filepath.Join(home, "collie.json"), servers("mine"))
		put(t, filepath.Join(dir, config.ProjectFile), string(text))
		alone := mustLoad(t, config.Options{Home: home})
		if c := mustLoad(t, o); c.Digest() != alone.Digest() || told(c, nil) != "mine" && !strings.HasPrefix(told(c, nil), "mine ") {
			t.Fatalf("an untrusted file changes the settings to %s", c.JSON())
		}
		p, err := config.FindProject(paths, dir)
		if err != nil {
			t.Fatal(err)
		}
		if p.Trust(t.Context(), paths, time.Now()) != nil {
			return // it has errors
		}
		c := mustLoad(t, o)
		var a, b map[string]json.RawMessage
		if json.Unmarshal(alone.JSON(), &a) != nil || json.Unmarshal(c.JSON(), &b) != nil {
			t.Fatal("settings are not JSON")
		}
		delete(a, "mcpServers")
		delete(b, "mcpServers")
		if diff := cmp.Diff(a, b); diff != "" {
			t.Fatalf("a trusted file changes more than servers:\n%s", diff)
		}
	})
}
