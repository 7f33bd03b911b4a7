package config_test

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"collie/internal/config"
)

// Servers are found in each shape in which documentation of servers shows them, with standard JSON as their text.
func TestSnippet(t *testing.T) {
	t.Parallel()
	type server struct{ Name, Raw string }
	tests := []struct {
		name, text string
		want       []server
	}{
		{"mcpServers", `{"mcpServers": {"b": {"command": "x"}, "a": {"url": "u"}}}`, []server{{"b", `{"command":"x"}`}, {"a", `{"url":"u"}`}}},
		{"servers, with comments", "{\"servers\": {\"a\": {\"url\": \"u\"}, // one\n}, \"inputs\": []}", []server{{"a", `{"url":"u"}`}}},
		{"by name", `{"a": {"command": "x"}}`, []server{{"a", `{"command":"x"}`}}},
		{"bare", `{"command": "npx", "args": ["-y", "p"]}`, []server{{"", `{"command":"npx","args":["-y","p"]}`}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			found, err := config.Snippet("-", "/d", []byte(tt.text))
			if err != nil {
				t.Fatal(err)
			}
			var got []server
			for _, s := range found {
				if s.File != "-" || s.Dir != "/d" {
					t.Errorf("%s is said to be in %s, folder %s", s.Name, s.File, s.Dir)
				}
				got = append(got, server{s.Name, string(s.Raw)})
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// An error about a text says where it came from, and the line and column if one is to blame.
func TestSnippetTellsThePlace(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"{\n \"mcpServers\": 1}":           "-:2:16: mcpServers: expected an object of servers by name, got number",
		`{}`:                               `-: no server found; expected {"mcpServers": {"name": {…}}}, {"name": {…}} or one entry with a command or a url`,
		`{"command": "a", "command": "b"}`: `-:1:18: command: duplicate key "command"; it is in line 1 too`,
		`{"http": {"addr": "x"}}`:          `-:1:19: http.addr: expected host:port such as "127.0.0.1:7420", got "x"`,
	} {
		_, err := config.Snippet("-", "/d", []byte(text))
		bad, ok := errors.AsType[*config.Error](err)
		if !ok || bad.Error() != want {
			t.Errorf("%s: got %v, want %s", text, err, want)
		}
	}
}

// FuzzSnippet: a text gives either an error or servers, and their entries are JSON.
func FuzzSnippet(f *testing.F) {
	for _, s := range []string{`{"mcpServers":{"a":{"command":"x"}}}`, `{"a":{"url":"u"}}`, `{"command":["a"]}`, "", "[1", "\xff"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		found, err := config.Snippet("-", "/d", text)
		if (err == nil) != (len(found) > 0) {
			t.Errorf("%d servers, error %v", len(found), err)
		}
		for _, s := range found {
			if !json.Valid(s.Raw) {
				t.Errorf("%s is not JSON: %s", s.Name, s.Raw)
			}
		}
	})
}

// If one of several servers exists already, none is written, unless existing ones are to be replaced.
func TestAddServersAllOrNone(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "collie.json")
	const before = "{\"mcpServers\": {\n  \"a\": {\"command\": \"x\"}, // mine\n}}\n"
	if err := os.WriteFile(file, []byte(before), 0o600); err != nil {
		t.Fatal(err)
	}
	both := []config.ServerEntry{{Name: "b", Raw: json.RawMessage(`{"url":"u"}`)}, {Name: "a", Raw: json.RawMessage(`{"command":"y"}`)}}
	if err := config.AddServers(t.Context(), file, both, false); err == nil {
		t.Error("a server was replaced without being asked for")
	}
	if got, _ := os.ReadFile(file); string(got) != before {
		t.Errorf("the file was changed:\n%s", got)
	}
	if err := config.AddServers(t.Context(), file, both, true); err != nil {
		t.Fatal(err)
	}
	const want = "{\"mcpServers\": {\n  \"a\": {\"command\":\"y\"}, // mine\n  \"b\": {\n    \"url\": \"u\"\n  },\n}}\n"
	got, _ := os.ReadFile(file)
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Error(diff)
	}
}
