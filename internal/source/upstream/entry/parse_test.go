package entry_test

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"collie/internal/source/upstream/entry"
)

// testOptions returns options with the folder /etc/collie, a small environment, a dotenv file and a secret store.
func testOptions() entry.Options {
	env := map[string]string{
		"HOME": "/u", "WHO": "world", "EMPTY": "", "PIN": "1234", "NESTED": "${WHO}",
		"COLLIE_INPUT_API_KEY": "from-the-input",
	}
	return entry.Options{
		Dir: "/etc/collie",
		Env: func(n string) (string, bool) { v, ok := env[n]; return v, ok },
		Secret: func(n string) (string, bool) {
			v, ok := map[string]string{"GITHUB": "hidden-github-token"}[n]
			return v, ok
		},
		ReadFile: func(name string) ([]byte, error) {
			if name == filepath.FromSlash("/etc/collie/vars.env") {
				return []byte("\xef\xbb\xbf# note\nA=from file\nexport B=\"also $A\"\n"), nil
			}
			return nil, os.ErrNotExist
		},
	}
}

// parse returns the entry and its problems, each as a line "severity rule pointer: message".
func parse(t *testing.T, raw string) (entry.Entry, []string) {
	t.Helper()
	e, problems := entry.Parse("srv", json.RawMessage(raw), testOptions())
	var lines []string
	for _, p := range problems {
		lines = append(lines, fmt.Sprintf("%s %s %s: %s", p.Severity, p.Rule, p.Pointer, p.Message))
	}
	return e, lines
}

// parseClean parses an entry that must have no problems.
func parseClean(t *testing.T, raw string) entry.Entry {
	t.Helper()
	e, problems := parse(t, raw)
	if len(problems) > 0 {
		t.Fatalf("problems with %s:\n%s", raw, strings.Join(problems, "\n"))
	}
	return e
}

// reveal returns the values in plain text.
func reveal(vs []entry.Value) []string {
	list := make([]string, 0, len(vs))
	for _, v := range vs {
		list = append(list, v.Reveal())
	}
	return list
}

// The transport follows from the members of an entry, in the spellings of several hosts.
func TestTransport(t *testing.T) {
	t.Parallel()
	for raw, want := range map[string]entry.Transport{
		`{"command": "x"}`:                                   entry.Stdio,
		`{"command": "x", "type": "local"}`:                  entry.Stdio,
		`{"command": ["x", "y"], "transport": "stdio"}`:      entry.Stdio,
		`{"url": "http://h/mcp"}`:                            entry.HTTP,
		`{"url": "https://h/v1/sse"}`:                        entry.SSE,
		`{"url": "https://h/sse?x=${WHO}"}`:                  entry.SSE,
		`{"url": "https://h/sse", "type": "http"}`:           entry.HTTP,
		`{"httpUrl": "https://h/sse"}`:                       entry.HTTP,
		`{"serverUrl": "https://h/mcp"}`:                     entry.HTTP,
		`{"url": "http://h", "type": "streamable-http"}`:     entry.HTTP,
		`{"url": "http://h", "transport": "streamableHttp"}`: entry.HTTP,
		`{"url": "http://h", "transportType": "sse"}`:        entry.SSE,
		`{"url": "http://h", "type": "remote"}`:              entry.HTTP,
		`{"url": "unix:///run/s.sock#/mcp"}`:                 entry.HTTP,
	} {
		if e := parseClean(t, raw); e.Transport != want {
			t.Errorf("%s is %s, want %s", raw, e.Transport, want)
		}
	}
}

// An entry with nothing but a command gets these defaults.
func TestDefaults(t *testing.T) {
	t.Parallel()
	got := parseClean(t, `{"command": "x"}`)
	want := entry.Entry{
		Name: "srv", Transport: entry.Stdio, Protocol: "auto", Command: entry.NewValue("x", "x"),
		Env: map[string]entry.Value{}, InheritEnv: entry.Inherit{Mode: "minimal"}, Dir: "/etc/collie", DockerManaged: true,
		Lifecycle: entry.Auto, IdleTimeout: 10 * time.Minute, StartTimeout: time.Minute,
		ToolTimeout: time.Minute, MaxToolTimeout: 10 * time.Minute, Prefix: "srv__",
		Restart: entry.Restart{Max: 5, Window: 10 * time.Minute, Base: time.Second, Cap: 5 * time.Minute},
		Health:  entry.Health{Failures: 3},
		Cache:   entry.Cache{Enabled: true, MaxAge: 24 * time.Hour, MaxStale: 720 * time.Hour},

		Sampling: entry.Forward, Elicitation: entry.Forward, Isolation: entry.Shared, Trust: entry.Warn,
	}
	if diff := cmp.Diff(want, got, cmp.Comparer(func(a, b entry.Value) bool { return a == b })); diff != "" {
		t.Errorf("entry (-want +got):\n%s", diff)
	}
	if e := parseClean(t, `{"url": "http://h"}`); e.Health.Ping != 30*time.Second {
		t.Errorf("a remote server is pinged every %v", e.Health.Ping)
	}
	if e := parseClean(t, `{"command": "npx", "args": ["-y", "p"]}`); e.StartTimeout != 3*time.Minute {
		t.Errorf("a package runner has %v to start", e.StartTimeout)
	}
}

// Each mistake in an entry is reported with its place and with what to write instead.
func TestProblems(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		raw  string
		want []string
	}{
		"no object":                 {`"x"`, []string{`error type : expected an object with a command or a url, got string`}},
		"null":                      {`null`, []string{`error type : expected an object with a command or a url, got null`}},
		"empty command":             {`{"command": ""}`, []string{`error R-CV-1 /command: the command is empty`}},
		"both":                      {`{"command": "x", "url": "http://h"}`, []string{`error R-CV-1 : both a command and a url; a server has one of them`}},
		"neither":                   {`{}`, []string{`error R-CV-1 : neither a command nor a url; a server needs one of them`}},
		"type misfits":              {`{"url": "http://h", "type": "stdio"}`, []string{`error R-CV-1 /type: type stdio does not fit: there is a url`}},
		"type misfits 2":            {`{"command": "x", "type": "http"}`, []string{`error R-CV-1 /type: type http does not fit: there is a command`}},
		"type unknown":              {`{"url": "http://h", "type": "grpc"}`, []string{`error R-CV-1 /type: expected stdio, http or sse, got "grpc"`}},
		"wrong types":               {`{"command": 1, "args": "x", "cwd": []}`, []string{`error type /command: expected a string such as "npx", got number`, `error type /args: expected a list of strings, got string`, `error type /cwd: expected a string, got array`}},
		"tilde":                     {`{"command": "~/bin/x"}`, []string{`error R-CV-7 /command: ~ is not expanded; write ${userHome}/bin/x`}},
		"bare duration":             {`{"command": "x", "toolTimeout": 30}`, []string{`error R-CV-8 /toolTimeout: write a unit: 30s, 500ms`}},
		"quoted duration":           {`{"command": "x", "startTimeout": "30"}`, []string{`error R-CV-8 /startTimeout: write a unit: 30s, 500ms`}},
		"zero timeout":              {`{"command": "x", "toolTimeout": "0s"}`, []string{`error value /toolTimeout: expected more than 0`}},
		"timeout":                   {`{"command": "x", "timeout": 60}`, []string{`warning R-CV-8 /timeout: programs disagree on the unit of "timeout", so it is not used; write "toolTimeout": "60s"`}},
		"unknown":                   {`{"command": "x", "arg": [], "colour": 1, "x-own": 1}`, []string{`warning unknown /arg: unknown field; did you mean "args"?`, `warning unknown /colour: unknown field`}},
		"unknown inside":            {`{"command": "x", "tools": {"exlude": []}}`, []string{`warning unknown /tools/exlude: unknown field; did you mean "exclude"?`}},
		"alias twice":               {`{"url": "http://h", "serverUrl": "http://g"}`, []string{`warning alias /serverUrl: "url" means the same; "url" applies`}},
		"unset":                     {`{"command": "x", "args": ["${NOPE}"]}`, []string{`error var_unset /args/0: NOPE is not set; set it, or write ${NOPE:-text} for a default`}},
		"unset input":               {`{"command": "x", "env": {"K": "${input:db-name}"}}`, []string{`error var_unset /env/K: COLLIE_INPUT_DB_NAME is not set; it stands for ${input:db-name}`}},
		"unset secret":              {`{"command": "x", "env": {"K": "${secret:NOPE}"}}`, []string{`error var_unset /env/K: secret NOPE is not set; collie secret set NOPE keeps one`}},
		"bad variable":              {`{"command": "x", "args": ["${a b}"]}`, []string{`error R-VA-1 /args/0: ${a b} is not a form of variable; write ${NAME}, ${NAME:-text}, ${secret:NAME} or ${input:id}`}},
		"nested variable":           {`{"command": "x", "args": ["${A:-${B}}"]}`, []string{`error R-VA-1 /args/0: ${A:-${B}: a variable inside a variable is not possible`}},
		"env number":                {`{"command": "x", "env": {"N": 1, "T": true}}`, []string{`warning type /env/N: number as a value of a variable; write "1"`, `warning type /env/T: boolean as a value of a variable; write "true"`}},
		"env name":                  {`{"command": "x", "env": {"A=B": "1", "o": {}}}`, []string{`error value /env/A=B: "A=B" is not a name of a variable`, `error type /env/o: expected a string, got object`}},
		"envFile missing":           {`{"command": "x", "envFile": "none.env"}`, []string{`error envFile /envFile: file does not exist`}},
		"inheritEnv":                {`{"command": "x", "inheritEnv": "some"}`, []string{`error value /inheritEnv: expected minimal, all, none or a list of names, got "some"`}},
		"inheritEnv list":           {`{"command": "x", "inheritEnv": ["A*B"]}`, []string{`error value /inheritEnv/0: expected a name or PREFIX_*, got "A*B"`}},
		"url":                       {`{"url": "ftp://h"}`, []string{`error url /url: expected http://host/…, https://host/… or unix:///path#/route`}},
		"url relative":              {`{"url": "/mcp"}`, []string{`error url /url: expected a URL such as "https://host/mcp"`}},
		"header name":               {`{"url": "http://h", "headers": {"A B": "x", "C": "${WHO}\n"}}`, []string{`error header /headers/A B: "A B" is not a name of a header`, `error header /headers/C: a header cannot hold a line break or NUL`}},
		"header line":               {`{"url": "http://h", "headers": ["X: y", "Z"]}`, []string{`error header /headers/1: expected "Name: value"`}},
		"bearer":                    {`{"url": "http://h", "auth": {"type": "bearer"}}`, []string{`error auth /auth: bearer needs a token`}},
		"auth type":                 {`{"url": "http://h", "auth": {"type": "magic"}}`, []string{`error value /auth/type: expected one of none, bearer, basic, oauth, got "magic"`}},
		"grant type":                {`{"url": "http://h", "oauth": {"grantType": "password"}}`, []string{`error value /oauth/grantType: expected one of authorization_code, client_credentials, got "password"`}},
		"no credentials":            {`{"url": "http://h", "auth": {"grantType": "client_credentials", "clientId": "i"}}`, []string{`error auth /auth: grantType client_credentials needs a clientId and a clientSecret`}},
		"unset secret, credentials": {`{"url": "http://h", "auth": {"grantType": "client_credentials", "clientId": "i", "clientSecret": "${secret:NOPE}"}}`, []string{`error var_unset /auth/clientSecret: secret NOPE is not set; collie secret set NOPE keeps one`}},
		"two clients":               {`{"url": "http://h", "auth": {"clientId": "i", "clientMetadataUrl": "https://h/c.json"}}`, []string{`warning auth /auth/clientMetadataUrl: it is not used: clientId says which client this is`}},
		"insecure":                  {`{"url": "https://h", "tls": {"insecure": true}}`, []string{`warning tls /tls/insecure: certificates are not checked: anyone on the network path can read and change everything`}},
		"half a key":                {`{"url": "https://h", "tls": {"certFile": "c"}}`, []string{`error value /tls: certFile and keyFile belong together; only one of them is set`}},
		"protocol":                  {`{"command": "x", "protocol": "new"}`, []string{`error value /protocol: expected auto, legacy or a version such as 2025-11-25, got "new"`}},
		"lifecycle":                 {`{"command": "x", "lifecycle": "always"}`, []string{`error value /lifecycle: expected one of auto, lazy, eager, keepalive, got "always"`}},
		"glob":                      {`{"command": "x", "tools": {"include": ["[a"]}}`, []string{`error value /tools/include/0: "[a" is not a pattern: syntax error in pattern`}},
		"prefix":                    {`{"command": "x", "prefix": "a b"}`, []string{`error value /prefix: expected up to 32 of A-Z a-z 0-9 _ -, got "a b"`}},
		"secret in args":            {`{"command": "x", "args": ["--key", "ghp_0123456789abcdefghijklmnopqrstuvwxyz"]}`, []string{`warning R-CV-6 /args/1: this looks like a secret; keep it out of the file and write ${secret:NAME} or ${NAME}`}},
		"secret in =":               {`{"command": ["x", "--key=sk-0123456789abcdefghijklmn"]}`, []string{`warning R-CV-6 /command/1: this looks like a secret; keep it out of the file and write ${secret:NAME} or ${NAME}`}},
		"secret header":             {`{"url": "http://h", "headers": {"Authorization": "Bearer q8Zt4Lw0Xr7Nb2Vc9Km5Hs1Jd6Pf3Gy0"}}`, []string{`warning R-CV-6 /headers/Authorization: this looks like a secret; keep it out of the file and write ${secret:NAME} or ${NAME}`}},
		"secret query":              {`{"url": "http://h/?key=q8Zt4Lw0Xr7Nb2Vc9Km5Hs1Jd6Pf3Gy0"}`, []string{`warning R-CV-6 /url: the query holds what looks like a secret; write ${secret:NAME} or ${NAME}, or send it as a header`}},
		"docker":                    {`{"command": "docker", "args": ["run", "-dt", "img"]}`, []string{`error R-CV-5 /args: a detached container has no stdio; leave out -d`, `error R-CV-5 /args: a terminal changes line breaks and mixes the streams; leave out -t`, `error R-CV-5 /args: without -i the container does not read its input; add it`, `warning R-CV-5 /args: without --rm each start leaves a container behind; add it`}},
		"docker, values":            {`{"command": "/usr/bin/podman", "args": ["run", "--name", "-d", "-e", "-t", "-i", "--rm", "img", "-d", "-t"]}`, nil},
		"docker, no run":            {`{"command": "docker", "args": ["mcp", "gateway", "run"]}`, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, got := parse(t, tc.raw)
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("problems (-want +got):\n%s", diff)
			}
		})
	}
}

// A line break in a header is refused even if it comes from the value of a variable.
func TestHeaderLineBreakComesFromAnywhere(t *testing.T) {
	t.Parallel()
	_, problems := entry.Parse("s", json.RawMessage(`{"url": "http://h", "headers": {"X": "${EVIL}"}}`), entry.Options{
		Env: func(string) (string, bool) { return "a\r\nY: b", true },
	})
	if len(problems) != 1 || problems[0].Rule != "header" {
		t.Errorf("problems are %v", problems)
	}
}

// All members about a local process are read, with variables expanded.
func TestProcess(t *testing.T) {
	t.Parallel()
	e := parseClean(t, `{
		"command": ["./run.sh", "first"], "args": ["./second.js", "${WHO}:${env:EMPTY:-none}", "$${WHO}", "$WHO", "%WHO%", "${NESTED}"],
		"cwd": "work", "envFile": "vars.env", "env": {"A": "own", "GONE": null, "S": "${secret:GITHUB}"},
		"inheritEnv": ["GH_*"]
	}`)
	if got, want := e.Command.Reveal(), filepath.FromSlash("/etc/collie/run.sh"); got != want {
		t.Errorf("command is %s, want %s", got, want)
	}
	want := []string{"first", "./second.js", "world:none", "${WHO}", "$WHO", "%WHO%", "${WHO}"}
	if diff := cmp.Diff(want, reveal(e.Args)); diff != "" {
		t.Errorf("args (-want +got):\n%s", diff)
	}
	if got, want := e.Dir, filepath.FromSlash("/etc/collie/work"); got != want {
		t.Errorf("cwd is %s, want %s", got, want)
	}
	env := map[string]string{}
	for name, v := range e.Env {
		env[name] = v.Reveal()
	}
	if diff := cmp.Diff(map[string]string{"A": "own", "B": "also from file", "S": "hidden-github-token"}, env); diff != "" {
		t.Errorf("env (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"GONE"}, e.Unset); diff != "" {
		t.Errorf("unset (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(entry.Inherit{Mode: "minimal", Names: []string{"GH_*"}}, e.InheritEnv); diff != "" {
		t.Errorf("inherit (-want +got):\n%s", diff)
	}
}

// Variables for folders are expanded, and relative roots begin at the folder of the file.
func TestPlaces(t *testing.T) {
	t.Parallel()
	e := parseClean(t, `{"command": "x", "args": ["${configDir}${/}a", "${workspaceFolder}", "${userHome}", "${pathSeparator}"], "roots": ["docs", "file:///x", "/y", "~/work", "~"]}`)
	sep := string(filepath.Separator)
	if diff := cmp.Diff([]string{"/etc/collie" + sep + "a", "/etc/collie", "/u", sep}, reveal(e.Args)); diff != "" {
		t.Errorf("args (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{filepath.FromSlash("/etc/collie/docs"), "file:///x", "/y", "/u/work", "/u"}, reveal(e.Roots)); diff != "" {
		t.Errorf("roots (-want +got):\n%s", diff)
	}
}

// Without a secret store, the problem of a ${secret:…} names the variable to use instead.
func TestNoSecretStore(t *testing.T) {
	t.Parallel()
	_, problems := entry.Parse("s", json.RawMessage(`{"command": "x", "env": {"K": "${secret:my-key}"}}`), entry.Options{})
	if len(problems) != 1 || problems[0].Rule != entry.RuleUnset || !strings.Contains(problems[0].Message, "no secret store yet; use ${MY_KEY}") {
		t.Errorf("problems are %v", problems)
	}
}

// All members about a remote server are read, in each form of auth.
func TestRemote(t *testing.T) {
	t.Parallel()
	e := parseClean(t, `{
		"url": "https://${WHO}/mcp", "headers": {"X-B": "2", "X-A": "${input:api-key}"},
		"headersCommand": {"command": "sh", "args": ["-c", "echo {}"], "timeout": "3s"},
		"tls": {"caFile": "ca.pem", "serverName": "n"}, "oauth": {"clientId": "id", "scopes": ["a"], "redirectPort": 8123}
	}`)
	if got := e.URL.Reveal(); got != "https://world/mcp" {
		t.Errorf("url is %s", got)
	}
	if len(e.Headers) != 2 || e.Headers[0].Name != "X-A" || e.Headers[0].Value.Reveal() != "from-the-input" {
		t.Errorf("headers are %v", e.Headers)
	}
	if c := e.HeadersCommand; c == nil || c.Command.Reveal() != "sh" || c.Timeout != 3*time.Second || len(c.Args) != 2 {
		t.Errorf("headersCommand is %+v", c)
	}
	if e.TLS.CAFile != filepath.FromSlash("/etc/collie/ca.pem") {
		t.Errorf("tls is %+v", e.TLS)
	}
	if a := e.Auth; a.Type != "oauth" || a.ClientID.Reveal() != "id" || a.RedirectPort != 8123 || len(a.Scopes) != 1 {
		t.Errorf("auth is %+v", a)
	}
	for raw, want := range map[string]string{
		`{"url": "http://h", "auth": {"grantType": "client_credentials", "clientId": "${WHO}", "clientSecret": "${PIN}"}}`: "client_credentials world 1234 ",
		`{"url": "http://h", "auth": {"clientMetadataUrl": "https://${WHO}:8443/client.json"}}`:                            "   https://world:8443/client.json",
		`{"url": "http://h", "oauth": {"grant_type": "authorization_code", "client_metadata_url": "https://h/c"}}`:         "authorization_code   https://h/c",
	} {
		a := parseClean(t, raw).Auth
		got := strings.Join([]string{a.GrantType, a.ClientID.Reveal(), a.ClientSecret.Reveal(), a.ClientMetadataURL.Reveal()}, " ")
		if a.Type != "oauth" || got != want {
			t.Errorf("%s gives %s %q, want oauth %q", raw, a.Type, got, want)
		}
	}
	if a := parseClean(t, `{"url": "http://h", "apiKey": "${PIN}"}`).Auth; a.Type != "bearer" || a.Token.Reveal() != "1234" {
		t.Errorf("apiKey gives %+v", a)
	}
	if a := parseClean(t, `{"url": "http://h", "auth": {"username": "me", "password": "${PIN}"}}`).Auth; a.Type != "basic" || a.Password.Reveal() != "1234" {
		t.Errorf("a username gives %+v", a)
	}
}

// All members that say how Collie treats a server are read.
func TestBehaviour(t *testing.T) {
	t.Parallel()
	e := parseClean(t, `{
		"command": "x", "disabled": false, "enabled": false, "description": "d", "displayName": "D", "lifecycle": "eager",
		"idleTimeout": "0", "startTimeout": "2m", "toolTimeout": "1.5s", "maxToolTimeout": "1d", "view": "grouped", "prefix": "gh",
		"restart": {"max": 0, "base": "2s"}, "health": {"ping": "off", "failures": 1}, "cache": {"maxStale": "0s"},
		"sampling": "off", "elicitation": "ask", "isolation": "session", "validate": "off", "trust": "pin", "autoApprove": ["a"],
		"tools": {"include": ["get_*"], "exclude": ["x"], "override": {"get_me": {"enabled": false, "alias": "me", "retry": true}}},
		"disabledTools": ["y"], "toolFilter": {"mode": "block", "list": ["z"]}, "protocol": "2025-11-25", "dockerManaged": false
	}`)
	off := false
	want := entry.Tools{
		Include: []string{"get_*"}, Exclude: []string{"x", "y", "z"},
		Override: map[string]entry.Override{"get_me": {Enabled: &off, Alias: "me", Retry: true}},
	}
	if diff := cmp.Diff(want, e.Tools); diff != "" {
		t.Errorf("tools (-want +got):\n%s", diff)
	}
	type rest struct {
		Disabled                  bool
		Idle, Start, Tool, Max    time.Duration
		View, Prefix, Life, Proto string
		Restart                   entry.Restart
		Health                    entry.Health
		Cache                     entry.Cache
		Sampling, Elicitation     entry.Answer
		Isolation                 entry.Isolation
		Unchecked                 bool
		Trust                     entry.Trust
		Approve                   entry.AutoApprove
	}
	got := rest{
		e.Disabled, e.IdleTimeout, e.StartTimeout, e.ToolTimeout, e.MaxToolTimeout,
		string(e.View), e.Prefix, string(e.Lifecycle), e.Protocol, e.Restart, e.Health, e.Cache,
		e.Sampling, e.Elicitation, e.Isolation, e.Unchecked, e.Trust, e.AutoApprove,
	}
	if diff := cmp.Diff(rest{
		true, 0, 2 * time.Minute, 1500 * time.Millisecond, 24 * time.Hour, "grouped", "gh__", "eager", "2025-11-25",
		entry.Restart{Base: 2 * time.Second, Window: 10 * time.Minute, Cap: 5 * time.Minute},
		entry.Health{Failures: 1},
		entry.Cache{Enabled: true, MaxAge: 24 * time.Hour},
		entry.Off, entry.Ask, entry.Session, true, entry.Pin,
		entry.AutoApprove{Names: []string{"a"}},
	}, got); diff != "" {
		t.Errorf("behaviour (-want +got):\n%s", diff)
	}
}

// Members that other hosts use are understood.
func TestWordsOfOtherHosts(t *testing.T) {
	t.Parallel()
	e := parseClean(t, `{"command": "x", "trust": true, "alwaysAllow": ["a"], "includeTools": ["i"], "excludeTools": ["e"], "prefix": "", "cache": false, "heartbeat": {"enabled": false}}`)
	if !e.AutoApprove.All || e.Trust != entry.Warn || len(e.AutoApprove.Names) != 1 {
		t.Errorf("trust is %v, %v", e.AutoApprove, e.Trust)
	}
	if diff := cmp.Diff(entry.Tools{Include: []string{"i"}, Exclude: []string{"e"}}, e.Tools); diff != "" {
		t.Errorf("tools (-want +got):\n%s", diff)
	}
	if e.Prefix != "" || e.Cache.Enabled {
		t.Errorf("prefix %q, cache %+v", e.Prefix, e.Cache)
	}
	if e := parseClean(t, `{"command": "x", "tools": ["*"], "autoApprove": true, "prefix": "a_"}`); !e.AutoApprove.All || e.Prefix != "a_" || len(e.Tools.Include) != 1 {
		t.Errorf("got %+v", e)
	}
}

// No printed form of an entry shows a secret, and every secret is on the list to be masked in logs.
func TestSecretsStayIn(t *testing.T) {
	t.Parallel()
	const planted = "PLANTED-4711"
	o := entry.Options{
		Dir:    "/d",
		Env:    func(string) (string, bool) { return planted + "-env", true },
		Secret: func(string) (string, bool) { return planted + "-store", true },
	}
	for _, raw := range []string{
		`{"command": "x", "env": {"A": "PLANTED-4711-literal", "B": "${V}", "C": "${secret:S}"}, "args": ["--token", "PLANTED-4711-literal", "--api-key=PLANTED-4711-literal", "--x=${V}", "${secret:S}"]}`,
		`{"url": "https://me:PLANTED-4711-literal@h/p?key=PLANTED-4711-literal&a=${V}", "headers": {"A": "Bearer PLANTED-4711-literal", "B": "${V}"}}`,
		`{"url": "https://h/${V}", "auth": {"token": "PLANTED-4711-literal"}}`,
		`{"url": "https://h", "auth": {"type": "oauth", "clientId": "c", "clientSecret": "PLANTED-4711-literal"}}`,
		`{"url": "https://h", "auth": {"username": "u", "password": "PLANTED-4711-literal"}}`,
	} {
		e, problems := entry.Parse("s", json.RawMessage(raw), o)
		if len(problems) > 0 {
			t.Errorf("problems with %s: %v", raw, problems)
		}
		encoded, err := json.Marshal(struct {
			entry.Entry
			Secrets any
		}{Entry: e})
		if err != nil {
			t.Fatal(err)
		}
		secrets := e.Secrets
		e.Secrets = nil
		var log strings.Builder
		slog.New(slog.NewTextHandler(&log, nil)).Info("x", "url", e.URL, "entry", e)
		slog.New(slog.NewJSONHandler(&log, nil)).Info("x", "command", e.Command, "entry", e)
		for _, shown := range []string{string(encoded), fmt.Sprintf("%v %+v %#v", e, e, e), log.String()} {
			if strings.Contains(shown, planted) {
				t.Errorf("%s shows itself as %s", raw, shown)
			}
		}
		if len(secrets) == 0 {
			t.Errorf("no secrets are known of %s", raw)
		}
		for i, s := range secrets {
			plain := s
			if pair, err := base64.StdEncoding.DecodeString(s); err == nil { // what a header has of a user and a password
				plain = string(pair)
			}
			if !strings.Contains(plain, planted) || i > 0 && len(s) > len(secrets[i-1]) {
				t.Errorf("secrets of %s are %q", raw, secrets)
			}
		}
	}
}

// CheckNames reports names that have a wrong form, are reserved, or differ only by case.
func TestCheckNames(t *testing.T) {
	t.Parallel()
	got := entry.CheckNames(
		[]string{"ok", "a-b_C9", "OK", "has space", "", strings.Repeat("x", 65), "Collie", "fs", "名"},
		[]string{"collie", "siyuan", "fs"})
	var names []string
	for n, p := range got {
		if p.Rule != "R-CV-2" || p.Severity != entry.SeverityError {
			t.Errorf("%q: %+v", n, p)
		}
		names = append(names, n)
	}
	if len(names) != 7 || got["ok"].Message != "" || !strings.Contains(got["OK"].Message, `"ok" and "OK" differ only by case`) {
		t.Errorf("problems are %v", got)
	}
	if entry.CheckNames([]string{"a", "b"}, nil) != nil {
		t.Error("good names have problems")
	}
}

// Any JSON gives either an entry or problems that name their place, the same each time.
func FuzzParse(f *testing.F) {
	for _, s := range []string{
		`{"command": "x", "args": ["${A:-b}", "$${", "${"], "env": {"A": 1}}`, `{"url": "https://u:p@h/sse?a=b", "headers": ["A: b"]}`,
		`{"command": "docker", "args": ["run", "-it", "--rm"]}`, `{"tools": {"override": {"a": {"enabled": null}}}}`, `[]`, `{"cache": "x", "trust": 1}`,
		`{"command": ["cmd", "/c", "npx"], "envFile": "", "health": {"ping": "off"}}`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		if !json.Valid(raw) {
			return
		}
		e, problems := entry.Parse("s", raw, testOptions())
		for _, p := range problems {
			if p.Message == "" || p.Rule == "" || p.Pointer != "" && p.Pointer[0] != '/' {
				t.Fatalf("%s: problem %+v", raw, p)
			}
		}
		if again, second := entry.Parse("s", raw, testOptions()); !cmp.Equal(problems, second) || again.ConfigHash(nil) != e.ConfigHash(nil) {
			t.Fatalf("%s is read differently the second time", raw)
		}
		if _, err := json.Marshal(e); err != nil {
			t.Fatalf("%s does not encode: %v", raw, err)
		}
		entry.Environment(e, nil, entry.EnvironmentOptions{})
	})
}

// A URL as client id must be in its normal form, since servers compare it as text.
func TestClientMetadataURL(t *testing.T) {
	t.Parallel()
	for _, address := range []string{
		"http://h/client.json", "https://h", "https://h/", "https:///client.json", "https://me@h/client.json", "https://h/a/../client.json",
		"https://h/./client.json", "https://h/client.json#x", "https://h/client.json#", "client.json", "https://h/%zz",
	} {
		_, got := parse(t, `{"url": "http://h", "auth": {"clientMetadataUrl": "`+address+`"}}`)
		want := []string{`error value /auth/clientMetadataUrl: expected an https URL with a path such as "https://example.org/client.json"`}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", address, diff)
		}
	}
}
