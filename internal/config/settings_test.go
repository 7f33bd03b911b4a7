package config_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"collie/internal/config"
)

func TestNewSections(t *testing.T) {
	t.Parallel()
	file := writeSettings(t, `{
		"http": {"metrics": true},
		"cache": {"mode": "0640", "compression": "gzip", "trustImported": true, "serveOldOnChange": true, "refreshStale": "start", "warmup": "off",
			"refreshInterval": "6h", "refreshStartsServers": true, "firstListWait": "3s", "shared": "nats://me:geheim@h/c,tls://geheim2@b:4222", "sharedKeyFile": "team.key",
			"sharedIdentity": "portable", "maxStale": "0"},
		"mcp": {"drain": "0", "warmParallel": 1, "registry": "http://127.0.0.1:9", "logs": {"enabled": false, "maxSize": "1MB", "files": 1}},
		"secrets": {"store": "file"},
		"log": {"file": "c.log", "level": "debug", "maxSize": "1MiB", "files": 9}
	}`)
	c, err := load(t, file)
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Dir(file)
	got := c.Cache
	if !strings.HasPrefix(got.File, c.Paths.Cache) {
		t.Errorf("file %q", got.File)
	}
	want := config.Cache{
		Enabled: true, File: got.File, MaxAge: 24 * time.Hour, Mode: 0o640, Compression: "gzip", TrustImported: true,
		ServeOldOnChange: true, RefreshStale: "start", Warmup: "off", RefreshInterval: 6 * time.Hour, RefreshStartsServers: true, FirstListWait: 3 * time.Second,
		Shared: "nats://me:geheim@h/c,tls://geheim2@b:4222", SharedKeyFile: filepath.Join(dir, "team.key"), SharedIdentity: "portable",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("cache (-want +got):\n%s", diff)
	}
	if c.MCP.Drain != 0 || c.MCP.WarmParallel != 1 || c.MCP.Registry != "http://127.0.0.1:9" || c.MCP.Logs != (config.ServerLogs{MaxSize: 1e6, Files: 1}) || !c.HTTP.Metrics || c.Secrets.Store != "file" {
		t.Errorf("got %+v, %+v, %+v", c.MCP, c.HTTP, c.Secrets)
	}
	if want := (config.Log{File: filepath.Join(dir, "c.log"), Level: "debug", MaxSize: 1 << 20, Files: 9}); c.Log != want {
		t.Errorf("log %+v", c.Log)
	}
	if text := string(c.JSON()); strings.Contains(text, "geheim") || !strings.Contains(text, `"shared":"nats://***@h/c,tls://***@b:4222"`) || !strings.Contains(text, `"mode":"0640"`) {
		t.Errorf("settings read %s", text)
	}
	other, err := load(t, writeSettings(t, strings.Replace(readText(t, file), "geheim2", "geheim3", 1)))
	if err != nil {
		t.Fatal(err)
	}
	if other.Digest() == c.Digest() {
		t.Error("another password in a URL is the same setting")
	}
}

func TestWhereTheCacheLies(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	elsewhere := filepath.Join(t.TempDir(), "c.json")
	own := writeSettings(t, `{"cache": {"file": "own.json"}}`)
	for name, tc := range map[string]struct {
		opts     config.Options
		want     string
		fallback bool
	}{
		"beside the default file": {config.Options{Home: home}, filepath.Join(home, "collie.cache.json"), true},
		"beside a named file":     {config.Options{Home: home, Files: []string{writeSettings(t, `{}`), own}}, filepath.Join(filepath.Dir(own), "own.json"), false},
		"environment":             {config.Options{Home: home, Files: []string{own}, Env: config.EnvOf("COLLIE_CACHE_FILE=" + elsewhere)}, elsewhere, false},
	} {
		c := mustLoad(t, tc.opts)
		if c.Cache.File != tc.want || (c.Cache.Fallback != "") != tc.fallback {
			t.Errorf("%s: %q, else %q", name, c.Cache.File, c.Cache.Fallback)
		}
	}
	// Collie does not write to other people's folders.
	plain := writeSettings(t, `{}`)
	c := mustLoad(t, config.Options{Home: home, Files: []string{plain}})
	if filepath.Dir(c.Cache.File) != c.Paths.Cache || c.Cache.Fallback != "" {
		t.Errorf("of settings elsewhere: %q, else %q", c.Cache.File, c.Cache.Fallback)
	}
}

func TestSetRefusesUnknownNames(t *testing.T) {
	t.Parallel()
	const text = `{"http": {"adr": 1}, "profiles": {"p": {}}, "siyuan": {}, "servers": {"s": {"command": "x"}}}`
	for path, hint := range map[string]string{
		"http.nope":          "unknown field",
		"http.metrix":        `did you mean "metrics"?`,
		"mcp.logs.maxsize":   `did you mean "maxSize"?`,
		"profiles.p.tool":    `did you mean "tools"?`,
		"htpp.addr":          `did you mean "http"?`,
		"/cache/refreshstal": `did you mean "refreshStale"?`,
	} {
		file := writeSettings(t, text)
		err := config.Edit(t.Context(), file, config.Setting(path, config.Value("true")))
		if !errors.Is(err, config.ErrNoSetting) || !strings.Contains(err.Error(), hint) {
			t.Errorf("%s: %v, want %q", path, err, hint)
		}
		if readText(t, file) != text {
			t.Errorf("%s was written", path)
		}
	}
	for _, path := range []string{"http.addr", "siyuan.anything.at.all", "x-own.thing", "profiles.q.view", "mcpServers.s.disabled"} {
		file := writeSettings(t, text)
		value := config.Value("true")
		switch path {
		case "http.addr":
			value = config.Value("h:1")
		case "profiles.q.view":
			value = config.Value("flat")
		}
		if err := config.Edit(t.Context(), file, config.Setting(path, value)); err != nil {
			t.Errorf("%s: %v", path, err)
		}
	}
	file := writeSettings(t, text)
	if err := config.Edit(t.Context(), file, config.Setting("mcpServers.s.disabled", config.Value("true"))); err != nil {
		t.Fatal(err)
	}
	if c := mustLoad(t, config.Options{Home: t.TempDir(), Files: []string{file}}); string(c.Servers[0].Raw) != `{"command":"x","disabled":true}` {
		t.Errorf("a server under another name of the section became %s", c.Servers[0].Raw)
	}
	bare := writeSettings(t, `{"a": {"command": "x"}}`)
	if err := config.Edit(t.Context(), bare, config.Setting("http.addr", config.Value("h:1"))); err == nil || !strings.Contains(err.Error(), `under "mcpServers" first`) {
		t.Errorf("beside servers at the top: %v", err)
	}
}

func TestUnset(t *testing.T) {
	t.Parallel()
	file := writeSettings(t, "{\n  // mine\n  \"http\": {\n    \"addr\": \"h:1\", // here\n    \"adr\": 2\n  },\n  \"mcpServers\": {\"a\": {\"command\": \"x\", \"cwd\": \"y\"}}\n}\n")
	for _, tc := range []struct {
		path  string
		found bool
	}{{"http.adr", true}, {"mcpServers.a.cwd", true}, {"http.noAuth", false}, {"cache", false}} {
		if found, err := unset(t, file, tc.path); err != nil || found != tc.found {
			t.Errorf("%s: %v, %v", tc.path, found, err)
		}
	}
	want := "{\n  // mine\n  \"http\": {\n    \"addr\": \"h:1\" // here\n  },\n  \"mcpServers\": {\"a\": {\"command\": \"x\"}}\n}\n"
	if diff := cmp.Diff(want, readText(t, file)); diff != "" {
		t.Errorf("text (-want +got):\n%s", diff)
	}
	for _, path := range []string{"nope", "http.nope", "mcpServers.b"} {
		if _, err := unset(t, file, path); !errors.Is(err, config.ErrNoSetting) {
			t.Errorf("%s: %v", path, err)
		}
	}
	missing := filepath.Join(t.TempDir(), "collie.json")
	if found, err := unset(t, missing, "http.addr"); found || err != nil {
		t.Errorf("no file: %v, %v", found, err)
	}
	if _, err := os.Stat(missing); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a file was made: %v", err)
	}
}

func TestSwitchAndRename(t *testing.T) {
	t.Parallel()
	const text = `// my servers
{
  "mcpServers": {
    "one": { "command": "x" }, // the first
    "二": {
      "command": "y", // 注释
      "disabled": true, // too slow
    },
    "three": {"url": "u", "enabled": false},
  },
}
`
	all := []string{"one", "二", "three"}
	const on = `    "one": { "command": "x" }, // the first
    "二": {
      "command": "y", // 注释
      "disabled": false, // too slow
    },
    "three": {"url": "u", "enabled": true},
`
	const off = `    "one": { "command": "x", "disabled": true }, // the first
    "二": {
      "command": "y", // 注释
      "disabled": true, // too slow
    },
    "three": {"url": "u", "enabled": false},
`
	frame := func(s string) string { return "// my servers\n{\n  \"mcpServers\": {\n" + s + "  },\n}\n" }
	file := writeSettings(t, text)
	for _, tc := range []struct {
		name   string
		change func([]byte) ([]byte, error)
		want   string
	}{
		{"on", config.Switch(true, all...), frame(on)},
		{"on again", config.Switch(true, all...), frame(on)},
		{"off", config.Switch(false, all...), frame(off)},
		{"rename", config.Rename("二", "two"), frame(strings.Replace(off, "二", "two", 1))},
	} {
		if err := config.Edit(t.Context(), file, tc.change); err != nil {
			t.Fatalf("%s: %v", tc.name, err)
		}
		if diff := cmp.Diff(tc.want, readText(t, file)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tc.name, diff)
		}
	}
	before := readText(t, file)
	for name, change := range map[string]func([]byte) ([]byte, error){
		"switch what is not there": config.Switch(true, "one", "nobody"),
		"rename what is not there": config.Rename("nobody", "x"),
		"rename to a taken name":   config.Rename("one", "two"),
	} {
		if err := config.Edit(t.Context(), file, change); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	if readText(t, file) != before {
		t.Error("a change that failed was written")
	}
}

func TestAnswer(t *testing.T) {
	t.Parallel()
	c, err := load(t, writeSettings(t, `{
		"servers": {"s": {"command": "x"}},
		"inputs": [{"id": "plain", "default": "d"}, {"id": "key", "type": "promptString", "password": true, "description": "钥匙"},
			{"id": "region", "type": "pickString", "options": ["eu", {"label": "US", "value": "us"}]}]
	}`))
	if err != nil {
		t.Fatal(err)
	}
	s := c.Servers[0]
	var asked []config.Input
	ask := func(in config.Input) (string, bool) {
		asked = append(asked, in)
		return "said " + in.ID, in.ID != "mute"
	}
	for id, want := range map[string]string{"plain": "d", "key": "said key", "region": "said region", "undeclared": "said undeclared"} {
		if got, ok := s.Answer(id, ask); got != want || !ok {
			t.Errorf("%s is %q, %v", id, got, ok)
		}
	}
	if _, ok := s.Answer("mute", ask); ok {
		t.Error("nothing was said, and it counts")
	}
	if _, ok := s.Answer("key", nil); ok {
		t.Error("nobody can be asked, and there is an answer")
	}
	for _, in := range asked {
		if in.ID == "region" && !cmp.Equal(in.Options, []string{"eu", "us"}) || in.ID == "key" && !in.Password || in.ID == "undeclared" && !in.Password {
			t.Errorf("asked for %+v", in)
		}
	}
}

func TestAnalyticsAndTelemetry(t *testing.T) {
	t.Parallel()
	c := mustLoad(t, config.Options{Home: t.TempDir()})
	if c.Analytics != (config.Analytics{Enabled: true}) || c.Telemetry != (config.Telemetry{IntervalHours: 24}) {
		t.Errorf("defaults %+v, %+v", c.Analytics, c.Telemetry)
	}
	file := writeSettings(t, `{"analytics": {"enabled": false, "captureText": true},
		"telemetry": {"enabled": true, "endpoint": "https://me:geheim@h/in?key=geheim2", "intervalHours": 500}}`)
	c, err := load(t, file)
	if err != nil {
		t.Fatal(err)
	}
	if want := (config.Telemetry{Enabled: true, Endpoint: "https://me:geheim@h/in?key=geheim2", IntervalHours: 168}); c.Telemetry != want {
		t.Errorf("telemetry %+v", c.Telemetry)
	}
	if c.Analytics != (config.Analytics{CaptureText: true}) {
		t.Errorf("analytics %+v", c.Analytics)
	}
	if len(c.Warnings) != 1 || !strings.Contains(c.Warnings[0].String(), "500 is not from 1 to 168; 168 is used") {
		t.Errorf("warnings %v", c.Warnings)
	}
	if strings.Contains(string(c.JSON()), "geheim") {
		t.Errorf("settings read %s", c.JSON())
	}
	other, err := load(t, writeSettings(t, strings.Replace(readText(t, file), "geheim2", "geheim3", 1)))
	if err != nil {
		t.Fatal(err)
	}
	if other.Digest() == c.Digest() {
		t.Error("another key in a URL is the same setting")
	}
	for text, want := range map[string]string{
		`{"endpoint": "ftp://h/geheim"}`: `telemetry.endpoint: expected an http or https URL such as "https://`,
		`{"endpoint": "h/geheim"}`:       `telemetry.endpoint: expected an http or https URL`,
		`{"endpoint": 1}`:                `telemetry.endpoint: expected a string`,
		`{"intervalHours": "1h"}`:        `telemetry.intervalHours: expected a whole number from 1 to 168`,
		`{"intervalHours": 1.5}`:         `telemetry.intervalHours: expected a whole number from 1 to 168`,
		`{"enabled": 1}`:                 `telemetry.enabled: expected true or false`,
	} {
		_, err := load(t, writeSettings(t, `{"telemetry": `+text+`}`))
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "geheim") {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
}

// unset removes a setting from a file.
func unset(t *testing.T, file, path string) (found bool, err error) {
	t.Helper()
	err = config.Edit(t.Context(), file, config.Unsetting(path, &found))
	return found, err
}

// A URL to which notifications may not be sent is refused with the reason, but without quoting the URL.
func TestNotify(t *testing.T) {
	t.Parallel()
	c, err := load(t, writeSettings(t, `{"guard":{"notify":{"desktop":true,"url":"https://h.example.org/${secret:topic}?x=geheim","headers":{"A":"geheim","B":"${secret:b}"},"format":"text"}}}`))
	if err != nil {
		t.Fatal(err)
	}
	if n := c.Guard.Notify; !n.Desktop || n.URL != "https://h.example.org/${secret:topic}?x=geheim" || n.Format != "text" || n.Headers["A"] != "geheim" {
		t.Errorf("%+v", n)
	}
	if shown := string(c.JSON()); strings.Contains(shown, "geheim") || !strings.Contains(shown, "${secret:b}") {
		t.Error(shown)
	}
	for _, good := range []string{"http://127.0.0.1:80/x", "http://[::1]/", "http://192.168.1.2", "http://nas.local/x", "http://nas/x", "https://8.8.8.8/"} {
		if err := config.CheckNotifyURL(good); err != nil {
			t.Errorf("%s: %v", good, err)
		}
	}
	for bad, want := range map[string]string{
		"http://geheim.example.org/": "use https", "http://8.8.8.8/geheim": "use https", "http://127.0.0.1.geheim.org/": "use https",
		"https://geheim:x@h/": "guard.notify.headers", "https://h/#geheim": "behind #", "ftp://geheim/": "expected an https URL",
		"geheim": "expected an https URL", "https:///geheim": "expected an https URL", "https://:80/geheim": "expected an https URL",
	} {
		_, err := load(t, writeSettings(t, `{"guard":{"notify":{"url":"`+bad+`"}}}`))
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "geheim") {
			t.Errorf("%s: %v, want %q", bad, err, want)
		}
	}
	for _, bad := range []string{`{"url":7}`, `{"headers":[]}`, `{"format":"xml"}`, `{"headers":{"A":"x\ny"}}`, `{"to":"me"}`} {
		if c, err := load(t, writeSettings(t, `{"guard":{"notify":`+bad+`}}`)); err == nil && len(c.Warnings) == 0 {
			t.Errorf("%s is taken", bad)
		}
	}
}
