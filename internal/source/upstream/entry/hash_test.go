package entry_test

import (
	"encoding/json"
	"testing"

	"collie/internal/source/upstream/entry"
)

// hash returns the hash of an entry that has no errors. Its folder and variables are those of testOptions, such as
// /etc/collie, and ${WHO}, which is "world".
func hash(t *testing.T, raw string) string {
	t.Helper()
	e, problems := entry.Parse("s", json.RawMessage(raw), testOptions())
	for _, p := range problems {
		if p.Severity == entry.SeverityError {
			t.Fatalf("%s: %v", raw, p)
		}
	}
	return e.ConfigHash([]byte("key"))
}

// Members that change what a server offers change its hash. The order and the spelling of members do not, nor do
// members that say how Collie treats the server.
func TestConfigHash(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		raw          string
		same, others []string
	}{
		"stdio": {
			`{"command": "x", "args": ["a", "${WHO}"], "env": {"K": "v"}}`,
			[]string{
				`{"env": {"K": "v"}, "args": ["a", "world"], "command": "x", "type": "stdio"}`,
				`{"command": ["x", "a"], "args": ["world"], "env": {"K": "v"}, "disabled": true, "toolTimeout": "9s", "tools": ["q"], "prefix": "p", "lifecycle": "eager", "autoApprove": true, "description": "d"}`,
				`{"command": "x", "args": ["a", "world"], "env": {"K": "v"}, "cwd": "/etc/collie", "protocol": "auto"}`,
			},
			[]string{
				`{"command": "y", "args": ["a", "world"], "env": {"K": "v"}}`,
				`{"command": "x", "args": ["world", "a"], "env": {"K": "v"}}`,
				`{"command": "x", "args": ["a", "world"], "env": {"K": "w"}}`,
				`{"command": "x", "args": ["a", "world"], "env": {"K": "v", "L": null}}`,
				`{"command": "x", "args": ["a", "world"], "env": {"K": "v"}, "cwd": "/other"}`,
				`{"command": "x", "args": ["a", "world"], "env": {"K": "v"}, "protocol": "legacy"}`,
				`{"command": "x", "args": ["a", "world"], "env": {"K": "v"}, "inheritEnv": "all"}`,
			},
		},
		"stdio with more of the environment": {
			`{"command": "x", "inheritEnv": ["GH_TOKEN", "AWS_*"]}`,
			[]string{`{"command": "x", "inheritEnv": ["AWS_*", "GH_TOKEN"]}`},
			[]string{`{"command": "x", "inheritEnv": ["AWS_*"]}`},
		},
		"http": {
			`{"url": "http://h/mcp", "headers": {"A": "1", "B": "2"}}`,
			[]string{`{"serverUrl": "http://h/mcp", "transport": "streamable-http", "headers": ["B: 2", "A: 1"], "health": {"ping": "5s"}}`},
			[]string{
				`{"url": "http://h/mcp2", "headers": {"A": "1", "B": "2"}}`,
				`{"url": "http://h/mcp", "headers": {"A": "1", "B": "3"}}`,
				`{"url": "http://h/mcp", "headers": {"A": "1", "B": "2"}, "apiKey": "k"}`,
				`{"url": "http://h/mcp", "headers": {"A": "1", "B": "2"}, "auth": {"clientMetadataUrl": "https://h/c.json"}}`,
				`{"url": "http://h/mcp", "headers": {"A": "1", "B": "2"}, "auth": {"grantType": "authorization_code"}}`,
				`{"url": "http://h/mcp", "headers": {"A": "1", "B": "2"}, "type": "sse"}`,
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			want := hash(t, tc.raw)
			for _, raw := range tc.same {
				if hash(t, raw) != want {
					t.Errorf("%s has another hash than %s", raw, tc.raw)
				}
			}
			for _, raw := range tc.others {
				if hash(t, raw) == want {
					t.Errorf("%s has the hash of %s", raw, tc.raw)
				}
			}
		})
	}
}

// A changed hash would make every user's cache entries stale, so the expected hashes are fixed.
func TestConfigHashVectors(t *testing.T) {
	t.Parallel()
	for raw, want := range map[string]string{
		`{"command": "npx", "args": ["-y", "p"], "cwd": "/d", "env": {"K": "v"}}`: "4ed02c679f084b43cbddc58f2af00648658a347be076152cd0098f3297c63d39",
		`{"url": "https://h/mcp", "headers": {"A": "1"}, "apiKey": "k"}`:          "57de57b16dd22d57c8abf0b54f118099c8640e6f18cf7224074e483308a9d73b",
	} {
		if got := hash(t, raw); got != want {
			t.Errorf("%s has %s, want %s", raw, got, want)
		}
	}
}
