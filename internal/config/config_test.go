package config_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"collie/internal/config"
)

// writeSettings creates a settings file in a new folder and returns its path.
func writeSettings(t *testing.T, text string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "collie.json")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// load reads files with a new home.
func load(t *testing.T, files ...string) (*config.Config, error) {
	t.Helper()
	return config.Load(config.Options{Files: files, Home: t.TempDir()})
}

// loadFindings returns what Load reports about a text, one line each, without the folder.
func loadFindings(t *testing.T, text string) []string {
	t.Helper()
	file := writeSettings(t, text)
	c, err := load(t, file)
	var list []config.Finding
	if e, ok := errors.AsType[*config.Error](err); ok {
		list = e.Findings
	} else if err != nil {
		t.Fatal(err)
	} else {
		list = c.Warnings
	}
	var lines []string
	for _, f := range list {
		lines = append(lines, strings.TrimPrefix(f.String(), filepath.Dir(file)+string(filepath.Separator)))
	}
	return lines
}

func TestDefaults(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	c, err := config.Load(config.Options{Home: home})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(config.HTTP{Addr: "127.0.0.1:7420", MaxBody: 16 << 20, ResumeBytes: 64 << 20, ElicitationConfirms: true}, c.HTTP); diff != "" {
		t.Errorf("http (-want +got):\n%s", diff)
	}
	limits := config.Limits{
		MaxFrame: 64 << 20, MaxDefinition: 1 << 20, MaxDepth: 1000, MaxSchemaDepth: 64,
		MaxSessions: 1024, MaxInFlight: 256, CallTimeout: time.Minute, MaxCallTimeout: 10 * time.Minute,
	}
	mcp := config.MCP{
		Enabled: true, MaxParallelStarts: 64, MaxRunnerStarts: 4, Limits: limits, Drain: 5 * time.Second, WarmParallel: 4,
		Registry: "https://registry.modelcontextprotocol.io",
		Logs:     config.ServerLogs{Enabled: true, MaxSize: 5 << 20, Files: 3},
	}
	if diff := cmp.Diff(mcp, c.MCP); diff != "" {
		t.Errorf("mcp (-want +got):\n%s", diff)
	}
	cache := c.Cache
	cache.Fallback = ""
	if diff := cmp.Diff(config.Cache{
		Enabled: true, File: filepath.Join(home, "collie.cache.json"), MaxAge: 24 * time.Hour, MaxStale: 720 * time.Hour, Mode: 0o600,
		Compression: "auto", RefreshStale: "use", Warmup: "missing", FirstListWait: 5 * time.Second, SharedIdentity: "exact",
	}, cache); diff != "" {
		t.Errorf("cache (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(config.Log{Level: "warn", MaxSize: 10 << 20, Files: 3}, c.Log); diff != "" || c.Secrets.Store != "auto" {
		t.Errorf("log (-want +got):\n%s\nsecrets %+v", diff, c.Secrets)
	}
	if diff := cmp.Diff(config.Audit{Content: "redacted", OnFailure: "refuse", Dir: filepath.Join(home, "state", "audit")}, c.Audit); diff != "" {
		t.Errorf("audit (-want +got):\n%s", diff)
	}
	if len(c.Files) > 0 || len(c.Servers) > 0 || len(c.Warnings) > 0 {
		t.Errorf("an empty home gives %v, %v, %v", c.Files, c.Servers, c.Warnings)
	}
}

func TestFindings(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		text string
		want []string
	}{
		"wrong type":      {"{\n  \"http\": {\n    \"addr\": 7420\n  }\n}", []string{`collie.json:3:13: http.addr: expected a string such as "127.0.0.1:7420", got number`}},
		"columns count 字": {`{"x-字": 1, "http": []}`, []string{`collie.json:1:20: http: expected an object, got array`}},
		"not an address":  {`{"http": {"addr": "localhost"}}`, []string{`collie.json:1:19: http.addr: expected host:port such as "127.0.0.1:7420", got "localhost"`}},
		"list element":    {"{\"http\": {\"allowedHosts\": [\"a\",\n true]}}", []string{`collie.json:2:2: http.allowedHosts[1]: expected a string such as "notes.example.org", got boolean`}},
		"unknown, near":   {`{"htpp": {}, "http": {"adr": "x"}}`, []string{`collie.json:1:2: warning: htpp: unknown field; did you mean "http"?`, `collie.json:1:23: warning: http.adr: unknown field; did you mean "addr"?`}},
		"unknown, far":    {`{"weather": 1, "x-mine": 1, "$schema": "y"}`, []string{`collie.json:1:2: warning: weather: unknown field`}},
		"fixed limits": {`{"mcp": {"limits": {"maxDefinition": "1MiB", "maxDepth": 5, "maxSchemaDepth": "x"}}}`, []string{
			`collie.json:1:58: warning: mcp.limits.maxDepth: this limit is fixed at 1000, the value is ignored`,
			`collie.json:1:79: mcp.limits.maxSchemaDepth: expected a whole number such as 64, got string`,
		}},
		"bare duration":            {`{"mcp": {"limits": {"callTimeout": 30}}}`, []string{`collie.json:1:36: mcp.limits.callTimeout: write a unit: 30s, 500ms`}},
		"quoted duration":          {`{"mcp": {"limits": {"callTimeout": "30"}}}`, []string{`collie.json:1:36: mcp.limits.callTimeout: write a unit: 30s, 500ms`}},
		"no duration":              {`{"cache": {"maxAge": "soon"}}`, []string{`collie.json:1:22: cache.maxAge: "soon" is not a length of time; write one such as 30s, 500ms, 10m, 24h`}},
		"no count":                 {`{"mcp": {"maxParallelStarts": 1.5}}`, []string{`collie.json:1:31: mcp.maxParallelStarts: expected a whole number from 1, got 1.5`}},
		"no size":                  {`{"http": {"maxBody": "16 mebi"}}`, []string{`collie.json:1:22: http.maxBody: "16 mebi" is not a size; write one such as 16MiB`}},
		"no choice":                {`{"audit": {"content": "all"}}`, []string{`collie.json:1:23: audit.content: expected one of none, redacted, full, got "all"`}},
		"no mode":                  {`{"cache": {"mode": 600}}`, []string{`collie.json:1:20: cache.mode: expected a permission in octal, in quotes, such as "0600", got number`}},
		"not octal":                {`{"cache": {"mode": "rw"}}`, []string{`collie.json:1:20: cache.mode: expected a permission in octal, in quotes, such as "0600", got "rw"`}},
		"mode of others":           {`{"cache": {"mode": "0444"}}`, []string{`collie.json:1:20: cache.mode: "0444" does not let the owner read and write it, or makes it a program; write one such as "0600" or "0640"`}},
		"mode to run":              {`{"cache": {"mode": "0700"}}`, []string{`collie.json:1:20: cache.mode: "0700" does not let the owner read and write it, or makes it a program; write one such as "0600" or "0640"`}},
		"no URL":                   {`{"cache": {"shared": "me:geheim"}}`, []string{`collie.json:1:22: cache.shared: expected the address of a NATS server such as "nats://nats.example.org:4222"`}},
		"no NATS":                  {`{"cache": {"shared": "redis://me:geheim@h"}}`, []string{`collie.json:1:22: cache.shared: expected the address of a NATS server such as "nats://nats.example.org:4222"`}},
		"shared through a gateway": {`{"cache": {"shared": "https://me:geheim@h:7420"}}`, []string{`collie.json:1:22: warning: cache.shared: an HTTP address is ignored: gateways share lists through NATS alone; write an address such as "nats://nats.example.org:4222", or take lists over once with collie cache import FILE`}},
		"shared by this gateway":   {`{"cache": {"shared": "serve"}}`, []string{`collie.json:1:22: warning: cache.shared: "serve" is ignored: gateways share lists through NATS alone; write an address such as "nats://nats.example.org:4222", or take lists over once with collie cache import FILE`}},
		"shared folder":            {`{"cache": {"shared": "dir:///mnt/geheim"}}`, []string{`collie.json:1:22: warning: cache.shared: a folder is ignored: gateways share lists through NATS alone; write an address such as "nats://nats.example.org:4222", or take lists over once with collie cache import FILE`}},
		"path of a folder":         {`{"cache": {"shared": "/mnt/geheim"}}`, []string{`collie.json:1:22: warning: cache.shared: a folder is ignored: gateways share lists through NATS alone; write an address such as "nats://nats.example.org:4222", or take lists over once with collie cache import FILE`}},
		"shared file":              {`{"cache": {"shared": "file:///mnt/geheim"}}`, []string{`collie.json:1:22: warning: cache.shared: a file is ignored: gateways share lists through NATS alone; write an address such as "nats://nats.example.org:4222", or take lists over once with collie cache import FILE`}},
		"shared, in capitals":      {`{"cache": {"shared": "HTTPS://me:geheim@h:7420"}}`, []string{`collie.json:1:22: warning: cache.shared: an HTTP address is ignored: gateways share lists through NATS alone; write an address such as "nats://nats.example.org:4222", or take lists over once with collie cache import FILE`}},
		"cache words": {`{"cache": {"compression": "zip", "warmup": true, "refreshStale": "never", "sharedIdentity": "x", "refreshInterval": 60}}`, []string{
			`collie.json:1:27: cache.compression: expected one of auto, none, gzip, got "zip"`, `collie.json:1:44: cache.warmup: expected one of off, missing, stale, all, got boolean`,
			`collie.json:1:66: cache.refreshStale: expected one of use, start, got "never"`, `collie.json:1:93: cache.sharedIdentity: expected one of exact, portable, got "x"`,
			`collie.json:1:117: cache.refreshInterval: write a unit: 30s, 500ms`,
		}},
		"logs": {`{"mcp": {"logs": {"maxSize": "0", "files": 0}, "drain": 5, "warmParallel": 0}, "log": {"level": "loud"}, "secrets": {"store": "vault"}}`, []string{
			`collie.json:1:30: mcp.logs.maxSize: a limit of 0 would let nothing through; write a size such as 5MiB`, `collie.json:1:44: mcp.logs.files: expected a whole number from 1, got 0`,
			`collie.json:1:57: mcp.drain: write a unit: 30s, 500ms`, `collie.json:1:76: mcp.warmParallel: expected a whole number from 1, got 0`,
			`collie.json:1:97: log.level: expected one of debug, info, warn, error, got "loud"`, `collie.json:1:127: secrets.store: expected one of auto, keyring, file, got "vault"`,
		}},
		"servers of Zed":    {`{"context_servers": {"a": {"command": "x"}, "b": {"url": "u"}}}`, []string{`collie.json:1:2: warning: context_servers: unknown field; these look like servers, which belong under "mcpServers"; collie mcp import reads what other programs write`}},
		"servers of others": {`{"mcp": {"a": {"type": "local", "command": ["x"]}}}`, []string{`collie.json:1:10: warning: mcp.a: unknown field; this looks like a server, which belongs under "mcpServers"; collie mcp import reads what other programs write`}},
		"input without id":  {`{"inputs": [{"type": "promptString"}]}`, []string{`collie.json:1:13: inputs[0]: an input needs an "id", to which ${input:id} refers`}},
		"half of TLS":       {`{"http": {"tlsCert": "c.pem"}}`, []string{`collie.json:1:10: http: tlsCert and tlsKey belong together; only one of them is set`}},
		"bad view":          {`{"profiles": {"p": {"views": {"fs": "tree"}}}}`, []string{`collie.json:1:37: profiles.p.views.fs: expected one of flat, grouped, search, got "tree"`}},
		"notebook by name":  {`{"profiles": {"p": {"notebooks": {"Work": "r"}}}}`, []string{`collie.json:1:43: profiles.p.notebooks.Work: expected the id of a notebook such as "20210808180117-czj9bvb", or "*" for all others, got "Work"; collie siyuan permission list shows the ids`}},
		"unknown level":     {`{"profiles": {"p": {"notebooks": {"*": "read"}}}}`, []string{`collie.json:1:40: profiles.p.notebooks.*: expected one of none, r, rw, rwd, got "read"`}},
		"notebooks a list":  {`{"profiles": {"p": {"notebooks": []}}}`, []string{`collie.json:1:34: profiles.p.notebooks: expected an object of notebook ids, or "*", and levels, got array`}},
		"duplicate key":     {"{\n \"mcpServers\": {\n  \"a\": {\"command\": \"x\"},\n  \"a\": {\"command\": \"y\"}\n }\n}", []string{`collie.json:4:3: mcpServers.a: duplicate key "a"; it is in line 3 too`}},
		"duplicate inside":  {`{"mcpServers": {"a": {"env": {"K": "1", "K": "2"}}}}`, []string{`collie.json:1:41: mcpServers.a.env.K: duplicate key "K"; it is in line 1 too`}},
		"both shapes":       {`{"mcpServers": {"a": {"command": "x"}}, "servers": {"a": {"command": "x"}}}`, []string{`collie.json:1:58: servers.a: server "a" is defined under mcpServers and under servers; keep one of them`}},
		"servers a list":    {`{"mcpServers": []}`, []string{`collie.json:1:16: mcpServers: expected an object of servers by name, got array`}},
		"bare servers":      {`{"a": {"command": "x"}, "b": {"url": "http://h"}}`, []string{`collie.json:1:1: warning: servers are at the top level of the file; put them under "mcpServers"`}},
		"no name":           {`{"command": "npx", "args": []}`, []string{`collie.json:1:1: this is one server entry without a name; wrap it as {"mcpServers": {"name": …}}`}},
		"syntax":            {"{\n  \"a\"\n}", []string{`collie.json:3:1: invalid character '}' after object name`}},
		"too large":         {`{"x-a": "` + strings.Repeat("x", config.MaxSize) + `"}`, []string{`collie.json: the file has more than 4MiB`}},
		"all of them":       {"{\n\"http\": {\"addr\": 1, \"noAuth\": 2},\n\"mcp\": 3}", []string{`collie.json:2:18: http.addr: expected a string such as "127.0.0.1:7420", got number`, `collie.json:2:31: http.noAuth: expected true or false, got number`, `collie.json:3:8: mcp: expected an object, got number`}},
		"nothing wrong":     {"\xef\xbb\xbf// a note\n{\"mcpServers\": {\"a\": 1,},}", nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(tc.want, loadFindings(t, tc.text)); diff != "" {
				t.Errorf("findings (-want +got):\n%s", diff)
			}
		})
	}
}

// A wrong level, or a level for something that is not a notebook id, allows nothing at all.
func TestWrongNotebookLevelsAllowNothing(t *testing.T) {
	t.Parallel()
	for _, text := range []string{`[]`, `"r"`, `null`, `{"Work": "r"}`, `{"*": "rwd", "20240101120000-abcdefg": "R"}`, `{"20240101120000-ABCDEFG": "r"}`, `{"20240101120000-abcdefg": 1}`} {
		c, err := load(t, writeSettings(t, `{"profiles": {"p": {"notebooks": `+text+`}}}`))
		if got := c.Profiles["p"].Notebooks; err == nil || !cmp.Equal(got, map[string]string{"*": "none"}) {
			t.Errorf("%s: %v, %v", text, got, err)
		}
	}
}

func TestErrorHasALineForEachError(t *testing.T) {
	t.Parallel()
	file := writeSettings(t, `{"http": {"adr": 1, "addr": 2, "noAuth": 3}}`)
	c, err := load(t, file)
	if c == nil || err == nil {
		t.Fatalf("got %v, %v; want both a config and an error", c, err)
	}
	if lines := strings.Split(err.Error(), "\n"); len(lines) != 2 || !strings.HasPrefix(lines[0], file+":1:29: http.addr: ") {
		t.Errorf("got %q", lines)
	}
	if len(c.Warnings) != 1 {
		t.Errorf("got warnings %v, want the one about adr", c.Warnings)
	}
}

func TestShapesOfServers(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"canonical":      `{"mcpServers": {"z": {"command": "x", "n": 9007199254740993}, "a": {"url": "u"}}}`,
		"VS Code":        `{"servers": {"z": {"command": "x", "n": 9007199254740993}, "a": {"url": "u"}}, "inputs": [{"id": "k", "type": "promptString", "password": true}]}`,
		"both":           `{"servers": {"z": {"command": "x", "n": 9007199254740993}}, "mcpServers": {"a": {"url": "u"}}}`,
		"pasted":         `{"z": {"command": "x", "n": 9007199254740993}, "a": {"url": "u"}}`,
		"with a comment": "{\"mcpServers\": {\"z\": {\"command\": /* why */ \"x\", \"n\": 9007199254740993,},\n// more\n\"a\": {\"url\": \"u\"}}}",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			file := writeSettings(t, text)
			c, err := load(t, file)
			if err != nil {
				t.Fatal(err)
			}
			got := map[string]string{}
			var names []string
			for _, s := range c.Servers {
				names = append(names, s.Name)
				got[s.Name] = string(s.Raw)
				if s.File != file || s.Dir != filepath.Dir(file) {
					t.Errorf("%s comes from %s in %s", s.Name, s.File, s.Dir)
				}
			}
			if diff := cmp.Diff([]string{"z", "a"}, names); diff != "" {
				t.Errorf("order (-want +got):\n%s", diff)
			}
			want := map[string]string{"z": `{"command":"x","n":9007199254740993}`, "a": `{"url":"u"}`}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("entries (-want +got):\n%s", diff)
			}
			if name == "VS Code" {
				if diff := cmp.Diff([]config.Input{{ID: "k", Type: "promptString", Password: true}}, c.Inputs); diff != "" {
					t.Errorf("inputs (-want +got):\n%s", diff)
				}
			}
		})
	}
}

func TestPositionsInEntries(t *testing.T) {
	t.Parallel()
	file := writeSettings(t, "{\n  \"mcpServers\": {\n    \"a\": {\n      // the program\n      \"command\": \"x\",\n      \"args\": [\"1\",\n        \"2\"]\n    }\n  }\n}")
	c, err := load(t, file)
	if err != nil {
		t.Fatal(err)
	}
	s := c.Servers[0]
	for pointer, want := range map[string][2]int{
		"":              {3, 10},
		"/command":      {5, 18},
		"/args/1":       {7, 9},
		"/args/7":       {6, 15},
		"/missing":      {3, 10},
		"/missing/deep": {3, 10},
		"nonsense":      {3, 10},
	} {
		if line, column := s.Position(pointer); [2]int{line, column} != want {
			t.Errorf("%q is at %d:%d, want %v", pointer, line, column, want)
		}
	}
	f := s.Finding("/args/1", "R-CV-6", config.SeverityWarning, "looks like a secret")
	if want := file + ":7:9: warning: mcpServers.a.args[1]: looks like a secret"; f.String() != want {
		t.Errorf("got %q, want %q", f, want)
	}
}

func TestLaterFileWins(t *testing.T) {
	t.Parallel()
	first := writeSettings(t, `{"http": {"addr": "127.0.0.1:1", "noAuth": true}, "mcpServers": {"a": {"command": "old"}, "b": {"command": "b"}}}`)
	second := writeSettings(t, `{"http": {"addr": "127.0.0.1:2"}, "servers": {"c": {"command": "c"}, "a": {"command": "new"}}}`)
	c, err := load(t, first, second)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, s := range c.Servers {
		got = append(got, s.Name+" "+string(s.Raw)+" "+filepath.Base(filepath.Dir(s.File)))
	}
	dir := func(file string) string { return filepath.Base(filepath.Dir(file)) }
	want := []string{
		`a {"command":"new"} ` + dir(second),
		`b {"command":"b"} ` + dir(first),
		`c {"command":"c"} ` + dir(second),
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("servers (-want +got):\n%s", diff)
	}
	if c.HTTP.Addr != "127.0.0.1:2" || !c.HTTP.NoAuth {
		t.Errorf("http is %+v", c.HTTP)
	}
}

func TestSections(t *testing.T) {
	t.Parallel()
	file := writeSettings(t, `{
		"http": {"tlsCert": "c.pem", "tlsKey": "/k.pem", "maxBody": "1MiB", "allowedOrigins": ["https://a"]},
		"mcp": {"enabled": false, "env": {"deny": ["*_KEY"]}, "limits": {"maxFrame": 4096, "maxCallTimeout": "1h"}},
		"cache": {"maxStale": "7d", "file": "tools.json"},
		"siyuan": {"enabled": false, "apiUrl": "http://h"},
		"web": {"frameOrigins": ["http://127.0.0.1:6806", "https://siyuan.example.org"]},
		"vault": {"file": "n.db", "sync": ["notes", "/n"]},
		"profiles": {"core": {"view": "grouped", "views": {"fs": "flat"}, "tools": ["fs"], "actions": {"exclude": ["fs.rm"]}, "notebooks": {"20240101120000-abcdefg": "r", "*": "none"}}},
	}`)
	c, err := load(t, file)
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Dir(file)
	if want := (config.HTTP{Addr: "127.0.0.1:7420", AllowedOrigins: []string{"https://a"}, TLSCert: filepath.Join(dir, "c.pem"), TLSKey: "/k.pem", MaxBody: 1 << 20, ResumeBytes: 64 << 20, ElicitationConfirms: true}); !cmp.Equal(want, c.HTTP) {
		t.Errorf("http %s", cmp.Diff(want, c.HTTP))
	}
	if c.MCP.Enabled || len(c.MCP.EnvDeny) != 1 || c.MCP.Limits.MaxFrame != 4096 || c.MCP.Limits.MaxCallTimeout != time.Hour {
		t.Errorf("mcp is %+v", c.MCP)
	}
	if c.Cache.MaxStale != 7*24*time.Hour || c.Cache.File != filepath.Join(dir, "tools.json") {
		t.Errorf("cache is %+v", c.Cache)
	}
	if c.SiYuan.Enabled || string(c.SiYuan.Raw) != `{"enabled":false,"apiUrl":"http://h"}` {
		t.Errorf("siyuan is %+v", c.SiYuan)
	}
	if want := []string{"http://127.0.0.1:6806", "https://siyuan.example.org"}; !cmp.Equal(c.Web.FrameOrigins, want) {
		t.Errorf("web is %+v", c.Web)
	}
	if !c.Vault.Enabled || c.Vault.File != filepath.Join(dir, "n.db") || !cmp.Equal(c.Vault.Sync, []string{filepath.Join(dir, "notes"), "/n"}) {
		t.Errorf("vault is %+v", c.Vault)
	}
	want := config.Profile{
		View: "grouped", Views: map[string]string{"fs": "flat"},
		Tools: config.Filter{Include: []string{"fs"}}, Actions: config.Filter{Exclude: []string{"fs.rm"}},
		Notebooks: map[string]string{"20240101120000-abcdefg": "r", "*": "none"},
	}
	if diff := cmp.Diff(want, c.Profiles["core"]); diff != "" {
		t.Errorf("profile (-want +got):\n%s", diff)
	}
}

// A value of web.frameOrigins is written into a policy unchanged, so it must be one origin and nothing
// else.
func TestFrameOrigins(t *testing.T) {
	t.Parallel()
	for _, bad := range []string{
		"", "*", "http://*", "http://*.example.org", "'self'", "127.0.0.1:6806", "http://", "http://127.0.0.1:6806/", "http://127.0.0.1:6806/stage",
		"ws://127.0.0.1:6806", "http://u:p@127.0.0.1", "http://a http://b", "http://a;script-src", "http://a,b", "HTTP://127.0.0.1", "http://127.0.0.1:6806#x", "null", "file://", "http://[::1",
	} {
		raw, _ := json.Marshal(bad)
		c, err := load(t, writeSettings(t, `{"web":{"frameOrigins":["http://127.0.0.1:6806",`+string(raw)+`]}}`))
		if err == nil {
			t.Errorf("%q passes: %q", bad, c.Web.FrameOrigins)
		}
	}
	if c, err := load(t, writeSettings(t, `{"web":{"frameOrigins":["http://[::1]:6806","https://笔记.example"]}}`)); err != nil || len(c.Web.FrameOrigins) != 2 {
		t.Errorf("%v %+v", err, c)
	}
}

func TestWhichFile(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	if err := os.WriteFile(filepath.Join(home, "collie.json"), []byte(`{"http": {"addr": "h:1"}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	env, flag := writeSettings(t, `{"http": {"addr": "h:2"}}`), writeSettings(t, `{"http": {"addr": "h:3"}}`)
	for name, tc := range map[string]struct {
		opts config.Options
		want string
	}{
		"default":      {config.Options{Env: config.EnvOf("COLLIE_HOME=" + home)}, "h:1"},
		"--home":       {config.Options{Home: home, Env: config.EnvOf("COLLIE_HOME=/nowhere")}, "h:1"},
		"environment":  {config.Options{Home: home, Env: config.EnvOf("COLLIE_CONFIG=" + env)}, "h:2"},
		"command line": {config.Options{Home: home, Env: config.EnvOf("COLLIE_CONFIG=" + env), Files: []string{flag}}, "h:3"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c, err := config.Load(tc.opts)
			if err != nil {
				t.Fatal(err)
			}
			if c.HTTP.Addr != tc.want {
				t.Errorf("got the file with %s, want %s", c.HTTP.Addr, tc.want)
			}
		})
	}
	if _, err := load(t, filepath.Join(home, "missing.json")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a named file that is missing: %v", err)
	}
	if _, err := load(t, home); err == nil {
		t.Error("a folder as file: no error")
	}
}

func TestDigest(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	digest := func(text string) string {
		file := filepath.Join(dir, "collie.json")
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		c, err := config.Load(config.Options{Home: dir})
		if err != nil {
			t.Fatal(err)
		}
		return c.Digest()
	}
	a := digest(`{"http": {"maxBody": "1MiB", "noAuth": false}, "mcpServers": {"a": {"command": "x", "args": []}}}`)
	b := digest("// same\n{\"servers\": {\"a\": {\"args\": [], \"command\": \"x\",}}, \"http\": {\"maxBody\": 1048576}}")
	if a != b || len(a) != 64 {
		t.Errorf("same meaning gives %s and %s", a, b)
	}
	for _, other := range []string{
		`{"http": {"maxBody": "2MiB"}, "mcpServers": {"a": {"command": "x", "args": []}}}`,
		`{"http": {"maxBody": "1MiB"}, "mcpServers": {"a": {"command": "x", "args": ["1"]}}}`,
		`{"http": {"maxBody": "1MiB"}, "mcpServers": {"a": {"command": "x", "args": []}}, "siyuan": {"more": 1}}`,
	} {
		if digest(other) == a {
			t.Errorf("%s has the same digest", other)
		}
	}
}

func TestGet(t *testing.T) {
	t.Parallel()
	c, err := load(t, writeSettings(t, `{"http": {"allowedHosts": ["a", "b"]}, "mcpServers": {"s": {"args": ["x"]}}, "siyuan": {"own": 1}}`))
	if err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		"http.addr":              `"127.0.0.1:7420"`,
		"http.allowedHosts[1]":   `"b"`,
		"/mcpServers/s/args/0":   `"x"`,
		"mcp.limits.callTimeout": `"1m"`,
		"mcp.limits.maxFrame":    `"64MiB"`,
		"siyuan":                 `{"enabled":true,"own":1}`,
	} {
		if got, err := c.Get(path); err != nil || string(got) != want {
			t.Errorf("%s is %s, %v; want %s", path, got, err, want)
		}
	}
	for _, path := range []string{"http.nope", "", "a..b"} {
		if got, err := c.Get(path); err == nil {
			t.Errorf("%q is %s, want an error", path, got)
		}
	}
	if !json.Valid(c.JSON()) {
		t.Errorf("settings are not JSON: %s", c.JSON())
	}
}

func FuzzLoad(f *testing.F) {
	for _, s := range []string{
		`{}`, `{"mcpServers": {"a": {"command": "x"}}}`, `{"a": {"url": "u"}}`, `{"http": {"addr": 1}}`,
		"\xef\xbb\xbf{\"profiles\": {\"p\": {\"tools\": [1]}},}", `{"inputs": [{}, 1]}`, `{"siyuan": {"enabled": "x"}}`,
		`{"cache": {"maxAge": "1d"}, "mcp": {"limits": {"maxFrame": "9223372036GiB"}}}`, `[`, `{"http": {"tlsKey": "\u0000"}}`,
		`{"mcpServers": {"a": {"x": {"y": 1, "y": "\ud800"}}}, "siyuan": {"x": {"y": 1, "y": 1e999}}}`,
	} {
		f.Add([]byte(s))
	}
	dir := f.TempDir()
	file := filepath.Join(dir, "collie.json")
	f.Fuzz(func(t *testing.T, text []byte) {
		if err := os.WriteFile(file, text, 0o600); err != nil {
			t.Fatal(err)
		}
		c, err := config.Load(config.Options{Home: dir})
		if c == nil {
			t.Fatalf("a file that can be read gives no config: %v", err)
		}
		if !json.Valid(c.JSON()) {
			t.Fatalf("settings are not JSON: %s", c.JSON())
		}
		c.Digest()
		for _, s := range c.Servers {
			if line, column := s.Position("/args/0"); line < 1 || column < 1 {
				t.Fatalf("%s is at %d:%d", s.Name, line, column)
			}
		}
	})
}

// A file that holds one server entry without a name is accepted if --config names the file and a name can be proposed.
func TestEntryAlone(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "mcp-servers.json")
	if err := os.WriteFile(file, []byte(`{"command": "npx", "args": ["-y", "x"]}`), 0o600); err != nil {
		t.Fatal(err)
	}
	name := func(raw json.RawMessage) string {
		if !bytes.Contains(raw, []byte(`"npx"`)) {
			t.Errorf("the entry is %s", raw)
		}
		return "x"
	}
	c, err := config.Load(config.Options{Home: filepath.Dir(file), Files: []string{file}, NameFor: name})
	if err != nil || len(c.Servers) != 1 || c.Servers[0].Name != "x" || len(c.Warnings) != 1 {
		t.Fatalf("%+v, %v", c, err)
	}
	for _, o := range []config.Options{
		{Home: filepath.Dir(file), Files: []string{file}},
		{Home: filepath.Dir(file), Files: []string{file}, NameFor: func(json.RawMessage) string { return "" }},
	} {
		if _, err := config.Load(o); err == nil || !strings.Contains(err.Error(), "without a name") {
			t.Errorf("loaded with %v", err)
		}
	}
}
