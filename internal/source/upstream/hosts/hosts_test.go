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
	return hosts.Prepare(h, file, collie, config.SetMember, force)
}

// apply connects a client: it writes collie into file.
func apply(t *testing.T, h hosts.Host, file string, force bool) {
	t.Helper()
	p, err := preparePlan(t, h, file, force)
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Apply(); err != nil {
		t.Fatal(err)
	}
}

// read returns the text of a file.
func read(t *testing.T, file string) string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// put writes text to a new file and returns its path.
func put(t *testing.T, text string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "servers.json")
	if err := os.WriteFile(file, []byte(text), 0o640); err != nil {
		t.Fatal(err)
	}
	return file
}

// host returns the host with this name.
func host(t *testing.T, name string) hosts.Host {
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
			before := read(t, sample)
			file := put(t, before)
			apply(t, h, file, false)
			golden := filepath.Join("testdata", h.Name, "after"+ext)
			if *update {
				if err := os.WriteFile(golden, []byte(read(t, file)), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			if diff := cmp.Diff(read(t, golden), read(t, file)); diff != "" {
				t.Errorf("text (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(before, read(t, file+".bak")); diff != "" {
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
			got, err := host(t, tc.host).File(hosts.System{OS: system, Env: env})
			if err != nil || filepath.ToSlash(got) != want {
				t.Errorf("%s on %s is at %s, %v; want %s", tc.host, system, got, err, want)
			}
		}
		if _, err := host(t, tc.host).File(hosts.System{OS: "linux"}); tool.KindOf(err) != tool.Invalid {
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
		if got, err := host(t, name).File(hosts.System{OS: "linux", Env: moved}); err != nil || filepath.ToSlash(got) != want {
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
	apply(t, host(t, "cursor"), missing, false)
	if got := read(t, missing); got != want {
		t.Errorf("got %q", got)
	}
	if info, err := os.Stat(missing); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
		t.Errorf("mode is %v, %v", info.Mode(), err)
	}
	if _, err := os.Stat(missing + ".bak"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a backup of nothing: %v", err)
	}
	empty := put(t, "")
	apply(t, host(t, "cursor"), empty, false)
	if got := read(t, empty); got != want {
		t.Errorf("got %q", got)
	}
}

// An entry that runs another program is replaced only by force. An entry that already runs Collie stays as it is.
func TestAnotherEntryOfThatName(t *testing.T) {
	t.Parallel()
	const text = `{"mcpServers": {"collie": {"command": "rough-collie"}, "b": {}}}`
	file := put(t, text)
	if _, err := preparePlan(t, host(t, "cursor"), file, false); tool.KindOf(err) != tool.Invalid || !strings.Contains(err.Error(), `another server named "collie"`) {
		t.Errorf("got %v", err)
	}
	if read(t, file) != text {
		t.Error("the file changed")
	}
	apply(t, host(t, "cursor"), file, true)
	if want := `{"mcpServers": {"collie": {"command":"/usr/local/bin/collie","args":["stdio"]}, "b": {}}}`; !strings.Contains(read(t, file), "/usr/local/bin/collie") {
		t.Errorf("got %s, want %s", read(t, file), want)
	}
	// What its owner added to our entry stays.
	own := put(t, "\xef\xbb\xbf{\"mcpServers\": {\"collie\": {\"args\": [\"stdio\"], /* mine */ \"command\": \"/usr/local/bin/collie\", \"env\": {}}}} // end")
	if p, err := preparePlan(t, host(t, "cursor"), own, false); err != nil || p.Changed() {
		t.Errorf("our own entry: %v, %v", p, err)
	}
}

// A file that cannot be parsed is an error, even with force, and is not changed.
func TestBrokenFilesAreLeftAlone(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"{", `{"mcpServers": []}`, `[]`, strings.Repeat("[", 100_000)} {
		file := put(t, text)
		if _, err := preparePlan(t, host(t, "cursor"), file, true); tool.KindOf(err) != tool.Invalid {
			t.Errorf("%.20q: %v", text, err)
		}
		if read(t, file) != text {
			t.Errorf("%.20q changed", text)
		}
	}
	if _, err := preparePlan(t, host(t, "cursor"), t.TempDir(), true); err == nil {
		t.Error("a folder as file: no error")
	}
}

// A file that has changed since its plan was made is not written.
func TestChangedSincePrepare(t *testing.T) {
	t.Parallel()
	file := put(t, "{}")
	p, err := preparePlan(t, host(t, "cursor"), file, false)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(`{"new": 1}`), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := p.Apply(); tool.KindOf(err) != tool.Busy || read(t, file) != `{"new": 1}` {
		t.Errorf("got %v and %s", err, read(t, file))
	}
}

// A symbolic link stays; the file that it points to is written.
func TestLinkIsFollowed(t *testing.T) {
	t.Parallel()
	file := put(t, "{}")
	link := filepath.Join(t.TempDir(), "link.json")
	if err := os.Symlink(file, link); err != nil {
		t.Skip("no symbolic links here")
	}
	apply(t, host(t, "vscode"), link, false)
	if info, err := os.Lstat(link); err != nil || info.Mode()&os.ModeSymlink == 0 || !strings.Contains(read(t, file), "stdio") {
		t.Errorf("the link is now %v, %v", info.Mode(), err)
	}
}

// A plan prints only the change, since the rest of the file may hold secrets.
func TestPlanShowsTheChangeOnly(t *testing.T) {
	t.Parallel()
	file := put(t, `{"token": "do-not-show"}`)
	p, err := preparePlan(t, host(t, "vscode"), file, false)
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
	if read(t, file) != `{"token": "do-not-show"}` {
		t.Error("showing a plan changed the file")
	}
}
