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
		want    []string // findings: severity and rule
		servers string   // the names of the servers that are read
	}{
		"shape mcpServers":              {text: `{"mcpServers": {"a": {"command": "x"}}}`, want: nil, servers: "a"},
		"shape servers and inputs":      {text: `{"servers": {"a": {"command": "x"}}, "inputs": [{"id": "k", "type": "promptString"}]}`, want: nil, servers: "a"},
		"shape context_servers":         {text: `{"context_servers": {"a": {"command": "x"}}, "theme": "dark"}`, want: []string{"warning unknown", "warning unknown"}, servers: ""},
		"shape mcp of opencode":         {text: `{"mcp": {"a": {"type": "remote", "url": "http://h"}}}`, want: []string{"warning unknown"}, servers: ""},
		"shape pasted":                  {text: `{"a": {"command": "x"}, "b": {"url": "http://h"}}`, want: []string{"warning shape"}, servers: "a b"},
		"shape pasted, one is none":     {text: `{"a": {"command": "x"}, "b": {}}`, want: []string{"warning unknown", "warning unknown"}, servers: ""},
		"shape a bare entry":            {text: `{"command": "npx", "args": ["-y", "12306-mcp"]}`, want: []string{"error shape"}, servers: ""},
		"shape both, different names":   {text: `{"mcpServers": {"a": {}}, "servers": {"b": {}}}`, want: nil, servers: "a b"},
		"shape both, the same name":     {text: `{"mcpServers": {"a": {}}, "servers": {"a": {}}}`, want: []string{"error R-CF-3"}, servers: "a"},
		"encoding: BOM":                 {text: "\xef\xbb\xbf{\"mcpServers\": {\"a\": {}}}", want: nil, servers: "a"},
		"encoding: comments and commas": {text: "/* 注释 */ {\"mcpServers\": {\"a\": {},}, // last\n}", want: nil, servers: "a"},
		"encoding: UTF-16":              {text: "\xff\xfe{\x00}\x00", want: []string{"error syntax"}, servers: ""},
		"encoding: not UTF-8":           {text: "{\"x-a\": \"\xff\"}", want: []string{"error syntax"}, servers: ""},
		"4 MiB":                         {text: strings.Repeat(" ", config.MaxSize-2) + "{}", want: nil, servers: ""},
		"more than 4 MiB":               {text: strings.Repeat(" ", config.MaxSize-1) + "{}", want: []string{"error R-CF-3"}, servers: ""},
		"64 levels":                     {text: deep(61), want: nil, servers: "a"},
		"65 levels":                     {text: deep(62), want: []string{"error syntax"}, servers: ""},
		"duplicate key":                 {text: `{"http": {}, "http": {}}`, want: []string{"error R-CF-3"}, servers: ""},
		"duplicate in entry":            {text: `{"mcpServers": {"a": {"env": {"A": "1", "\u0041": "2"}}}}`, want: []string{"error R-CF-3"}, servers: "a"},
		"tolerance: others are read":    {text: `{"mcpServers": {"a": 1, "b": null, "c": {"command": []}}}`, want: nil, servers: "a b c"},
		"time: bare number":             {text: `{"cache": {"firstListWait": 3}}`, want: []string{"error R-CV-8"}, servers: ""},
		"time: bare number in quotes":   {text: `{"mcp": {"drain": "5"}}`, want: []string{"error R-CV-8"}, servers: ""},
		"time: zero needs no unit":      {text: `{"mcp": {"drain": "0"}}`, want: nil, servers: ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c, err := load(t, writeSettings(t, tc.text))
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
			if describeReport(c, nil) != tc.servers {
				t.Errorf("servers %q, want %q", describeReport(c, nil), tc.servers)
			}
		})
	}
}

// A project's file changes nothing before it is trusted, and only servers and inputs after that.
func FuzzProject(f *testing.F) {
	for _, s := range []string{
		settingsWithServers("mine", "new"), `{"http": {"noAuth": true}, "servers": {"a": {"url": "u"}}}`, `{"a": {"command": "x"}}`,
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
		overwriteFile(t, filepath.Join(home, "collie.json"), settingsWithServers("mine"))
		overwriteFile(t, filepath.Join(dir, config.ProjectFile), string(text))
		alone := mustLoad(t, config.Options{Home: home})
		if c := mustLoad(t, o); c.Digest() != alone.Digest() || describeReport(c, nil) != "mine" && !strings.HasPrefix(describeReport(c, nil), "mine ") {
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
