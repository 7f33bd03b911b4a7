package hosts_test

import (
	"errors"
	"flag"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"collie/internal/config"
	"collie/internal/source/upstream/hosts"
	"collie/internal/tool"
)

var update = flag.Bool("update", false, "rewrite the expected files in testdata")

// collie is the server that connect writes into a client's file.
var collie = hosts.Server{Name: "collie", Command: "/usr/local/bin/collie", Args: []string{"stdio"}}

// preparePlan calls Prepare with the JSON editor that the program uses.
func preparePlan(t *testing.T, h hosts.Host, file string, force bool) (hosts.Plan, error) {
	t.Helper()
	return hosts.Prepare(h, file, collie, config.SetInText, force)
}

// connectClient connects a client: it writes collie into file.
func connectClient(t *testing.T, h hosts.Host, file string, force bool) {
	t.Helper()
	p, err := preparePlan(t, h, file, force)
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Apply(); err != nil {
		t.Fatal(err)
	}
}

// readFile returns the text of a file.
func readFile(t *testing.T, file string) string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// writeNewFile writes text to a new file and returns its path.
func writeNewFile(t *testing.T, text string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "servers.json")
	if err := os.WriteFile(file, []byte(text), 0o640); err != nil {
		t.Fatal(err)
	}
	return file
}

// hostNamed returns the host with this name.
func hostNamed(t *testing.T, name string) hosts.Host {
	t.Helper()
	h, err := hosts.Find(name)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// Each host has a sample of its file; the file after connect is compared byte for byte.
func TestSamples(t *testing.T) {
	t.Parallel()
	for _, h := range hosts.Clients() {
		t.Run(h.Name, func(t *testing.T) {
			t.Parallel()
			ext := ".json"
			if h.Name == "codex" {
				ext = ".toml"
			}
			sample := filepath.Join("testdata", h.Name, "before"+ext)
			if _, err := os.Stat(sample); err != nil {
				t.Fatalf("write a file of %s with a server of its own to %s; -update makes what connect makes of it: %v", h.Title, sample, err)
			}
			before := readFile(t, sample)
			file := writeNewFile(t, before)
			connectClient(t, h, file, false)
			golden := filepath.Join("testdata", h.Name, "after"+ext)
			if *update {
				if err := os.WriteFile(golden, []byte(readFile(t, file)), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			if diff := cmp.Diff(readFile(t, golden), readFile(t, file)); diff != "" {
				t.Errorf("text (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(before, readFile(t, file+".bak")); diff != "" {
				t.Errorf("backup (-want +got):\n%s", diff)
			}
			if info, err := os.Stat(file); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o640 {
				t.Errorf("mode is %v, %v", info.Mode(), err)
			}
			again, err := preparePlan(t, h, file, false)
			if err != nil || again.Changed() {
				t.Errorf("a second time changes something (%v): %v", err, again)
			}
		})
	}
}

const (
	vscodeLinux   = "/u/.config/Code/User/globalStorage/"
	vscodeDarwin  = "/u/Library/Application Support/Code/User/globalStorage/"
	vscodeWindows = "/w/AppData/Roaming/Code/User/globalStorage/"
)

// TestFiles says for each client where its file is on each system, also if variables move it.
func TestFiles(t *testing.T) {
	t.Parallel()
	vars := map[string]string{"HOME": "/u", "USERPROFILE": "/w", "APPDATA": "/w/AppData/Roaming"}
	env := func(n string) (string, bool) { v, ok := vars[n]; return v, ok }
	seen := map[string]bool{}
	for _, tc := range []struct{ host, linux, darwin, windows string }{
		{"claude-desktop", "/u/.config/Claude/claude_desktop_config.json", "/u/Library/Application Support/Claude/claude_desktop_config.json", "/w/AppData/Roaming/Claude/claude_desktop_config.json"},
		{"claude-code", "/u/.claude.json", "/u/.claude.json", "/w/.claude.json"},
		{"cursor", "/u/.cursor/mcp.json", "/u/.cursor/mcp.json", "/w/.cursor/mcp.json"},
		{"cline", vscodeLinux + "saoudrizwan.claude-dev/settings/cline_mcp_settings.json", vscodeDarwin + "saoudrizwan.claude-dev/settings/cline_mcp_settings.json", vscodeWindows + "saoudrizwan.claude-dev/settings/cline_mcp_settings.json"},
		{"roo", vscodeLinux + "rooveterinaryinc.roo-cline/settings/mcp_settings.json", vscodeDarwin + "rooveterinaryinc.roo-cline/settings/mcp_settings.json", vscodeWindows + "rooveterinaryinc.roo-cline/settings/mcp_settings.json"},
		{"kilo", vscodeLinux + "kilocode.kilo-code/settings/mcp_settings.json", vscodeDarwin + "kilocode.kilo-code/settings/mcp_settings.json", vscodeWindows + "kilocode.kilo-code/settings/mcp_settings.json"},
		{"windsurf", "/u/.codeium/windsurf/mcp_config.json", "/u/.codeium/windsurf/mcp_config.json", "/w/.codeium/windsurf/mcp_config.json"},
		{"gemini", "/u/.gemini/settings.json", "/u/.gemini/settings.json", "/w/.gemini/settings.json"},
		{"zed", "/u/.config/zed/settings.json", "/u/.config/zed/settings.json", "/w/AppData/Roaming/Zed/settings.json"},
		{"codex", "/u/.codex/config.toml", "/u/.codex/config.toml", "/w/.codex/config.toml"},
		{"opencode", "/u/.config/opencode/opencode.json", "/u/.config/opencode/opencode.json", "/w/.config/opencode/opencode.json"},
		{"vscode", "/u/.config/Code/User/mcp.json", "/u/Library/Application Support/Code/User/mcp.json", "/w/AppData/Roaming/Code/User/mcp.json"},
	} {
		seen[tc.host] = true
		for system, want := range map[string]string{"linux": tc.linux, "darwin": tc.darwin, "windows": tc.windows} {
			got, err := hostNamed(t, tc.host).File(hosts.System{OS: system, Env: env})
			if err != nil || filepath.ToSlash(got) != want {
				t.Errorf("%s on %s is at %s, %v; want %s", tc.host, system, got, err, want)
			}
		}
		if _, err := hostNamed(t, tc.host).File(hosts.System{OS: "linux"}); tool.KindOf(err) != tool.Invalid {
			t.Errorf("%s without a home: %v", tc.host, err)
		}
	}
	for _, h := range hosts.Clients() {
		if !seen[h.Name] {
			t.Errorf("%s: say here where its file is on each system", h.Name)
		}
	}
	moved := func(n string) (string, bool) {
		v, ok := map[string]string{"HOME": "/u", "CLAUDE_CONFIG_DIR": "/c", "CODEX_HOME": "/d", "XDG_CONFIG_HOME": "/x"}[n]
		return v, ok
	}
	for name, want := range map[string]string{"claude-code": "/c/.claude.json", "vscode": "/x/Code/User/mcp.json", "codex": "/d/config.toml", "zed": "/x/zed/settings.json"} {
		if got, err := hostNamed(t, name).File(hosts.System{OS: "linux", Env: moved}); err != nil || filepath.ToSlash(got) != want {
			t.Errorf("%s moved is at %s, %v; want %s", name, got, err, want)
		}
	}
}

// An unknown host is an error whose hint lists all hosts.
func TestFind(t *testing.T) {
	t.Parallel()
	_, err := hosts.Find("emacs")
	var names []string
	for _, h := range hosts.All() {
		names = append(names, h.Name)
	}
	if !slices.IsSorted(names) {
		t.Errorf("hosts are not in alphabetical order: %v", names)
	}
	e, ok := errors.AsType[*tool.Error](err)
	if !ok {
		t.Fatalf("got %v", err)
	}
	if want := "known are " + strings.Join(names, ", "); e.Hint != want {
		t.Errorf("the hint is %q, want %q", e.Hint, want)
	}
}

// A missing file is created without a backup; an empty one is filled.
func TestMissingAndEmptyFiles(t *testing.T) {
	t.Parallel()
	const want = "{\n  \"mcpServers\": {\n    \"collie\": {\n      \"command\": \"/usr/local/bin/collie\",\n      \"args\": [\"stdio\"]\n    }\n  }\n}\n"
	missing := filepath.Join(t.TempDir(), "new", "mcp.json")
	connectClient(t, hostNamed(t, "cursor"), missing, false)
	if got := readFile(t, missing); got != want {
		t.Errorf("got %q", got)
	}
	if info, err := os.Stat(missing); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
		t.Errorf("mode is %v, %v", info.Mode(), err)
	}
	if _, err := os.Stat(missing + ".bak"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a backup of nothing: %v", err)
	}
	empty := writeNewFile(t, "")
	connectClient(t, hostNamed(t, "cursor"), empty, false)
	if got := readFile(t, empty); got != want {
		t.Errorf("got %q", got)
	}
}

// An entry that runs another program is replaced only by force. An entry that already runs Collie stays as it is.
func TestAnotherEntryOfThatName(t *testing.T) {
	t.Parallel()
	const text = `{"mcpServers": {"collie": {"command": "rough-collie"}, "b": {}}}`
	file := writeNewFile(t, text)
	if _, err := preparePlan(t, hostNamed(t, "cursor"), file, false); tool.KindOf(err) != tool.Invalid || !strings.Contains(err.Error(), `another server named "collie"`) {
		t.Errorf("got %v", err)
	}
	if readFile(t, file) != text {
		t.Error("the file changed")
	}
	connectClient(t, hostNamed(t, "cursor"), file, true)
	if want := `{"mcpServers": {"collie": {"command":"/usr/local/bin/collie","args":["stdio"]}, "b": {}}}`; !strings.Contains(readFile(t, file), "/usr/local/bin/collie") {
		t.Errorf("got %s, want %s", readFile(t, file), want)
	}
	// What its owner added to our entry stays.
	own := writeNewFile(t, "\xef\xbb\xbf{\"mcpServers\": {\"collie\": {\"args\": [\"stdio\"], /* mine */ \"command\": \"/usr/local/bin/collie\", \"env\": {}}}} // end")
	if p, err := preparePlan(t, hostNamed(t, "cursor"), own, false); err != nil || p.Changed() {
		t.Errorf("our own entry: %v, %v", p, err)
	}
}

// Connecting again with another profile, or another token, changes nothing else of our entry. Where it cannot be done so, what its
// owner added is not dropped unasked.
func TestOwnEntryKeepsWhatWasAdded(t *testing.T) {
	t.Parallel()
	stdio := hosts.Server{Name: "collie", Command: "/c/collie", Args: []string{"stdio", "--profile", "p"}}
	far := hosts.Server{Name: "collie", URL: "http://127.0.0.1:7420/mcp", Token: "collie_new"}
	variable := far
	variable.Token, variable.TokenEnv = "", "COLLIE_TOKEN"
	for _, tt := range []struct {
		what, host   string
		server       hosts.Server
		before, want string // without want it is refused
	}{
		{
			"a profile", "cursor", stdio,
			`{"mcpServers": {"collie": {"command": "/c/collie", "args": ["stdio"], /* mine */ "env": {"COLLIE_HOME": "/w"}, "mystery": 1}}} // end`,
			`{"mcpServers": {"collie": {"command": "/c/collie", "args": ["stdio","--profile","p"], /* mine */ "env": {"COLLIE_HOME": "/w"}, "mystery": 1}}} // end`,
		},
		{
			"a profile, switched off", "opencode", stdio,
			`{"mcp": {"collie": {"type": "local", "command": ["/c/collie", "stdio", "--profile", "q"], "enabled": false}}}`,
			`{"mcp": {"collie": {"type": "local", "command": ["/c/collie","stdio","--profile","p"], "enabled": false}}}`,
		},
		{
			"a token", "cursor", far,
			`{"mcpServers": {"collie": {"url": "http://127.0.0.1:7420/mcp", "headers": {"X": "1", "Authorization": "Bearer collie_old"}, "mystery": 1}}}`,
			`{"mcpServers": {"collie": {"url": "http://127.0.0.1:7420/mcp", "headers": {"X": "1", "Authorization": "Bearer collie_new"}, "mystery": 1}}}`,
		},
		{
			"HTTP in place of a command, with more", "cursor", far,
			`{"mcpServers": {"collie": {"command": "/c/collie", "args": ["stdio"], "mystery": 1}}}`, "",
		},
		{
			"a profile, in TOML", "codex", stdio,
			"[mcp_servers.collie] # c\ncommand = \"/c/collie\"\nargs = [\"stdio\"] # mine\n# long\ntool_timeout_sec = 600\n\n[mcp_servers.collie.env]\nA = \"1\"\n\n[other]\nk = 1\n",
			"[mcp_servers.collie] # c\ncommand = \"/c/collie\"\nargs = [\"stdio\", \"--profile\", \"p\"] # mine\n# long\ntool_timeout_sec = 600\n\n[mcp_servers.collie.env]\nA = \"1\"\n\n[other]\nk = 1\n",
		},
		{
			"a profile, on several lines", "codex", stdio,
			"[mcp_servers.collie]\nargs = [\n  \"stdio\", # c\n]\ncommand = \"/c/collie\"\nenabled = false\n",
			"[mcp_servers.collie]\nargs = [\"stdio\", \"--profile\", \"p\"]\ncommand = \"/c/collie\"\nenabled = false\n",
		},
		{
			"a variable in place of a token, in TOML", "codex", variable,
			"[mcp_servers.collie]\nurl = \"http://127.0.0.1:7420/mcp\"\nenabled = false\n\n[mcp_servers.collie.http_headers]\nAuthorization = \"Bearer collie_old\"\n", "",
		},
	} {
		t.Run(tt.what, func(t *testing.T) {
			t.Parallel()
			h := hostNamed(t, tt.host)
			file := writeNewFile(t, tt.before)
			plan, err := hosts.Prepare(h, file, tt.server, config.SetInText, false)
			if tt.want == "" {
				if tool.KindOf(err) != tool.Invalid || !strings.Contains(err.Error(), "more than Collie writes") {
					t.Fatalf("%s, %v", plan.Text(), err)
				}
				_, err = hosts.Prepare(h, file, tt.server, config.SetInText, true)
				if err != nil {
					t.Errorf("with --force: %v", err)
				}
				return
			}
			if err != nil || string(plan.Text()) != tt.want {
				t.Errorf("%v\n%s\nwant\n%s", err, plan.Text(), tt.want)
			}
		})
	}
}

// A file that cannot be parsed is an error, even with force, and is not changed.
func TestBrokenFilesAreLeftAlone(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"{", `{"mcpServers": []}`, `[]`, strings.Repeat("[", 100_000)} {
		file := writeNewFile(t, text)
		if _, err := preparePlan(t, hostNamed(t, "cursor"), file, true); tool.KindOf(err) != tool.Invalid {
			t.Errorf("%.20q: %v", text, err)
		}
		if readFile(t, file) != text {
			t.Errorf("%.20q changed", text)
		}
	}
	if _, err := preparePlan(t, hostNamed(t, "cursor"), t.TempDir(), true); err == nil {
		t.Error("a folder as file: no error")
	}
}

// A file that has changed since its plan was made is not written.
func TestChangedSincePrepare(t *testing.T) {
	t.Parallel()
	file := writeNewFile(t, "{}")
	p, err := preparePlan(t, hostNamed(t, "cursor"), file, false)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(`{"new": 1}`), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := p.Apply(); tool.KindOf(err) != tool.Busy || readFile(t, file) != `{"new": 1}` {
		t.Errorf("got %v and %s", err, readFile(t, file))
	}
}

// A symbolic link stays; the file that it points to is written.
func TestLinkIsFollowed(t *testing.T) {
	t.Parallel()
	file := writeNewFile(t, "{}")
	link := filepath.Join(t.TempDir(), "link.json")
	if err := os.Symlink(file, link); err != nil {
		t.Skip("no symbolic links here")
	}
	connectClient(t, hostNamed(t, "vscode"), link, false)
	if info, err := os.Lstat(link); err != nil || info.Mode()&os.ModeSymlink == 0 || !strings.Contains(readFile(t, file), "stdio") {
		t.Errorf("the link is now %v, %v", info.Mode(), err)
	}
}

// A plan prints only the change, since the rest of the file may hold secrets.
func TestPlanShowsTheChangeOnly(t *testing.T) {
	t.Parallel()
	file := writeNewFile(t, `{"token": "do-not-show"}`)
	p, err := preparePlan(t, hostNamed(t, "vscode"), file, false)
	if err != nil {
		t.Fatal(err)
	}
	want := "would update " + p.File + `
  {
    "servers": {
      "collie": {
        "type": "stdio",
        "command": "/usr/local/bin/collie",
        "args": [
          "stdio"
        ]
      }
    }
  }
`
	if diff := cmp.Diff(want, p.Describe(false)); diff != "" {
		t.Errorf("plan (-want +got):\n%s", diff)
	}
	if readFile(t, file) != `{"token": "do-not-show"}` {
		t.Error("showing a plan changed the file")
	}
}
