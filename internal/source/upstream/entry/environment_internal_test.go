package entry

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// parentEnv is the environment of the gateway in these tests.
var parentEnv = []string{
	"HOME=/u", "PATH=/usr/bin", "LANG=de", "LC_ALL=C", "XDG_RUNTIME_DIR=/run", "https_proxy=http://p",
	"EDITOR=vi", "GITHUB_TOKEN=t", "my_api_key=k", "AWS_REGION=r", "COLLIE_HOME=/c", "SIYUAN_TOKEN=s",
	"BASH_FUNC_x%%=() { :; }", "SHELL=() bad", "=C:=C:\\x", "GH_HOST=h",
}

// A server gets the variables that inheritEnv selects, changed by its own env. Each case is compared with the
// minimal selection: missing lists what it lacks of that, extra what it has beyond.
func TestEnvironment(t *testing.T) {
	t.Parallel()
	base := []string{"HOME=/u", "LANG=de", "LC_ALL=C", "PATH=/usr/bin", "XDG_RUNTIME_DIR=/run", "https_proxy=http://p"}
	for name, tc := range map[string]struct {
		entry   Entry
		deny    []string
		missing []string // of base
		extra   []string
	}{
		"minimal":            {entry: Entry{InheritEnv: inherit{Mode: "minimal"}}},
		"env adds":           {entry: Entry{InheritEnv: inherit{Mode: "minimal"}, Env: map[string]Value{"A": maskedValue("1"), "COLLIE_HOME": maskedValue("/x")}}, extra: []string{"A=1", "COLLIE_HOME=/x"}},
		"env replaces":       {entry: Entry{InheritEnv: inherit{Mode: "minimal"}, Env: map[string]Value{"LANG": maskedValue("en")}}, missing: []string{"LANG=de"}, extra: []string{"LANG=en"}},
		"null removes":       {entry: Entry{InheritEnv: inherit{Mode: "minimal"}, Unset: []string{"LANG"}}, missing: []string{"LANG=de"}},
		"all but the denied": {entry: Entry{InheritEnv: inherit{Mode: "all"}}, extra: []string{"EDITOR=vi", "GH_HOST=h"}},
		"all, own rules":     {entry: Entry{InheritEnv: inherit{Mode: "all"}}, deny: []string{"GH_*", "COLLIE_*", "SIYUAN_TOKEN", "gith*", "AWS_*"}, extra: []string{"EDITOR=vi", "my_api_key=k"}},
		"none":               {entry: Entry{InheritEnv: inherit{Mode: "none"}, Env: map[string]Value{"A": maskedValue("1")}}, missing: base, extra: []string{"A=1"}},
		"a list":             {entry: Entry{InheritEnv: inherit{Mode: "minimal", Names: []string{"EDITOR", "GH_*", "MISSING"}}}, extra: []string{"EDITOR=vi", "GH_HOST=h"}},
		"a list names it":    {entry: Entry{InheritEnv: inherit{Mode: "minimal", Names: []string{"GITHUB_TOKEN", "AWS_*"}}}, extra: []string{"GITHUB_TOKEN=t", "AWS_REGION=r"}},
		"a star names none":  {entry: Entry{InheritEnv: inherit{Mode: "minimal", Names: []string{"*"}}}, extra: []string{"EDITOR=vi", "GH_HOST=h"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := Environment(tc.entry, parentEnv, EnvironmentOptions{
				Deny: tc.deny, IsDir: func(string) bool { return false }, goos: "linux",
			})
			want := map[string]bool{}
			for _, v := range append(append([]string{}, base...), tc.extra...) {
				want[v] = true
			}
			for _, v := range tc.missing {
				delete(want, v)
			}
			have := map[string]bool{}
			for _, v := range got {
				have[v] = true
			}
			if diff := cmp.Diff(want, have); diff != "" {
				t.Errorf("environment (-want +got):\n%s", diff)
			}
		})
	}
}

// On Windows names of variables are compared without case, and other variables are inherited.
func TestEnvironmentOnWindows(t *testing.T) {
	t.Parallel()
	e := Entry{InheritEnv: inherit{Mode: "minimal"}, Env: map[string]Value{"path": maskedValue(`C:\own`)}}
	got := Environment(e, []string{`Path=C:\sys`, `SystemRoot=C:\W`, "ProgramFiles(x86)=C:\\P", "HOME=x", "EDITOR=e"}, EnvironmentOptions{
		IsDir: func(string) bool { return false }, goos: "windows",
	})
	if diff := cmp.Diff([]string{`Path=C:\own`, "ProgramFiles(x86)=C:\\P", `SystemRoot=C:\W`}, got); diff != "" {
		t.Errorf("environment (-want +got):\n%s", diff)
	}
}

// An inherited PATH is extended by the folders of package managers that exist in the home folder.
func TestPathIsExtended(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	for _, dir := range []string{".local/bin", ".cargo", ".volta/bin", ".nvm/alias", ".nvm/versions/node/v9.1.0/bin", ".nvm/versions/node/v22.9.0/bin", ".nvm/versions/node/v22.10.1/bin"} {
		if err := os.MkdirAll(filepath.Join(home, filepath.FromSlash(dir)), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(home, ".nvm/alias/default"), []byte("22\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	parent := []string{"HOME=" + home, "PATH=" + strings.Join([]string{"/usr/bin", "/usr/local/bin"}, string(filepath.ListSeparator))}
	path := func(e Entry) []string {
		for _, v := range Environment(e, parent, EnvironmentOptions{goos: "linux"}) {
			if list, ok := strings.CutPrefix(v, "PATH="); ok {
				return strings.Split(list, string(filepath.ListSeparator))
			}
		}
		return nil
	}
	want := []string{
		"/usr/bin", "/usr/local/bin", filepath.Join(home, ".local/bin"),
		filepath.Join(home, ".nvm/versions/node/v22.10.1/bin"), filepath.Join(home, ".volta/bin"),
	}
	got := path(Entry{InheritEnv: inherit{Mode: "minimal"}})
	if diff := cmp.Diff(want, got[:min(len(want), len(got))]); diff != "" {
		t.Errorf("PATH (-want +got):\n%s", diff)
	}
	if got := path(Entry{InheritEnv: inherit{Mode: "minimal"}, Env: map[string]Value{"PATH": maskedValue("/mine")}}); !cmp.Equal(got, []string{"/mine"}) {
		t.Errorf("a PATH of its own becomes %v", got)
	}
	if got := path(Entry{InheritEnv: inherit{Mode: "none"}}); got != nil {
		t.Errorf("none has PATH %v", got)
	}
}
