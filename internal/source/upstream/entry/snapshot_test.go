package entry_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"collie/internal/source/upstream/entry"
)

// plantedEntries has an entry for every place where people put secrets. %s stands for the secret, and so do variables
// named PLANTED.
var plantedEntries = []string{
	`{"command": "x", "env": {"API_KEY": "%s"}}`,
	`{"command": "x", "env": {"HARMLESS": "%s"}}`,
	`{"command": "x", "env": {"A": "${PLANTED}"}}`,
	`{"command": "x", "env": {"A": "prefix ${env:PLANTED} suffix"}}`,
	`{"command": "x", "envFile": "planted.env"}`,
	`{"command": "${PLANTED}"}`,
	`{"command": "x", "args": ["${PLANTED}"]}`,
	`{"command": "x", "args": ["a", "b=${PLANTED}"]}`,
	`{"command": "x", "args": ["${UNSET:-%s}"]}`,
	`{"command": "x", "args": ["${secret:PLANTED}"]}`,
	`{"command": "x", "args": ["${input:planted}"]}`,
	`{"command": "x", "args": ["--token", "%s"]}`,
	`{"command": "x", "args": ["--token=%s"]}`,
	`{"command": "x", "args": ["--key", "%s"]}`,
	`{"command": "x", "args": ["--api-key", "%s"]}`,
	`{"command": "x", "args": ["--api_key=%s"]}`,
	`{"command": "x", "args": ["--password", "%s"]}`,
	`{"command": "x", "args": ["--secret", "%s"]}`,
	`{"command": "x", "args": ["-p", "%s"]}`,
	`{"command": "x", "args": ["--github-token", "%s"]}`,
	`{"command": "x", "args": ["-token", "%s"]}`,
	`{"command": "x", "args": ["--client-secret=%s"]}`,
	`{"command": "x", "args": ["--header", "Authorization: Bearer %s"]}`,
	`{"command": "x", "args": ["-H", "X-Key: %s"]}`,
	`{"command": "x", "args": ["--header=Authorization: %s"]}`,
	`{"command": "docker", "args": ["run", "-i", "--rm", "-e", "GITHUB_TOKEN=%s", "img"]}`,
	`{"command": "docker", "args": ["run", "-i", "--rm", "--env", "HARMLESS=%s", "img"]}`,
	`{"command": "env", "args": ["API_KEY=%s", "node", "x.js"]}`,
	`{"command": "x", "args": ["--config", "{\"apiKey\": \"%s\"}"]}`,
	`{"command": "x", "args": ["{\"apiKey\": \"%s\"}"]}`,
	`{"command": "npx", "args": ["mcp-remote", "https://h/mcp?key=%s"]}`,
	`{"command": "npx", "args": ["mcp-remote", "https://user:%s@h/mcp"]}`,
	`{"command": "npx", "args": ["mcp-remote", "https://h/mcp#%s"]}`,
	`{"command": "x", "args": ["postgresql://u:%s@h/db"]}`,
	`{"command": "x", "args": ["--dsn", "u:%s@tcp(h)/db"]}`,
	`{"command": ["x", "--token", "%s"]}`,
	`{"url": "https://h/mcp", "headers": {"Authorization": "Bearer %s"}}`,
	`{"url": "https://h/mcp", "headers": {"X-Harmless": "%s"}}`,
	`{"url": "https://h/mcp", "headers": ["X-Key: %s"]}`,
	`{"url": "https://h/mcp", "headers": {"A": "${PLANTED}"}}`,
	`{"url": "https://h/mcp?token=%s"}`,
	`{"url": "https://h/mcp?a=1&%s"}`,
	`{"url": "https://h/mcp?a=${PLANTED}"}`,
	`{"url": "https://${PLANTED}@h/mcp"}`,
	`{"url": "https://user:%s@h/mcp"}`,
	`{"url": "https://h/${PLANTED}/mcp"}`,
	`{"url": "https://h/s/%s/mcp"}`,
	`{"url": "https://h/mcp", "apiKey": "%s"}`,
	`{"url": "https://h/mcp", "auth": {"type": "bearer", "token": "%s"}}`,
	`{"url": "https://h/mcp", "auth": {"type": "basic", "username": "%s", "password": "x"}}`,
	`{"url": "https://h/mcp", "auth": {"type": "basic", "username": "u", "password": "%s"}}`,
	`{"url": "https://h/mcp", "auth": {"type": "oauth", "clientId": "%s"}}`,
	`{"url": "https://h/mcp", "oauth": {"clientId": "c", "clientSecret": "%s", "scopes": ["%[1]s"]}}`,
	`{"url": "https://h/mcp", "auth": {"clientMetadataUrl": "https://h/%s"}}`,
	`{"url": "https://h/mcp", "headersCommand": {"command": "vault", "args": ["read", "%s"]}}`,
	`{"url": "https://h/mcp", "headersCommand": {"command": "${PLANTED}"}}`,
	`{"url": "https://h/mcp", "tls": {"keyFile": "/k/%s", "certFile": "/c"}}`,
	`{"command": "x", "x-note": "%s", "unknown": {"deep": "%[1]s"}, "description": "%[1]s", "displayName": "%[1]s"}`,
	`{"command": "x", "roots": ["/%s"], "autoApprove": ["%[1]s"]}`,
}

// knownTokens are tokens of known forms, which are found in any place.
var knownTokens = []string{
	"sk-proj-abcdefghij1234567890", "ghp_abcdefghijklmnopqrstuvwxyz0123456789", "github_pat_11ABCDEFG0123456789abcdefghijklm",
	"glpat-abcdefghij0123456789", "xoxb-1234567890-abcdef", "AKIAIOSFODNN7EXAMPLE", "hf_abcdefghijklmnopqrstuvwxyz01234567",
	"eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.c2lnbmF0dXJl", "Zk3u9QpLw7Xr2TvB8nMs4YcHd6JgFa1E",
}

// A snapshot shows no secret, wherever in an entry it stands.
func TestSnapshotHoldsNoSecret(t *testing.T) {
	t.Parallel()
	const token = "Zk3u9QpLw7Xr2TvB8nMs4YcHd6JgFa1E"
	check := func(t *testing.T, raw, secret string) {
		t.Helper()
		o := testOptions()
		env := o.Env
		o.Env = func(n string) (string, bool) {
			if n == "PLANTED" || n == "COLLIE_INPUT_PLANTED" {
				return secret, true
			}
			return env(n)
		}
		o.Secret = func(string) (string, bool) { return secret, true }
		o.ReadFile = func(string) ([]byte, error) { return []byte("K=" + secret + "\n"), nil }
		e, _ := entry.Parse("s", json.RawMessage(raw), o)
		got := string(e.Snapshot("/u"))
		if strings.Contains(got, secret) {
			t.Errorf("%s\n%s\nshows %s", raw, got, secret)
		}
		if !json.Valid([]byte(got)) {
			t.Errorf("%s gives no JSON: %s", raw, got)
		}
	}
	if n := len(plantedEntries); n < 50 {
		t.Fatalf("only %d places", n)
	}
	for i, form := range plantedEntries {
		t.Run(fmt.Sprintf("place %d", i), func(t *testing.T) {
			t.Parallel()
			for _, secret := range append([]string{token}, knownTokens...) {
				raw := form
				if strings.Contains(form, "%") {
					raw = fmt.Sprintf(form, secret)
				}
				check(t, raw, secret)
			}
			if !strings.Contains(form, "/s/%s") { // a secret without a known form is recognized by its place only, not in a path
				raw := form
				if strings.Contains(form, "%") {
					raw = fmt.Sprintf(form, "hunter2hunter2")
				}
				check(t, raw, "hunter2hunter2")
			}
		})
	}
	for _, shape := range knownTokens {
		for _, form := range []string{
			`{"command": "x", "args": ["%s"]}`, `{"command": "x", "args": ["serve", "--with=%s"]}`,
			`{"url": "https://h/%s"}`, `{"command": "/opt/x", "args": ["a,%s,b"]}`,
		} {
			check(t, fmt.Sprintf(form, shape), shape)
		}
	}
}

// A snapshot keeps what people recognize a server by: command, arguments, URL and the names of variables.
func TestSnapshotKeepsWhatTellsAServer(t *testing.T) {
	t.Parallel()
	for raw, want := range map[string]string{
		`{"command": "npx", "args": ["-y", "12306-mcp", "--port", "8080", "--verbose", "查询"], "env": {"B": "1", "A": "2"}, "cwd": "/u/work/x"}`: `{"args":["-y","12306-mcp","--port","8080","--verbose","查询"],"command":"npx","cwd":"~/work/x","env":{"A":"***","B":"***"},"type":"stdio"}`,
		`{"command": "/u/bin/serve", "args": ["/u/notes", "/user/notes"], "cwd": "/u"}`:                                                         `{"args":["~/notes","/user/notes"],"command":"~/bin/serve","cwd":"~","type":"stdio"}`,
		`{"url": "https://api.example.org:8443/mcp/v1?team=7", "headers": {"X-A": "1"}, "protocol": "legacy"}`:                                  `{"headers":{"X-A":"***"},"protocol":"legacy","type":"http","url":"https://api.example.org:8443/mcp/v1?team=***"}`,
		`{"url": "https://h/sse", "apiKey": "k"}`: `{"auth":{"token":"***","type":"bearer"},"type":"sse","url":"https://h/sse"}`,
		`{"url": "https://h/mcp", "auth": {"grantType": "client_credentials", "clientId": "c", "clientSecret": "s"}}`: `{"auth":{"clientId":"***","clientSecret":"***","grantType":"client_credentials","type":"oauth"},"type":"http","url":"https://h/mcp"}`,
	} {
		e, _ := entry.Parse("s", json.RawMessage(raw), testOptions())
		if diff := cmp.Diff(want, string(e.Snapshot("/u"))); diff != "" {
			t.Errorf("%s (-want +got):\n%s", raw, diff)
		}
	}
}
