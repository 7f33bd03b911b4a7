package entry_test

import (
	"encoding/json"
	"errors"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"collie/internal/source/upstream/entry"
)

// Each rule about an entry, by its id: what it reports, in the form "severity rule pointer", and what it accepts.
func TestRules(t *testing.T) {
	t.Parallel()
	const token = "ghp_0123456789abcdefghijklmnopqrstuvwxyz"
	for name, tc := range map[string]struct {
		raw  string
		want []string
	}{
		"command or url: command only":       {`{"command": "x"}`, nil},
		"command or url: url only":           {`{"url": "http://h/mcp"}`, nil},
		"command or url: both":               {`{"command": "x", "url": "http://h"}`, []string{"error R-CV-1 "}},
		"command or url: neither":            {`{"args": ["x"]}`, []string{"error R-CV-1 "}},
		"command or url: null is absent":     {`{"command": "x", "url": null}`, nil},
		"command or url: type without sense": {`{"command": "x", "type": "websocket"}`, []string{"error R-CV-1 /type"}},
		"tolerance: one entry alone":         {`[]`, []string{"error type "}},
		"container: detached":                {`{"command": "docker", "args": ["run", "-i", "--rm", "--detach", "img"]}`, []string{"error R-CV-5 /args"}},
		"container: terminal":                {`{"command": "podman", "args": ["run", "-it", "--rm", "img"]}`, []string{"error R-CV-5 /args"}},
		"container: not interactive":         {`{"command": "nerdctl", "args": ["run", "--rm", "img"]}`, []string{"error R-CV-5 /args"}},
		"container: left behind":             {`{"command": "docker.exe", "args": ["container", "run", "-i", "img"]}`, []string{"warning R-CV-5 /args"}},
		"container: said in the negative":    {`{"command": "docker", "args": ["run", "-i", "--tty=false", "--rm=true", "img", "-t"]}`, nil},
		"container: no run":                  {`{"command": "docker", "args": ["exec", "c", "x"]}`, nil},
		"secret: args":                       {`{"command": "x", "args": ["` + token + `"]}`, []string{"warning R-CV-6 /args/0"}},
		"secret: query":                      {`{"url": "http://h?k=` + token + `"}`, []string{"warning R-CV-6 /url"}},
		"secret: header":                     {`{"url": "http://h", "headers": {"X": "` + token + `"}}`, []string{"warning R-CV-6 /headers/X"}},
		"secret: from a variable":            {`{"command": "x", "args": ["${secret:GITHUB}", "${WHO}"]}`, nil},
		"secret: long and no secret":         {`{"command": "x", "args": ["@modelcontextprotocol/server-sequential-thinking", "/usr/lib/some/very/long/path/of/a/thing", "123e4567-e89b-12d3-a456-426614174000"]}`, nil},
		"home by tilde":                      {`{"command": "~/x"}`, []string{"error R-CV-7 /command"}},
		"time: bare number":                  {`{"command": "x", "idleTimeout": 300}`, []string{"error R-CV-8 /idleTimeout"}},
		"time: number in quotes":             {`{"command": "x", "toolTimeout": "1500"}`, []string{"error R-CV-8 /toolTimeout"}},
		"time: inside":                       {`{"command": "x", "restart": {"window": 1}, "health": {"ping": 2}, "cache": {"maxAge": 3}}`, []string{"error R-CV-8 /restart/window", "error R-CV-8 /health/ping", "error R-CV-8 /cache/maxAge"}},
		"time: negative":                     {`{"command": "x", "startTimeout": "-5s"}`, []string{"error R-CV-8 /startTimeout"}},
		"time: with units":                   {`{"command": "x", "startTimeout": "90s", "idleTimeout": "1h30m", "cache": {"maxAge": "2d"}}`, nil},
		"variable: open":                     {`{"command": "x", "args": ["${WHO"]}`, []string{"error R-VA-1 /args/0"}},
		"variable: inside another":           {`{"command": "x", "cwd": "/${A:-${B}}"}`, []string{"error R-VA-1 /cwd"}},
		"variable: no form":                  {`{"command": "x", "args": ["${command:pick}"]}`, []string{"error R-VA-1 /args/0"}},
		"unset: everywhere":                  {`{"command": "${N}", "args": ["${N}"], "cwd": "${N}", "envFile": "${N}", "env": {"A": "${N}"}, "roots": ["${N}"]}`, []string{"error var_unset /command", "error var_unset /args/0", "error var_unset /cwd", "error var_unset /envFile", "error var_unset /env/A", "error var_unset /roots/0"}},
		"unset: everywhere, remote":          {`{"url": "http://${N}", "headers": {"A": "${N}"}, "auth": {"token": "${N}"}}`, []string{"error var_unset /url", "error var_unset /headers/A", "error var_unset /auth/token"}},
		"unset: empty is set":                {`{"command": "x", "args": ["${EMPTY}"]}`, nil},
		"environment: named in a list":       {`{"command": "x", "inheritEnv": ["AWS_*", "GH_TOKEN"]}`, nil},
		"fields: x- fields are kept":         {`{"command": "x", "x-mine": {"a": 1}, "x-": null}`, nil},
		"fields: unknown field, near":        {`{"command": "x", "enviroment": {}, "lifecyle": "lazy"}`, []string{"warning unknown /enviroment", "warning unknown /lifecyle"}},
		"fields: no use here":                {`{"command": "x", "headers": {"A": "b"}}`, []string{"warning unused /headers"}},
		"fields: no use at a url":            {`{"url": "http://h", "env": {"A": "b"}, "args": []}`, []string{"warning unused /args", "warning unused /env"}},
		"fields: headersCommand of nothing":  {`{"url": "http://h", "headersCommand": {"args": ["x"]}}`, []string{"error value /headersCommand"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, lines := parse(t, tc.raw)
			var got []string
			for _, l := range lines {
				at, _, _ := strings.Cut(l, ": ")
				got = append(got, at)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("problems (-want +got):\n%s\n%s", diff, strings.Join(lines, "\n"))
			}
		})
	}
}

// The path of a URL decides between the two remote transports only if nothing else does.
func TestTransportIsInferred(t *testing.T) {
	t.Parallel()
	for raw, want := range map[string]entry.Transport{
		`{"url": "http://h/x/sse"}`:                   entry.SSE,
		`{"url": "http://h/x/sse/"}`:                  entry.HTTP,
		`{"url": "http://h/sse", "type": "http"}`:     entry.HTTP,
		`{"url": "http://h/mcp", "transport": "SSE"}`: entry.SSE,
	} {
		if e := parseClean(t, raw); e.Transport != want {
			t.Errorf("%s is %s, want %s", raw, e.Transport, want)
		}
	}
}

// Relative paths start at the folder of the file; arguments are passed unchanged.
func TestRelativePathsStartAtTheFile(t *testing.T) {
	t.Parallel()
	e := parseClean(t, `{"command": "../bin/x", "args": ["./a.js", "b.py", "../c"], "cwd": "sub"}`)
	if got, want := e.Command.Reveal(), filepath.FromSlash("/etc/bin/x"); got != want {
		t.Errorf("command %s, want %s", got, want)
	}
	if diff := cmp.Diff([]string{"./a.js", "b.py", "../c"}, reveal(e.Args)); diff != "" {
		t.Errorf("args (-want +got):\n%s", diff)
	}
	if got, want := e.Dir, filepath.FromSlash("/etc/collie/sub"); got != want {
		t.Errorf("cwd %s, want %s", got, want)
	}
	if e := parseClean(t, `{"command": "npx"}`); e.Command.Reveal() != "npx" || e.Dir != "/etc/collie" {
		t.Errorf("a plain name became %s in %s", e.Command.Reveal(), e.Dir)
	}
}

// The value of a variable is not expanded again, and names of variables are never expanded.
func TestVariablesAreExpandedOnce(t *testing.T) {
	t.Parallel()
	e := parseClean(t, `{"command": "x", "args": ["${NESTED}", "$${WHO}", "$WHO", "%WHO%", "${MISSING:-$WHO}"], "env": {"${WHO}": "v"}}`)
	if diff := cmp.Diff([]string{"${WHO}", "${WHO}", "$WHO", "%WHO%", "$WHO"}, reveal(e.Args)); diff != "" {
		t.Errorf("args (-want +got):\n%s", diff)
	}
	if _, ok := e.Env["${WHO}"]; !ok {
		t.Errorf("the name of a variable was expanded: %v", e.Env)
	}
}

// The placeholder of a variable that is not set is never passed on.
func TestNoPlaceholderGetsThrough(t *testing.T) {
	t.Parallel()
	e, problems := parse(t, `{"url": "http://h", "headers": {"Authorization": "Bearer ${KEY}"}}`)
	if len(problems) != 1 || len(e.Headers) != 0 {
		t.Errorf("headers %v, problems %v", e.Headers, problems)
	}
}

// An input comes from the secret store, then the environment, then its default or a person.
func TestInputs(t *testing.T) {
	t.Parallel()
	var asked []string
	o := entry.Options{
		Secret: func(name string) (string, bool) { return "stored", name == "input:in-store" },
		Env: func(name string) (string, bool) {
			return "set", name == "COLLIE_INPUT_IN_ENV" || name == "COLLIE_INPUT_IN_STORE"
		},
		Input: func(id string) (string, bool) {
			asked = append(asked, id)
			return "said", id == "asked"
		},
	}
	e, problems := entry.Parse("s", json.RawMessage(`{"command": "x", "args": ["${input:in-store}", "${input:in-env}", "${input:asked}", "${input:nobody}"]}`), o)
	if diff := cmp.Diff([]string{"stored", "set", "said", ""}, reveal(e.Args)); diff != "" {
		t.Errorf("inputs (-want +got):\n%s", diff)
	}
	if len(problems) != 1 || problems[0].Rule != entry.RuleUnset || !strings.Contains(problems[0].Message, "COLLIE_INPUT_NOBODY") {
		t.Errorf("problems %v", problems)
	}
	if diff := cmp.Diff([]string{"asked", "nobody"}, asked); diff != "" {
		t.Errorf("asked for (-want +got):\n%s", diff)
	}
	if !cmp.Equal(e.Secrets, []string{"stored", "said", "set"}) {
		t.Errorf("secrets %q", e.Secrets)
	}
}

// The path of envFile is known even if the file cannot be read.
func TestEnvFileIsKnown(t *testing.T) {
	t.Parallel()
	read := func(string) ([]byte, error) { return nil, errors.New("no file") }
	e, _ := entry.Parse("s", json.RawMessage(`{"command": "x", "envFile": "a.env"}`), entry.Options{Dir: "/d", ReadFile: read})
	if e.EnvFile != filepath.FromSlash("/d/a.env") {
		t.Errorf("envFile is %q", e.EnvFile)
	}
}

// A cache setting that an entry lacks comes from the options.
func TestCacheDefault(t *testing.T) {
	t.Parallel()
	o := entry.Options{Cache: &entry.Cache{Enabled: true, MaxAge: time.Hour, MaxStale: 2 * time.Hour}}
	e, _ := entry.Parse("s", json.RawMessage(`{"command": "x", "cache": {"maxAge": "5m"}}`), o)
	if want := (entry.Cache{Enabled: true, MaxAge: 5 * time.Minute, MaxStale: 2 * time.Hour}); e.Cache != want {
		t.Errorf("cache %+v, want %+v", e.Cache, want)
	}
}
